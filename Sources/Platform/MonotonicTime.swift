/// A moment on a monotonic clock, in nanoseconds since an arbitrary origin; the clock stops while the machine sleeps.
package struct MonotonicTime: Sendable, Hashable, Comparable {
    package var nanoseconds: Int64

    /// - Parameter nanoseconds: since the clock's origin.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The current time.
    package static func now() -> MonotonicTime {
        var moment = timespec()
        clock_gettime(CLOCK_MONOTONIC, &moment)
        return MonotonicTime(nanoseconds: Int64(moment.tv_sec) * 1_000_000_000 + Int64(moment.tv_nsec))
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
