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

/// The error for an unusable time zone.
package struct ZoneError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem, and similar names.
    package let description: String
}

/// A daily time in a zone, with its next occurrence, robust against changes of the clock.
///
/// It occurs once a day. If summer time skips it, it occurs later by the skipped amount; if it occurs twice, the first
/// time counts. If it passed unnoticed, or the clock was set past it, it is due once; if the clock was set back, it is
/// not due again on the day of its last call.
package struct DailySchedule: Sendable, Hashable {
    /// Seconds after midnight by the local clock.
    private let time: Int
    private let zone: Zone
    /// The local day of its last occurrence, since 1970.
    private var lastDay: Int?
    /// The next occurrence, in seconds since 1970.
    package private(set) var next: Int64

    /// - Parameters:
    ///   - time: seconds after midnight.
    ///   - zone: the zone of the clock.
    ///   - now: seconds since 1970; the first occurrence is later.
    package init(time: Int, zone: Zone, now: Int64) {
        self.time = time
        self.zone = zone
        next = now
        next = moment(after: now)
    }

    /// Determines the next occurrence: when one is reached, and after the clock was set.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: whether it is due now.
    package mutating func takeDue(_ now: Int64) -> Bool {
        let isDue = next <= now
        if isDue { lastDay = day(of: next) }
        // If the clock was set back, the next occurrence is earlier.
        next = moment(after: now)
        return isDue
    }

    private func moment(after now: Int64) -> Int64 {
        let today = day(of: now)
        // Includes the previous day: a skipped time may fall after midnight.
        for day in today - 1...today + 2 where day != lastDay {
            let moment = zone.moment(ofLocal: Int64(day * 86400 + time))
            if moment > now { return moment }
        }
        return now + 86400
    }

    private func day(of moment: Int64) -> Int {
        // Limits to the calendar: the clock may be set to any time.
        let bounded = min(max(moment, -Int64(CalendarDate.limit)), Int64(CalendarDate.limit))
        let local = Int(bounded) + zone.offset(at: bounded).seconds
        return local >= 0 ? local / 86400 : -((86399 - local) / 86400)
    }
}
