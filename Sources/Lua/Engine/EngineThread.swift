internal import Glibc
internal import Synchronization

/// The executor of one engine: a thread of its own, with a stack for deeply nested scripts.
///
/// The thread retains its executor until it ends, so jobs can be enqueued while the engine's last reference goes.
final class EngineThread: SerialExecutor {
    /// As for a program's first thread: Lua's nesting limits fit into a fraction of it, and untouched pages cost nothing.
    private static let stackSize = 8 << 20

    private let state = Mutex<(jobs: [UnownedJob], hasEnded: Bool)>(([], false))
    // A semaphore may be used by all threads at once. It is destroyed when no thread refers to this object any more.
    nonisolated(unsafe) private let wake: UnsafeMutablePointer<sem_t>

    init() throws(LuaError) {
        wake = .allocate(capacity: 1)
        sem_init(wake, 0, 0)
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, Self.stackSize)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // A new thread inherits its creator's mask: the program's signals are for its other threads. A blocked fault would
        // end the process without its handler.
        var others = sigset_t()
        var before = sigset_t()
        sigfillset(&others)
        for fault in [SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&others, fault) }
        pthread_sigmask(SIG_SETMASK, &others, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let retained = Unmanaged.passRetained(self)
        let result = pthread_create(
            &thread, &attributes,
            { argument in
                if let argument { Unmanaged<EngineThread>.fromOpaque(argument).takeRetainedValue().runJobs() }
                return nil
            }, retained.toOpaque())
        guard result == 0 else {
            retained.release()
            throw LuaError(.memory, "no thread can be created for a Lua engine (error \(result))")
        }
    }

    deinit {
        sem_destroy(wake)
        wake.deallocate()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        sem_post(wake)
    }

    /// Ends the thread after the enqueued jobs. Nothing may be enqueued later.
    func end() {
        state.withLock { $0.hasEnded = true }
        sem_post(wake)
    }

    private func runJobs() {
        var hasEnded = false
        while true {
            // An interrupted wait is repeated.
            while !hasEnded, sem_wait(wake) != 0 {}
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
