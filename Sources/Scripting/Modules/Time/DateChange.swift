import Lua
import PropertyList
import TimeZones

/// A calendar interval: the argument of `d:add{…}`.
enum DateChange {
    /// The units of fixed duration, in seconds.
    private static let durations: [(name: String, seconds: Int)] = [("hours", 3600), ("minutes", 60)]

    static let parameters: LuaFields = [
        LuaParameter("years", .integer, "keep the month and the day; the last day of the month if it is shorter"),
        LuaParameter("months", .integer, "likewise"), LuaParameter("weeks", .integer, "seven days"),
        LuaParameter("days", .integer, "keep the time of day, also across clock changes"),
        LuaParameter("hours", .integer, "elapsed time, of 60 minutes"),
        LuaParameter("minutes", .integer, "elapsed time"),
        LuaParameter("seconds", .number, "elapsed time"),
        LuaParameter("zone", .text, "the zone of the calendar (default: UTC)"),
    ]

    /// The date plus an interval: years and months first, then weeks and days, then shorter units.
    static func add(_ table: LuaTable, to date: PropertyListDate, _ clock: LocalClock) throws(LuaMismatch) -> DateValue
    {
        func part(_ name: String) throws(LuaMismatch) -> Int {
            let number = table[name].integerValue ?? 0
            // Beyond the calendar's range, and small enough that no sum overflows.
            guard abs(number.clamped) <= 1 << 46 else { throw beyond }
            return Int(number)
        }
        guard let (start, fraction) = date.parts else { throw beyond }
        let (years, months) = (try part("years"), try part("months"))
        let days = try part("weeks") * 7 + part("days")
        guard abs(years) < 1 << 21, abs(months) < 1 << 25, abs(days) < 1 << 30 else { throw beyond }
        var moment = Int64(start)
        if years != 0 || months != 0 || days != 0 {
            let zone = try clock.zone(of: table)
            let offset = zone.offset(at: moment).seconds
            var calendar = CalendarDate(localSeconds: start + offset)
            calendar.add(years: years, months: months)
            moment = zone.moment(ofLocal: Int64(calendar.localSeconds + days * 86400), preferred: offset)
        }
        for (name, seconds) in durations { moment += Int64(try part(name) * seconds) }
        let seconds = table["seconds"].numberValue ?? 0
        guard seconds.isFinite, abs(Double(moment) + seconds) < Double(CalendarDate.limit) else { throw beyond }
        let whole = DateValue(moment, fraction: fraction)
        return seconds == 0 ? whole : whole.moved(by: seconds)
    }

    private static var beyond: LuaMismatch { LuaMismatch("that is beyond the calendar") }
}

extension Int64 {
    /// The number, clamped so that its magnitude is representable.
    fileprivate var clamped: Int64 { Swift.max(self, -.max) }
}
