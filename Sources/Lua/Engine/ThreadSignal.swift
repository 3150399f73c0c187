internal import Glibc

/// What a thread of an engine waits for. Signals before the wait are merged into one.
final class ThreadSignal: Sendable {
    // Used by all threads under the mutex. Destroyed when no thread refers to this object any more.
    nonisolated(unsafe) private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    nonisolated(unsafe) private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    // Guarded by the mutex.
    nonisolated(unsafe) private var isSet = false

    init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func set() {
        pthread_mutex_lock(mutex)
        isSet = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Waits for a signal and takes it; at the latest until a time.
    func wait(until end: MonotonicInstant?) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isSet {
            guard let end else {
                pthread_cond_wait(condition, mutex)
                continue
            }
            var time = end.timespec
            if pthread_cond_timedwait(condition, mutex, &time) != 0 { break }
        }
        isSet = false
    }
}
