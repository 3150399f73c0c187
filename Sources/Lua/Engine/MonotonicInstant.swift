internal import Glibc

/// A time of the monotonic clock, in nanoseconds.
struct MonotonicInstant: Comparable, Sendable {
    private let nanoseconds: Int64

    static var now: MonotonicInstant {
        var time = Glibc.timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// A later time, at most 30 years.
    func advanced(by duration: Duration) -> MonotonicInstant {
        let seconds = min(max(duration / .seconds(1), 0), 1e9)
        return MonotonicInstant(nanoseconds: nanoseconds &+ Int64(seconds * 1e9))
    }

    /// Seconds from another time to this one.
    func seconds(since other: MonotonicInstant) -> Double { Double(nanoseconds - other.nanoseconds) / 1e9 }

    static func < (a: MonotonicInstant, b: MonotonicInstant) -> Bool { a.nanoseconds < b.nanoseconds }

    var timespec: timespec {
        Glibc.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
