import Platform

/// A point in time: seconds since 2001-01-01T00:00:00Z, as property lists store it.
public struct PropertyListDate: Sendable, Hashable, Comparable {
    /// Seconds between 1970-01-01 and 2001-01-01, both at midnight UTC.
    package static let unixEpochOffset: Double = 978_307_200

    /// Seconds since 2001-01-01T00:00:00Z. A date of a damaged or unusual file may be infinite or not a number.
    public var secondsSinceReferenceDate: Double

    /// Creates a date from the seconds since 2001-01-01T00:00:00Z.
    public init(secondsSinceReferenceDate: Double) {
        self.secondsSinceReferenceDate = secondsSinceReferenceDate
    }

    /// Creates a date from the seconds since 1970-01-01T00:00:00Z. A number of up to six decimals, which is one of a clock,
    /// gives the date of its decimal digits, as a text does.
    public init(secondsSince1970: Double) {
        let difference = secondsSince1970 - Self.unixEpochOffset
        if difference != difference.rounded(), let parts = DecimalParts(secondsSince1970),
            parts.fraction.utf8.count <= 6
        {
            self.init(secondsSince1970: parts.whole, fraction: parts.fraction)
        } else {
            self.init(secondsSinceReferenceDate: difference)
        }
    }

    /// The inverse of ``init(secondsSince1970:)``.
    package var secondsSince1970: Double {
        let sum = secondsSinceReferenceDate + Self.unixEpochOffset
        let isWhole = secondsSinceReferenceDate == secondsSinceReferenceDate.rounded()
        guard !isWhole, let parts, parts.fraction.utf8.count <= 6 else { return sum }
        return DecimalParts.value(parts.seconds, parts.fraction)
    }

    /// The current time of the wall clock, to the microsecond, of which a `Double` has each in our time.
    package static func now() -> PropertyListDate {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let microseconds = (time.tv_sec - Int(unixEpochOffset)) * 1_000_000 + time.tv_nsec / 1000
        return PropertyListDate(secondsSinceReferenceDate: Double(microseconds) / 1e6)
    }

    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.secondsSinceReferenceDate < rhs.secondsSinceReferenceDate
    }
}
