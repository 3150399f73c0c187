internal import CPlatform
internal import Platform
internal import Synchronization

/// The executor of one engine: a separate thread, with a stack for deeply nested scripts. Signals are left to the
/// program's other threads.
///
/// The thread retains its executor until it ends, so jobs can be enqueued during the engine's last release.
final class EngineThread: SerialExecutor {
    /// As for the main thread: Lua's nesting limits need a fraction of it, and untouched pages cost nothing.
    private static let stackSize = 8 << 20

    private struct State {
        var jobs: [UnownedJob] = []
        var hasEnded = false
        /// Waits with a deadline.
        var limited: [ObjectIdentifier: (end: MonotonicInstant, wait: RunWait)] = [:]
        /// At or before the first of these deadlines.
        var nextEnd: MonotonicInstant?

        mutating func takeDue(_ now: MonotonicInstant) -> [RunWait] {
            guard let nextEnd, nextEnd <= now else { return [] }
            let due = limited.filter { $0.value.end <= now }
            for key in due.keys { limited[key] = nil }
            self.nextEnd = limited.values.lazy.map(\.end).min()
            return due.values.map(\.wait)
        }
    }

    private let state = Mutex(State())
    private let wake = ThreadSignal()

    /// The threads blocked by a wait for the current Swift task: it must not wait for one of them in turn.
    @TaskLocal static var blocked: Set<ObjectIdentifier> = []

    init() throws(LuaError) {
        let retained = Unmanaged.passRetained(self)
        let result = cubby_thread_start(
            Self.stackSize,
            { argument in
                if let argument { Unmanaged<EngineThread>.fromOpaque(argument).takeRetainedValue().runJobs() }
                return nil
            }, retained.toOpaque(), nil)
        guard result == 0 else {
            retained.release()
            throw LuaError(.memory, "no thread can be created for a Lua engine (error \(-result))")
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        wake.set()
    }

    /// Ends the thread after the enqueued jobs. Nothing may be enqueued afterwards.
    func end() {
        state.withLock { $0.hasEnded = true }
        wake.set()
    }

    /// Sets a wait's deadline. Must be called on this thread.
    func limit(_ wait: RunWait, to end: MonotonicInstant) {
        state.withLock {
            $0.limited[ObjectIdentifier(wait)] = (end, wait)
            $0.nextEnd = min($0.nextEnd ?? end, end)
        }
    }

    func unlimit(_ wait: RunWait) { state.withLock { $0.limited[ObjectIdentifier(wait)] = nil } }

    private func runJobs() {
        while true {
            let (jobs, due, hasEnded, nextEnd) = state.withLock { state in
                defer { state.jobs = [] }
                let due = state.nextEnd == nil ? [] : state.takeDue(.now)
                return (state.jobs, due, state.hasEnded, state.nextEnd)
            }
            for wait in due { wait.end(nil) }
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
            guard jobs.isEmpty, due.isEmpty else { continue }
            if hasEnded { return }
            wake.wait(until: nextEnd)
        }
    }
}
