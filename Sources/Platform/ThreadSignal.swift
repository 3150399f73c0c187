internal import CPlatform

/// Blocks a thread until a signal, or until a deadline. Signals before the wait are merged into one.
///
/// Unchecked: the flag is accessed only with the lock held.
package final class ThreadSignal: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let raised = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isSet = false

    package init() {
        pthread_mutex_init(lock, nil)
        #if canImport(Darwin)
        // Untried. Waits there are relative, see below.
        pthread_cond_init(raised, nil)
        #else
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(raised, &attributes)
        pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(raised)
        pthread_mutex_destroy(lock)
        raised.deallocate()
        lock.deallocate()
    }

    /// Wakes the waiting thread, or the next one to wait.
    package func set() {
        pthread_mutex_lock(lock)
        isSet = true
        pthread_cond_signal(raised)
        pthread_mutex_unlock(lock)
    }

    /// Waits for a signal and clears it; no longer than until a deadline.
    package func wait(until end: MonotonicTime?) {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while !isSet {
            if let end {
                guard wait(end) else { break }
            } else {
                pthread_cond_wait(raised, lock)
            }
        }
        isSet = false
    }

    /// Returns whether the thread was woken before the deadline.
    private func wait(_ end: MonotonicTime) -> Bool {
        #if canImport(Darwin)
        // Untried.
        var left = MonotonicTime.interval(from: .now(), to: end)
        return pthread_cond_timedwait_relative_np(raised, lock, &left) == 0
        #else
        var time = MonotonicTime.interval(from: MonotonicTime(nanoseconds: 0), to: end)
        return pthread_cond_timedwait(raised, lock, &time) == 0
        #endif
    }
}
