import Glibc

/// A moment on a clock that only goes forward, in nanoseconds since some moment before; it stands still while the machine
/// sleeps.
public struct MonotonicTime: Sendable, Hashable, Comparable {
    public var nanoseconds: Int64

    /// - Parameter nanoseconds: since the clock's beginning.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The clock's present time.
    ///
    /// - Returns: now.
    public static func now() -> MonotonicTime {
        var moment = timespec()
        clock_gettime(CLOCK_MONOTONIC, &moment)
        return MonotonicTime(nanoseconds: Int64(moment.tv_sec) * 1_000_000_000 + Int64(moment.tv_nsec))
    }

    /// Seconds from another moment to this one, negative when this is earlier.
    ///
    /// - Parameter other: the other moment.
    /// - Returns: seconds.
    public func seconds(since other: MonotonicTime) -> Double {
        Double(nanoseconds &- other.nanoseconds) / 1e9
    }

    /// A later moment or, by a negative number of seconds, an earlier one. Not a number counts as 0, and more than 30 years
    /// as 30 years.
    ///
    /// - Parameter seconds: how much later.
    /// - Returns: the moment.
    public func advanced(by seconds: Double) -> MonotonicTime {
        let limit = 946_080_000.0
        let clamped = seconds.isNaN ? 0 : min(max(seconds, -limit), limit)
        return MonotonicTime(nanoseconds: nanoseconds &+ Int64(clamped * 1e9))
    }

    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.nanoseconds < rhs.nanoseconds }
}
