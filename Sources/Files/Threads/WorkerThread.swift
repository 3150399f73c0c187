import CPlatform
import Glibc
import Synchronization

/// A thread for one function.
///
/// All signals except those of faults are blocked, since they belong to the thread that drives the life cycle. The
/// thread need not be joined; the end of the process ends it.
package final class WorkerThread<Value: Sendable>: Sendable {
    private let state: Mutex<(value: Value?, thread: pthread_t?)> = Mutex((nil, nil))

    /// Starts the function on a new thread, or runs it on this one when no thread can be created.
    ///
    /// - Parameter work: the function.
    package init(_ work: @escaping @Sendable () -> Value) {
        let job = ThreadJob { [self] in
            let value = work()
            state.withLock { $0.value = value }
        }
        var thread = pthread_t()
        let result = cubby_thread_start(
            0,
            { argument in
                if let argument { Unmanaged<ThreadJob>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(job).toOpaque(), &thread)
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

    /// Waits for the end and returns the result.
    package func join() -> Value? {
        let thread = state.withLock { state in
            defer { state.thread = nil }
            return state.thread
        }
        if let thread { pthread_join(thread, nil) }
        return state.withLock { $0.value }
    }
}

/// The function and its result, shared with the thread.
final class ThreadJob: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}
