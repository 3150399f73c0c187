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
    package func wait(until end: MonotonicInstant?) {
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
    private func wait(_ end: MonotonicInstant) -> Bool {
        #if canImport(Darwin)
        // Untried.
        var left = MonotonicInstant.interval(from: .now, to: end)
        return pthread_cond_timedwait_relative_np(raised, lock, &left) == 0
        #else
        var time = MonotonicInstant.interval(from: .zero, to: end)
        return pthread_cond_timedwait(raised, lock, &time) == 0
        #endif
    }
}

/// A time of the monotonic clock, in nanoseconds.
package struct MonotonicInstant: Comparable, Sendable {
    private let nanoseconds: Int64

    static let zero = MonotonicInstant(nanoseconds: 0)

    package static var now: MonotonicInstant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// A later time, at most 30 years.
    package func advanced(by duration: Duration) -> MonotonicInstant {
        let seconds = min(max(duration / .seconds(1), 0), 1e9)
        return MonotonicInstant(nanoseconds: nanoseconds &+ Int64(seconds * 1e9))
    }

    /// Seconds from another time to this one.
    package func seconds(since other: MonotonicInstant) -> Double { Double(nanoseconds - other.nanoseconds) / 1e9 }

    package static func < (a: MonotonicInstant, b: MonotonicInstant) -> Bool { a.nanoseconds < b.nanoseconds }

    /// The time between two instants; zero if the second is not later.
    static func interval(from start: MonotonicInstant, to end: MonotonicInstant) -> timespec {
        let length = max(end.nanoseconds - start.nanoseconds, 0)
        return timespec(tv_sec: Int(length / 1_000_000_000), tv_nsec: Int(length % 1_000_000_000))
    }
}
