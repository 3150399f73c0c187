import Platform

/// A point in time: seconds since 2001-01-01T00:00:00Z, as property lists store it.
public struct PropertyListDate: Sendable, Hashable, Comparable {
    /// Seconds between 1970-01-01 and 2001-01-01, both at midnight UTC.
    package static let unixEpochOffset: Double = 978_307_200

    /// Seconds since 2001-01-01T00:00:00Z; finite in every value from a reader.
    public var secondsSinceReferenceDate: Double

    /// Creates a date from the seconds since 2001-01-01T00:00:00Z.
    public init(secondsSinceReferenceDate: Double) {
        self.secondsSinceReferenceDate = secondsSinceReferenceDate
    }

    /// Creates a date from the seconds since 1970-01-01T00:00:00Z.
    public init(secondsSince1970: Double) {
        secondsSinceReferenceDate = secondsSince1970 - Self.unixEpochOffset
    }

    package var secondsSince1970: Double { secondsSinceReferenceDate + Self.unixEpochOffset }

    /// The current time of the wall clock.
    package static func now() -> PropertyListDate {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return PropertyListDate(
            secondsSinceReferenceDate: Double(time.tv_sec) - unixEpochOffset + Double(time.tv_nsec) / 1e9)
    }

    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.secondsSinceReferenceDate < rhs.secondsSinceReferenceDate
    }
}
