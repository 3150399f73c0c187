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
        guard job.start(&thread) else {
            job.run()
            return
        }
        let started = thread
        state.withLock { $0.thread = started }
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

    /// Runs it on a new thread; false when none can be created.
    func start(_ thread: UnsafeMutablePointer<pthread_t>?) -> Bool {
        let job = Unmanaged.passRetained(self)
        let result = cubby_thread_start(
            0,
            { argument in
                if let argument { Unmanaged<ThreadJob>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, job.toOpaque(), thread)
        if result != 0 { job.release() }
        return result == 0
    }
}

/// A thread that is never joined; the end of the process ends it. Signals are blocked as for ``WorkerThread``.
package enum DetachedThread {
    /// Starts the function on a new thread.
    ///
    /// - Parameter work: the function.
    /// - Returns: false when no thread can be created.
    package static func start(_ work: @escaping @Sendable () -> Void) -> Bool {
        ThreadJob(work).start(nil)
    }
}

/// A value shared by threads, with a condition variable.
///
/// Unchecked: the value is accessed only with the lock held.
package final class Monitor<State: Sendable>: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    package init(_ state: State) {
        self.state = state
        pthread_mutex_init(lock, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(lock)
        changed.deallocate()
        lock.deallocate()
    }

    /// Changes the value and wakes waiting threads.
    package func change<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        defer { pthread_cond_broadcast(changed) }
        return body(&state)
    }

    /// Waits for a condition, changes the value, and wakes other waiting threads.
    ///
    /// - Parameters:
    ///   - isReady: the condition, evaluated after each change.
    ///   - body: the change.
    /// - Returns: the body's result.
    package func wait<Result>(until isReady: (State) -> Bool, _ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while !isReady(state) { pthread_cond_wait(changed, lock) }
        defer { pthread_cond_broadcast(changed) }
        return body(&state)
    }
}
