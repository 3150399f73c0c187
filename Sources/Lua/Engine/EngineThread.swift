internal import CPlatform
internal import Platform
internal import Synchronization

/// The executor of one engine: a thread of its own, with a stack for deeply nested scripts. The program's signals are for
/// its other threads.
///
/// The thread retains its executor until it ends, so jobs can be enqueued while the engine's last reference goes.
final class EngineThread: SerialExecutor {
    /// As for a program's first thread: Lua's nesting limits fit into a fraction of it, and untouched pages cost nothing.
    private static let stackSize = 8 << 20

    private let state = Mutex<(jobs: [UnownedJob], hasEnded: Bool)>(([], false))
    private let wake = Semaphore()

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
        wake.signal()
    }

    /// Ends the thread after the enqueued jobs. Nothing may be enqueued later.
    func end() {
        state.withLock { $0.hasEnded = true }
        wake.signal()
    }

    private func runJobs() {
        var hasEnded = false
        while true {
            if !hasEnded { wake.wait() }
            let jobs: [UnownedJob]
            (jobs, hasEnded) = state.withLock { state in
                defer { state.jobs = [] }
                return state
            }
            if hasEnded, jobs.isEmpty { return }
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
        }
    }
}
