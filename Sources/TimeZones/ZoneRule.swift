import PropertyList

/// The rule of a zone's summer time in every year, as POSIX writes it in TZ: `CET-1CEST,M3.5.0,M10.5.0/3`.
struct ZoneRule: Sendable, Hashable {
    /// A day of the year.
    enum Day: Sendable, Hashable {
        /// The n-th weekday of a month (0 is Sunday); the last one for 5.
        case weekday(month: Int, week: Int, day: Int)
        /// A day from 1 to 365; the leap day is not counted.
        case julian(Int)
        /// A day from 0 to 365; the leap day is counted.
        case ordinal(Int)
    }

    /// When clocks are set: seconds after the day's local midnight, up to a week either way.
    struct Change: Sendable, Hashable {
        var day: Day
        var time: Int
    }

    var standard: UTCOffset
    var daylight: UTCOffset?
    /// The beginning and the end of summer time.
    var start = Change(day: .weekday(month: 3, week: 2, day: 0), time: 7200)
    var end = Change(day: .weekday(month: 11, week: 1, day: 0), time: 7200)

    /// The offset at a moment.
    func offset(at seconds: Int64) -> UTCOffset {
        guard let daylight else { return standard }
        // Within a year of what the calendar can count in.
        let bounded = min(max(seconds, -60_000_000_000_000), 60_000_000_000_000)
        let days = Int(bounded &+ Int64(standard.seconds)) / 86400
        let year = CalendarDate.civil(daysSince1970: days).year
        // The latest change before the moment; where an end meets the next start, summer time goes on.
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

    /// Seconds since 1970 of a change, by the local clock.
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
