import PropertyList

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
