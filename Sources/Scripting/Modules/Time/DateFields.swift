import Lua
import PropertyList
import TimeZones

/// The parts of a local time as a table: the argument of `date{…}` and the result of `d:inZone(…)`.
enum DateFields {
    private static let fields: [(name: String, type: LuaType, documentation: String, asArgument: String)] = [
        ("year", .integer, "the year", ", required"), ("month", .integer, "1 to 12", " (default: 1)"),
        ("day", .integer, "the day of the month", " (default: 1)"), ("hour", .integer, "0 to 23", " (default: 0)"),
        ("minute", .integer, "0 to 59", " (default: 0)"),
        ("second", .number, "0 to below 60, with its fraction", " (default: 0)"),
        ("zone", .text, "as \"Europe/Berlin\", \"local\" or \"+02:00\"", " (default: UTC)"),
        ("offset", .integer, "seconds east of UTC", "; selects one of two moments of a repeated local time"),
        ("abbreviation", .text, "the zone's abbreviation, such as CEST", "; ignored"),
        ("isDaylight", .boolean, "whether daylight saving time applies", "; ignored"),
        ("weekday", .integer, "1 (Sunday) to 7", "; ignored"),
    ]

    /// The parts accepted by `date{…}`.
    static let parameters = LuaFields(
        fields.map { LuaParameter($0.name, $0.type, $0.documentation + $0.asArgument) })

    /// The result of `d:inZone(…)`.
    static let record = LuaType.record(
        "DateParts", LuaFields(fields.map { LuaParameter($0.name, $0.type, $0.documentation) }))

    /// The moment of a table's parts.
    static func date(of table: LuaTable, _ clock: LocalClock) throws(LuaMismatch) -> DateValue {
        func part(_ name: String, _ range: ClosedRange<Int64>, _ none: Int64?) throws(LuaMismatch) -> Int {
            let value = table[name]
            guard let number = value.isNil ? none : value.integerValue else {
                throw LuaMismatch("option '\(name)' is needed")
            }
            guard range.contains(number) else {
                throw LuaMismatch(
                    "option '\(name)': a number from \(range.lowerBound) to \(range.upperBound) expected, got \(number)"
                )
            }
            return Int(number)
        }
        let year = try part("year", -999_999...999_999, nil)
        let month = try part("month", 1...12, 1)
        let day = try part("day", 1...Int64(CalendarDate.days(inMonth: month, of: year)), 1)
        let (hour, minute) = (try part("hour", 0...23, 0), try part("minute", 0...59, 0))
        let second = table["second"].numberValue ?? 0
        guard second >= 0, second < 60, let seconds = DecimalParts(second) else {
            throw LuaMismatch("option 'second': a number from 0 to below 60 expected, got \(second)")
        }
        var calendar = CalendarDate(
            localSeconds: CalendarDate.daysSince1970(year: year, month: month, day: day) * 86400)
        (calendar.hour, calendar.minute, calendar.second) = (hour, minute, seconds.whole)
        let zone = try clock.zone(of: table)
        let moment = zone.moment(
            ofLocal: Int64(calendar.localSeconds), preferred: table["offset"].integerValue.map(Int.init))
        return DateValue(moment, fraction: seconds.fraction)
    }

    /// The parts of a moment in a zone; nil beyond the calendar.
    static func table(of date: PropertyListDate, in zone: Zone, _ state: LuaState) -> LuaTable? {
        guard let (seconds, fraction) = date.parts else { return nil }
        let offset = zone.offset(at: Int64(seconds))
        let calendar = CalendarDate(localSeconds: seconds + offset.seconds)
        let table = state.makeTable(fields: 11)
        for (name, part) in [
            ("year", calendar.year), ("month", calendar.month), ("day", calendar.day), ("hour", calendar.hour),
            ("minute", calendar.minute), ("second", calendar.second), ("weekday", calendar.weekday),
            ("offset", offset.seconds),
        ] {
            table[name] = .integer(Int64(part))
        }
        if !fraction.isEmpty { table["second"] = .number(DecimalParts.value(calendar.second, fraction)) }
        table["zone"] = .text(zone.name)
        table["abbreviation"] = .text(offset.abbreviation)
        table["isDaylight"] = .boolean(offset.isDaylight)
        return table
    }
}
