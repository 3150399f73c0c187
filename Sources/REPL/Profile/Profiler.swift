import Application
import Files
import Glibc
import Lua
import Scripting
import Synchronization

/// Samples a host's scripts while an entry runs.
///
/// A thread interrupts the state every millisecond. At the next Lua instruction, or when the running native function
/// returns, the time since the last sample is added to the call stack: so a long native function has all of its time.
/// While tasks wait, the time is added to the call stack of the waiting entry.
final class Profiler {
    private static let interval: UInt32 = 1000
    /// Maximum number of innermost calls per sample.
    private static let depth = 100

    private let host: ScriptHost
    private var profile = Profile()
    private var last = MonotonicTime.now()
    /// The calls of the last sample, for the time left when a task ends.
    private var calls: [LuaActiveCall] = []
    /// The coroutine of the entry: the first one to run.
    private var thread: LuaThread?

    private let isEnded = Shared()

    /// Starts to sample a host's scripts; nil while another profiler does.
    init?(_ host: ScriptHost) {
        guard !host.hasCallObserver else { return nil }
        self.host = host
        let interrupter = host.state.interrupter
        host.observeCalls(
            sample: { [unowned self] in sample() },
            onSwitch: { [unowned self] thread, runs in if runs { begins(thread) } else { pauses() } })
        _ = WorkerThread { [isEnded] in
            while !isEnded.value.load(ordering: .relaxed) {
                usleep(Self.interval)
                interrupter.interrupt(.sample)
            }
        }
        last = .now()
    }

    deinit { if !isEnded.value.load(ordering: .relaxed) { _ = end() } }

    /// Stops sampling.
    ///
    /// - Returns: the profile.
    func end() -> Profile {
        isEnded.value.store(true, ordering: .relaxed)
        host.observeCalls(sample: nil, onSwitch: nil)
        return profile
    }

    private final class Shared: Sendable { let value = Atomic(false) }

    private func sample() {
        calls = host.state.activeCalls(limit: Self.depth)
        add(calls)
    }

    private func begins(_ new: LuaThread) {
        guard let thread else {
            thread = new
            last = .now()
            return
        }
        // Code of another task may run within a waiting call of this one.
        add(host.state.depth > 0 ? host.state.activeCalls(limit: Self.depth) : thread.activeCalls(limit: Self.depth))
    }

    private func pauses() { add(calls) }

    private func add(_ calls: [LuaActiveCall]) {
        let now = MonotonicTime.now()
        profile.add(now.seconds(since: last), in: calls)
        last = now
    }
}
