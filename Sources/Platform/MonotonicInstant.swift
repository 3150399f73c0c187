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
