import Glibc
import Items
import Lua
import PropertyList
import TimeZones

/// `date`: makes dates.
enum DateModule {
    static func install(_ bridge: ValueBridge) -> LuaModule {
        let module = LuaModule("date", doc: "Moments in time.", in: bridge.state)
        module.callable(
            [
                LuaParameter(
                    "moment",
                    .optional(.union([.number, .string, .object("date"), .options(DateFields.parameters)])),
                    "seconds since 1970, ISO 8601 text, or a table of parts (default: now)")
            ],
            returns: LuaType.orError(.object("date")),
            doc:
                "A date: now, from seconds since 1970, from text, or from the parts of a local time; nil and an error if the text is invalid. A repeated local time is the earlier one; a skipped one is moved forward.",
            example:
                "return date(\"1906-10-17\").year, date{ year = 2026, month = 7, day = 1, hour = 8, zone = \"Europe/Berlin\" }",
            numbers: LuaNumberConversion(bridge.dates, offset: PropertyListDate.unixEpochOffset)
        ) { call in
            switch call.value(0) {
            case .nil: return call.returns(DateValue(.now()), bridge.dates)
            case .string(let text):
                guard let date = text.text.flatMap(ISO8601.parse) else {
                    let reason =
                        text.text.map(ISO8601.hasSurplusDigits) ?? false
                        ? ": no date has all of its digits"
                        : " (write it as ISO 8601 has it: 1906-10-17, 2026-11-21T04:13:00Z)"
                    return call.returns(
                        failure: ScriptError(
                            "invalidDate", "'\(TextTable.cut("\(text)", to: 64))' is not a date\(reason)"))
                }
                return call.returns(DateValue(date), bridge.dates)
            case .table(let table):
                do throws(LuaMismatch) {
                    return call.returns(try DateFields.date(of: table, bridge.clock), bridge.dates)
                } catch {
                    throw call.refuse(0, error.message)
                }
            case .userdata: return call.returns(try call.object(0, bridge.dates), bridge.dates)
            default:
                let seconds = try call.number(0)
                guard seconds.isFinite else { throw call.refuse(0, "\(seconds) is not a moment") }
                return call.returns(DateValue(PropertyListDate(secondsSince1970: seconds)), bridge.dates)
            }
        }
        module.function(
            "parse",
            [
                "text": "a date in English",
                "pattern":
                    "as in date:format: with a %, strptime's fields (`%d.%m.%Y %H:%M`), else Unicode's (`dd.MM.yyyy HH:mm`)",
                "zone": "as \"Europe/Berlin\", \"local\" or \"+02:00\" (default: UTC)",
            ],
            doc:
                "Parses a date by a pattern; nil and an error with the position if the text does not match. An offset in the text (%z) overrides the zone.",
            example: "return date.parse(\"1.7.2026 08:00\", \"%d.%m.%Y %H:%M\", \"Europe/Berlin\")"
        ) { (text: String, pattern: String, zone: String?) -> OrError<DateValue> in
            let pattern = try self.pattern(pattern)
            let zone = try bridge.clock.zone(named: zone)
            let reason: String
            do {
                if let date = try moment(of: pattern.parse(text), zone, bridge.clock) { return .success(date) }
                reason = "no date has its second"
            } catch  where error is DateTextError || error is ZoneError {
                reason = "\(error)"
            }
            return .failure(
                ScriptError("invalidDate", "'\(TextTable.cut(text, to: 64))' is not such a date: \(reason)"))
        }
        return module
    }

    private static func pattern(_ text: String) throws -> DatePattern {
        do throws(DatePatternError) {
            try DatePattern.checkLength(text)
            let pattern = text.contains("%") ? try DatePattern(posix: text) : try DatePattern(text)
            try pattern.checkParsing()
            return pattern
        } catch {
            throw LuaMismatch(error.description, argument: "pattern")
        }
    }

    /// The moment of a text; nil for digits that no date has, and for a second 60 that does not end a day in UTC.
    private static func moment(of parts: DateParts, _ zone: Zone, _ clock: LocalClock) throws(ZoneError) -> DateValue? {
        let local = Int64(parts.calendar.localSeconds)
        let seconds =
            switch parts.zone {
            case .offset(let offset)?: local - Int64(offset)
            case .name(let name)?: try clock.zones.zone(named: name).moment(ofLocal: local)
            case nil: zone.moment(ofLocal: local)
            }
        guard parts.calendar.second < 60 || seconds % 86400 == 0 else { return nil }
        return PropertyListDate(exactSecondsSince1970: Int(seconds), fraction: parts.fraction).map { DateValue($0) }
    }
}

/// The class of dates.
enum DateClass {
    private static let zone = "as \"Europe/Berlin\", \"local\" or \"+02:00\""

    static func make(in state: LuaState, _ clock: LocalClock) -> LuaClass<DateValue> {
        let cls = LuaClass<DateValue>(
            inline: "date",
            doc:
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
            doc:
                "The date as text, in English. The moment is rounded to the microsecond, and `S`, the fraction of a second, is cut to as many digits as it has letters; more than six show the exact moment.",
            example: "return date(0):format(\"d MMMM yyyy\"), date(0):format(\"%d.%m.%Y %H:%M %Z\", \"Europe/Berlin\")"
        ) { (value, pattern: String?, zone: String?) in
            let zone = value.isDay ? .utc : try clock.zone(named: zone)
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
            doc: "The parts of the local time in a zone; `date` accepts them.",
            example: "local there = date(0):inZone(\"Asia/Kathmandu\") return there.hour, there.minute, there.offset"
        ) { [unowned state] (value, zone: String?) in
            // A day is the same day everywhere.
            let zone = value.isDay ? .utc : try clock.zone(named: zone ?? "local")
            guard let table = DateFields.table(of: value.date, in: zone, state) else {
                throw LuaError(.runtime, "the date is beyond the calendar")
            }
            return table
        }
        cls.method(
            "add", [LuaParameter("change", .options(DateChange.parameters), "the interval, in calendar units")],
            returns: [.object("date")],
            doc:
                "The date after a calendar interval: adds years and months, then weeks and days in the zone's local time, then shorter units.",
            example: "return date(\"2026-01-31\"):add{ months = 1 }, date(0):add{ days = -1, hours = 6 }"
        ) { value, call in
            let table = try call.table(0)
            do throws(LuaMismatch) {
                let moved = try DateChange.add(table, to: value.date, clock)
                return call.returns(value.isDay ? DateValue(day: moved.date) : moved, cls)
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
            cls.property(name, .integer, doc: documentation) { value, call in
                guard let date = CalendarDate(value.date) else { return call.returns(LuaValue.nil) }
                return call.returns(part(date))
            }
        }
        cls.property("seconds", .number, doc: "Seconds since 1970-01-01 in UTC, with their fraction.") { value, call in
            call.returns(value.date.secondsSince1970)
        }
    }

    private static func addOperators(_ cls: LuaClass<DateValue>, _ clock: LocalClock) {
        cls.declareOperator("sub", .object("date"), returns: .number, doc: "Seconds between two dates.")
        cls.declareOperator("sub", .number, returns: .object("date"), doc: "The date a number of seconds earlier.")
        cls.declareOperator("add", .number, returns: .object("date"), doc: "The date a number of seconds later.")
        cls.metamethod("__tostring") { value, call in
            call.returns(value.isDay ? value.date.dayText : clock.text(value.date))
        }
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
            return call.returns(try moved(value, by: -(try call.number(1)), call), cls)
        }
        cls.rawMetamethod("__add") { call in
            if let date = call.optionalObject(0, cls) {
                return call.returns(try moved(date, by: try call.number(1), call), cls)
            }
            return call.returns(try moved(try call.object(1, cls), by: try call.number(0), call), cls)
        }
        cls.rawMetamethod("__concat") { call in
            call.returns(LuaString(call.allValues.prefix(2).flatMap { call.state.describe($0).bytes }))
        }
    }

    private static func moved(_ value: DateValue, by seconds: Double, _ call: LuaCall) throws -> DateValue {
        let moved = value.moved(by: seconds)
        guard moved.date.secondsSinceReferenceDate.isFinite || !value.date.secondsSinceReferenceDate.isFinite else {
            throw LuaError(.argument, "no moment is \(seconds) seconds from a date")
        }
        return moved
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
        let second: any LuaRepresentable =
            fraction.isEmpty ? calendar.second : DecimalParts.value(calendar.second, fraction)
        return state.makeTable([
            "year": calendar.year, "month": calendar.month, "day": calendar.day, "hour": calendar.hour,
            "minute": calendar.minute, "second": second, "weekday": calendar.weekday, "offset": offset.seconds,
            "zone": zone.name, "abbreviation": offset.abbreviation, "isDaylight": offset.isDaylight,
        ])
    }
}

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
