import Application
import Files
import Glibc
import Lua
import Scripting
import Synchronization

/// Samples a host's scripts while an entry runs.
///
/// A thread interrupts the state every millisecond. At the next instruction of Lua, or at the return of the native function
/// that runs, the time since the look before is added to the calls that are active: so a long native function has all of
/// its time. While tasks wait, the time belongs to the calls of the entry that waits.
final class Profiler {
    private static let interval: UInt32 = 1000
    /// The most calls of a stack, the innermost.
    private static let depth = 100

    private let host: ScriptHost
    private var profile = Profile()
    private var last = MonotonicTime.now()
    /// The calls of the look before, for what is left when a task ends.
    private var calls: [LuaActiveCall] = []
    /// The coroutine of the entry: the first to run.
    private var thread: LuaThread?

    private let isEnded = Shared()

    /// Begins to look at a host's scripts; nil while another does.
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

    /// Ends it.
    ///
    /// - Returns: where the time went.
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
        // Code of another task may run within a call of this one that waits in its place.
        add(host.state.depth > 0 ? host.state.activeCalls(limit: Self.depth) : thread.activeCalls(limit: Self.depth))
    }

    private func pauses() { add(calls) }

    private func add(_ calls: [LuaActiveCall]) {
        let now = MonotonicTime.now()
        profile.add(now.seconds(since: last), in: calls)
        last = now
    }
}
