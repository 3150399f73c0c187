package import PropertyList

/// A time zone: its offsets from UTC over time.
package struct Zone: Sendable, Hashable {
    /// Its name in the database, `Europe/Berlin`, or an offset, `+02:00`.
    package let name: String
    /// The start times of offsets, ascending, in seconds since 1970.
    private let transitions: [Int64]
    /// The offset before the first transition, followed by the one after each.
    private let offsets: [UTCOffset]
    /// The rule after the last transition; nil if its offset is permanent.
    private let rule: ZoneRule?

    /// - Precondition: `offsets` has one more element than `transitions`.
    init(name: String, transitions: [Int64], offsets: [UTCOffset], rule: ZoneRule?) {
        self.name = name
        self.transitions = transitions
        self.offsets = offsets
        self.rule = rule
    }

    /// A zone with a single offset.
    package init(offset: UTCOffset, name: String? = nil) {
        self.init(name: name ?? offset.abbreviation, transitions: [], offsets: [offset], rule: nil)
    }

    package static let utc = Zone(offset: .utc)

    /// The offset at a time.
    ///
    /// - Parameter seconds: since 1970.
    /// - Returns: the offset of the local clock at that time.
    package func offset(at seconds: Int64) -> UTCOffset {
        var (low, high) = (0, transitions.count)
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        if low == transitions.count, let rule { return rule.offset(at: seconds) }
        return offsets[low]
    }

    /// The UTC time of a local time.
    ///
    /// A time that occurs twice, when clocks are set back, is the earlier one, unless `preferred` is the offset of the
    /// later. A time skipped when clocks are set forward is shifted by the skipped amount: 02:30 becomes 03:30.
    ///
    /// - Parameters:
    ///   - local: seconds since 1970-01-01 00:00 of the local clock.
    ///   - preferred: an offset in seconds, used if it is one of the two.
    /// - Returns: seconds since 1970.
    package func moment(ofLocal local: Int64, preferred: Int? = nil) -> Int64 {
        let day: Int64 = 26 * 3600
        var candidates = [local &- day, local &+ day].map { Int64(offset(at: $0).seconds) }
        // For two changes within two days: try the offsets at each result.
        candidates += candidates.map { Int64(offset(at: local &- $0).seconds) }
        let moments = candidates.map { (offset: $0, moment: local &- $0) }
        let valid = moments.filter { Int64(offset(at: $0.moment).seconds) == $0.offset }
        if let preferred, let found = valid.first(where: { $0.offset == preferred }) { return found.moment }
        return valid.map(\.moment).min() ?? moments.map(\.moment).max() ?? local
    }
}
