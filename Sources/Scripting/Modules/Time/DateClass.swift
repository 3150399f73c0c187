import Glibc
import Lua
import PropertyList
import TimeZones

/// The class of dates.
enum DateClass {
    private static let zone = "as \"Europe/Berlin\", \"local\" or \"+02:00\""

    static func make(in state: LuaState, _ clock: LocalClock) -> LuaClass<DateValue> {
        let cls = LuaClass<DateValue>(
            inline: "date",
            "A moment in time. Dates are compared with == and <; `d - e` is in seconds, `d + seconds` is a date. `tostring` gives UTC; `print` and the prompt show local time. Both have the fraction of a second with all digits, so that the text stands for the same moment.",
            in: state)
        addParts(cls)
        cls.method(
            "format",
            [
                "pattern":
                    "Unicode's fields (`yyyy-MM-dd HH:mm:ss.SSS`, text between apostrophes) or, with a %, those of os.date (default: `yyyy-MM-dd`)",
                "zone": LuaArgument("\(zone) (default: UTC)"),
            ],
            "The date as text, in English. The moment is rounded to the microsecond, and `S`, the fraction of a second, is cut to as many digits as it has letters; more than six show the exact moment.",
            example: "return date(0):format(\"d MMMM yyyy\"), date(0):format(\"%d.%m.%Y %H:%M %Z\", \"Europe/Berlin\")"
        ) { (value, pattern: String?, zone: String?) in
            let zone = try clock.zone(named: zone)
            let text: String?
            do throws(DatePatternError) {
                text = try Self.text(of: value.date, pattern ?? "yyyy-MM-dd", zone)
            } catch {
                throw LuaMismatch(error.description, argument: "pattern")
            }
            guard let text else {
                throw LuaMismatch("the pattern gives no text (see strftime)", argument: "pattern")
            }
            return text
        }
        cls.method(
            "inZone",
            ["zone": LuaArgument("\(zone) (default: the user's zone)")], returns: [DateFields.record],
            "The parts of the local time in a zone; `date` accepts them.",
            example: "local there = date(0):inZone(\"Asia/Kathmandu\") return there.hour, there.minute, there.offset"
        ) { [unowned state] (value, zone: String?) in
            let zone = try clock.zone(named: zone ?? "local")
            guard let table = DateFields.table(of: value.date, in: zone, state) else {
                throw LuaError(.runtime, "the date is beyond the calendar")
            }
            return table
        }
        cls.method(
            "add", [LuaParameter("change", .options(DateChange.parameters), "the interval, in calendar units")],
            returns: [.object("date")],
            "The date after a calendar interval: adds years and months, then weeks and days in the zone's local time, then shorter units.",
            example: "return date(\"2026-01-31\"):add{ months = 1 }, date(0):add{ days = -1, hours = 6 }"
        ) { value, call in
            let table = try call.table(0)
            do throws(LuaMismatch) {
                return call.returns(try DateChange.add(table, to: value.date, clock), cls)
            } catch {
                throw call.refuse(0, error.message)
            }
        }
        addOperators(cls, clock)
        return cls
    }

    private static func addParts(_ cls: LuaClass<DateValue>) {
        let parts: [(String, String, (CalendarDate) -> Int)] = [
            ("year", "The year, in UTC.", { $0.year }), ("month", "The month, 1 to 12, in UTC.", { $0.month }),
            ("day", "The day of the month, in UTC.", { $0.day }), ("hour", "The hour, 0 to 23, in UTC.", { $0.hour }),
            ("minute", "The minute.", { $0.minute }),
            ("second", "The whole second; `inZone` keeps its fraction.", { $0.second }),
        ]
        for (name, documentation, part) in parts {
            cls.property(name, .integer, documentation) { value, call in
                guard let date = CalendarDate(value.date) else { return call.returns(LuaValue.nil) }
                return call.returns(part(date))
            }
        }
        cls.property("seconds", .number, "Seconds since 1970-01-01 in UTC, with their fraction.") { value, call in
            call.returns(value.date.secondsSince1970)
        }
    }

    private static func addOperators(_ cls: LuaClass<DateValue>, _ clock: LocalClock) {
        cls.declareOperator("sub", .object("date"), returns: .number, "Seconds between two dates.")
        cls.declareOperator("sub", .number, returns: .object("date"), "The date a number of seconds earlier.")
        cls.declareOperator("add", .number, returns: .object("date"), "The date a number of seconds later.")
        cls.metamethod("__tostring") { value, call in call.returns(clock.text(value.date)) }
        cls.rawMetamethod("__eq") { call in
            call.returns(call.optionalObject(0, cls) == call.optionalObject(1, cls))
        }
        cls.rawMetamethod("__lt") { call in
            call.returns(try call.object(0, cls).date < (try call.object(1, cls).date))
        }
        cls.rawMetamethod("__le") { call in
            call.returns(try call.object(0, cls).date <= (try call.object(1, cls).date))
        }
        cls.rawMetamethod("__sub") { call in
            let value = try call.object(0, cls)
            if let other = call.optionalObject(1, cls) {
                return call.returns(value.date.secondsSinceReferenceDate - other.date.secondsSinceReferenceDate)
            }
            return call.returns(value.moved(by: -(try call.number(1))), cls)
        }
        cls.rawMetamethod("__add") { call in
            if let date = call.optionalObject(0, cls) {
                return call.returns(date.moved(by: try call.number(1)), cls)
            }
            return call.returns(try call.object(1, cls).moved(by: try call.number(0)), cls)
        }
        cls.rawMetamethod("__concat") { call in
            call.returns(LuaString(call.allValues.prefix(2).flatMap { call.state.describe($0).bytes }))
        }
    }

    /// The text in a pattern of either notation; nil if it cannot be formatted.
    private static func text(
        of date: PropertyListDate, _ pattern: String, _ zone: Zone
    ) throws(DatePatternError) -> String? {
        try DatePattern.checkLength(pattern)
        let parsed = pattern.contains("%") ? nil : try DatePattern(pattern)
        guard let whole = (parsed?.moment(of: date) ?? date.microseconds)?.seconds else { return nil }
        let offset = zone.offset(at: Int64(whole))
        if let parsed { return parsed.text(of: date, offset: offset, zone: zone.name) }
        var local = time_t(whole + offset.seconds)
        var parts = tm()
        guard CalendarDate(localSeconds: local).year < 1_000_000, gmtime_r(&local, &parts) != nil else { return nil }
        var buffer = [CChar](repeating: 0, count: pattern.utf8.count * 8 + 256)
        let count = offset.abbreviation.withCString { abbreviation in
            (parts.tm_gmtoff, parts.tm_zone, parts.tm_isdst) = (offset.seconds, abbreviation, offset.isDaylight ? 1 : 0)
            return strftime(&buffer, buffer.count, pattern, &parts)
        }
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
