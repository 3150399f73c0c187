import Glibc
import Synchronization

/// A thread that does one piece of work and ends.
///
/// It takes no signals but those of its own faults: the others are for the thread that drives the life cycle. Not joining
/// it is fine; the process's end ends it, too.
package final class WorkerThread<Value: Sendable>: Sendable {
    private let state: Mutex<(value: Value?, thread: pthread_t?)> = Mutex((nil, nil))

    /// Starts the work on a thread of its own; on this one, when the system has no more threads.
    ///
    /// - Parameter work: what to do.
    package init(_ work: @escaping @Sendable () -> Value) {
        let job = Job { [self] in
            let value = work()
            state.withLock { $0.value = value }
        }
        var others = sigset_t()
        var before = sigset_t()
        sigfillset(&others)
        // The kernel ends a process whose thread blocks the signal of its own fault, without a look at any handler.
        for fault in [SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&others, fault) }
        // A new thread has the mask of the one that makes it.
        pthread_sigmask(SIG_SETMASK, &others, &before)
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Job>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(job).toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        if result == 0 {
            let started = thread
            state.withLock { $0.thread = started }
        } else {
            Unmanaged.passUnretained(job).release()
            job.run()
        }
    }

    deinit {
        if let thread = state.withLock({ $0.thread }) { pthread_detach(thread) }
    }

    /// What the work gave, once it has ended; waits for that.
    package func join() -> Value? {
        let thread = state.withLock { state in
            defer { state.thread = nil }
            return state.thread
        }
        if let thread { pthread_join(thread, nil) }
        return state.withLock { $0.value }
    }
}

/// The work, on its way to the thread.
private final class Job: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}
