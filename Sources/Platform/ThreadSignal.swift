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

/// A moment on a monotonic clock, in nanoseconds since an arbitrary origin; the clock stops while the machine sleeps.
package struct MonotonicTime: Sendable, Hashable, Comparable {
    package var nanoseconds: Int64

    /// - Parameter nanoseconds: since the clock's origin.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The current time.
    package static func now() -> MonotonicTime {
        var moment = timespec()
        clock_gettime(CLOCK_MONOTONIC, &moment)
        return MonotonicTime(
            nanoseconds: Int64(moment.tv_sec) * 1_000_000_000 + Int64(moment.tv_nsec) &+ cubby_clock().lead)
    }

    /// The seconds since another moment; negative when that is later.
    package func seconds(since other: MonotonicTime) -> Double { Double(nanoseconds &- other.nanoseconds) / 1e9 }

    /// A moment some seconds later; earlier for a negative number. NaN counts as 0, and the distance is clamped to 30
    /// years.
    package func advanced(by seconds: Double) -> MonotonicTime {
        let limit = 946_080_000.0
        let clamped = seconds.isNaN ? 0 : min(max(seconds, -limit), limit)
        return MonotonicTime(nanoseconds: nanoseconds &+ Int64(clamped * 1e9))
    }

    /// The same by a duration.
    package func advanced(by duration: Duration) -> MonotonicTime { advanced(by: duration / .seconds(1)) }

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.nanoseconds < rhs.nanoseconds }

    /// The time between two moments; zero if the second is not later.
    static func interval(from start: MonotonicTime, to end: MonotonicTime) -> timespec {
        let length = max(end.nanoseconds &- start.nanoseconds, 0)
        return timespec(tv_sec: Int(length / 1_000_000_000), tv_nsec: Int(length % 1_000_000_000))
    }
}
