import Glibc

/// A value that threads share and wait for each other's changes of.
///
/// This is the one place that says why such a value may be shared: it is reached with the lock held, and only so.
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

    /// Changes the value, and has those who wait look at it.
    package func change<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        defer { pthread_cond_broadcast(changed) }
        return body(&state)
    }

    /// Waits until the value is as it should be, changes it, and has the others who wait look at it.
    ///
    /// - Parameters:
    ///   - isReady: whether it is; asked again after each change.
    ///   - body: makes the change.
    /// - Returns: what the body gives.
    package func wait<Result>(until isReady: (State) -> Bool, _ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while !isReady(state) { pthread_cond_wait(changed, lock) }
        defer { pthread_cond_broadcast(changed) }
        return body(&state)
    }
}
