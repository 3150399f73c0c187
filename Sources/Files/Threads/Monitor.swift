import Glibc

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
