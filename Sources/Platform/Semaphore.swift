/// A count that threads wait for. Not every system has unnamed semaphores; all have condition variables.
///
/// Unchecked: the count is accessed only with the lock held.
package final class Semaphore: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let raised = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var count = 0

    package init() {
        pthread_mutex_init(lock, nil)
        pthread_cond_init(raised, nil)
    }

    deinit {
        pthread_cond_destroy(raised)
        pthread_mutex_destroy(lock)
        raised.deallocate()
        lock.deallocate()
    }

    /// Raises the count and wakes a waiting thread.
    package func signal() {
        pthread_mutex_lock(lock)
        count += 1
        pthread_mutex_unlock(lock)
        pthread_cond_signal(raised)
    }

    /// Waits until the count is above 0, and lowers it.
    package func wait() {
        pthread_mutex_lock(lock)
        while count == 0 { pthread_cond_wait(raised, lock) }
        count -= 1
        pthread_mutex_unlock(lock)
    }
}
