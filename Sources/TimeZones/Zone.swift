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

/// A zone's yearly rule for summer time, in POSIX TZ notation: `CET-1CEST,M3.5.0,M10.5.0/3`.
struct ZoneRule: Sendable, Hashable {
    /// A day of the year.
    enum Day: Sendable, Hashable {
        /// The n-th weekday of a month (0 is Sunday); 5 is the last one.
        case weekday(month: Int, week: Int, day: Int)
        /// A day from 1 to 365, without the leap day.
        case julian(Int)
        /// A day from 0 to 365, including the leap day.
        case ordinal(Int)
    }

    /// A change of the clock: seconds after the day's local midnight, up to a week in either direction.
    struct Change: Sendable, Hashable {
        var day: Day
        var time: Int
    }

    var standard: UTCOffset
    var daylight: UTCOffset?
    /// The beginning and the end of summer time.
    var start = Change(day: .weekday(month: 3, week: 2, day: 0), time: 7200)
    var end = Change(day: .weekday(month: 11, week: 1, day: 0), time: 7200)

    /// The offset at a time.
    func offset(at seconds: Int64) -> UTCOffset {
        guard let daylight else { return standard }
        // Limits to the range of the calendar, with a margin of a year.
        let bounded = min(max(seconds, -60_000_000_000_000), 60_000_000_000_000)
        let days = Int(bounded &+ Int64(standard.seconds)) / 86400
        let year = CalendarDate.civil(daysSince1970: days).year
        // The latest change before the time; if an end coincides with the next start, summer time continues.
        var latest: (moment: Int, isDaylight: Bool) = (.min, false)
        for year in year - 1...year + 1 {
            let changes = [
                (Self.moment(of: end, in: year) - daylight.seconds, false),
                (Self.moment(of: start, in: year) - standard.seconds, true),
            ]
            for (moment, isDaylight) in changes where moment <= Int(bounded) && moment >= latest.moment {
                if moment > latest.moment || isDaylight { latest = (moment, isDaylight) }
            }
        }
        return latest.isDaylight ? daylight : standard
    }

    /// The time of a change, in seconds since 1970 by the local clock.
    private static func moment(of change: Change, in year: Int) -> Int {
        let first = CalendarDate.daysSince1970(year: year, month: 1, day: 1)
        let day: Int
        switch change.day {
        case .ordinal(let number): day = first + number
        case .julian(let number):
            let isLeap = CalendarDate.days(inMonth: 2, of: year) == 29
            day = first + number - 1 + (isLeap && number > 59 ? 1 : 0)
        case .weekday(let month, let week, let weekday):
            let start = CalendarDate.daysSince1970(year: year, month: month, day: 1)
            // 1970-01-01 was a Thursday.
            let of = ((start + 4) % 7 + 7) % 7
            let length = CalendarDate.days(inMonth: month, of: year)
            let date = (weekday - of + 7) % 7 + (week - 1) * 7
            day = start + (date < length ? date : date - 7)
        }
        return day * 86400 + change.time
    }
}

/// Parses a POSIX TZ rule, with the extensions of RFC 8536: quoted names, and times of up to a week.
struct ZoneRuleParser {
    private var rest: Substring.UTF8View

    /// Parses a rule; returns nil if it is invalid.
    static func parse(_ text: String) -> ZoneRule? {
        var parser = ZoneRuleParser(rest: text[...].utf8)
        guard let rule = parser.rule(), parser.rest.isEmpty else { return nil }
        return rule
    }

    private mutating func rule() -> ZoneRule? {
        // POSIX offsets are positive west of Greenwich.
        guard let name = name(), let west = time(hours: 24) else { return nil }
        var rule = ZoneRule(standard: UTCOffset(seconds: -west, abbreviation: name))
        if rest.isEmpty { return rule }
        guard let summer = self.name() else { return nil }
        var offset = 3600 - west
        if let next = rest.first, next != UInt8(ascii: ",") {
            guard let west = time(hours: 24) else { return nil }
            offset = -west
        }
        rule.daylight = UTCOffset(seconds: offset, abbreviation: summer, isDaylight: true)
        // The default dates are those of the United States.
        if rest.isEmpty { return rule }
        guard take(","), let start = change(), take(","), let end = change() else { return nil }
        (rule.start, rule.end) = (start, end)
        return rule
    }

    private mutating func take(_ character: Character) -> Bool {
        guard let ascii = character.asciiValue, rest.first == ascii else { return false }
        rest.removeFirst()
        return true
    }

    /// At least three letters; in angle brackets also digits and signs.
    private mutating func name() -> String? {
        let isQuoted = take("<")
        let bytes = rest.prefix { byte in
            let isLetter = (0x41...0x5A).contains(byte & 0xDF)
            return isLetter || isQuoted && ((0x30...0x39).contains(byte) || byte == 0x2B || byte == 0x2D)
        }
        guard (3...32).contains(bytes.count) else { return nil }
        rest = rest.dropFirst(bytes.count)
        guard !isQuoted || take(">") else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard (1...3).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        let value = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return range.contains(value) ? value : nil
    }

    /// `[+-]hh[:mm[:ss]]`, in seconds.
    private mutating func time(hours: Int) -> Int? {
        let isNegative = take("-")
        if !isNegative { _ = take("+") }
        guard var seconds = number(0...hours).map({ $0 * 3600 }) else { return nil }
        for unit in [60, 1] where take(":") {
            guard let value = number(0...59) else { return nil }
            seconds += value * unit
        }
        return isNegative ? -seconds : seconds
    }

    private mutating func change() -> ZoneRule.Change? {
        let day: ZoneRule.Day
        if take("M") {
            guard let month = number(1...12), take("."), let week = number(1...5), take("."),
                let weekday = number(0...6)
            else { return nil }
            day = .weekday(month: month, week: week, day: weekday)
        } else if take("J") {
            guard let number = number(1...365) else { return nil }
            day = .julian(number)
        } else {
            guard let number = number(0...365) else { return nil }
            day = .ordinal(number)
        }
        guard take("/") else { return ZoneRule.Change(day: day, time: 7200) }
        return time(hours: 167).map { ZoneRule.Change(day: day, time: $0) }
    }
}
