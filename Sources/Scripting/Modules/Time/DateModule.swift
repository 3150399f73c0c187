import Glibc
import Lua
import PropertyList

/// `date`: moments in time.
enum DateModule {
    static func makeClass(in state: LuaState) -> LuaClass<DateValue> {
        let cls = LuaClass<DateValue>(
            inline: "date",
            "A moment in time. Dates are compared with == and <, `d - e` is in seconds, `d + seconds` a date.",
            in: state)
        let parts: [(String, String, (CalendarDate) -> Int)] = [
            ("year", "The year, in UTC.", { $0.year }), ("month", "The month, 1 to 12, in UTC.", { $0.month }),
            ("day", "The day of the month, in UTC.", { $0.day }), ("hour", "The hour, 0 to 23, in UTC.", { $0.hour }),
            ("minute", "The minute.", { $0.minute }), ("second", "The second.", { $0.second }),
        ]
        for (name, documentation, part) in parts {
            cls.property(name, .integer, documentation) { value, call in
                guard let date = CalendarDate(value.date) else { return call.returns(LuaValue.nil) }
                return call.returns(part(date))
            }
        }
        cls.property("seconds", .number, "Seconds since 1970-01-01 in UTC.") { value, call in
            call.returns(value.date.secondsSince1970)
        }
        cls.method(
            "format",
            [
                LuaParameter(
                    "pattern", .optional(.text),
                    "Unicode's fields (`yyyy-MM-dd HH:mm`, text between apostrophes) or, with a %, those of os.date; `yyyy-MM-dd` if not given"
                )
            ],
            returns: [.string], "The date as text, in UTC and English.",
            example: "return date(0):format(\"d MMMM yyyy\"), date(0):format(\"%d.%m.%Y\")"
        ) { value, call in
            let pattern = try call.optional(0, call.text) ?? "yyyy-MM-dd"
            let text: String?
            do throws(DatePatternError) {
                text =
                    pattern.contains("%")
                    ? format(value.date, pattern) : try DatePattern(pattern).text(of: value.date)
            } catch {
                throw call.refuse(0, error.description)
            }
            guard let text else { throw call.refuse(0, "the pattern gives no text (see strftime)") }
            return call.returns(text)
        }
        cls.declareOperator("sub", .object("date"), returns: .number, "Seconds between two dates.")
        cls.declareOperator("sub", .number, returns: .object("date"), "The date so many seconds before.")
        cls.declareOperator("add", .number, returns: .object("date"), "The date so many seconds after.")
        cls.metamethod("__tostring") { value, call in call.returns(value.date.text) }
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
            let date = try call.object(0, cls).date
            if let other = call.optionalObject(1, cls) {
                return call.returns(date.secondsSinceReferenceDate - other.date.secondsSinceReferenceDate)
            }
            return call.returns(moved(date, by: -(try call.number(1))), cls)
        }
        cls.rawMetamethod("__add") { call in
            if let date = call.optionalObject(0, cls) {
                return call.returns(moved(date.date, by: try call.number(1)), cls)
            }
            return call.returns(moved(try call.object(1, cls).date, by: try call.number(0)), cls)
        }
        cls.rawMetamethod("__concat") { call in
            call.returns(LuaString(call.allValues.prefix(2).flatMap { call.state.describe($0).bytes }))
        }
        return cls
    }

    static func install(_ bridge: ValueBridge) -> LuaModule {
        let module = LuaModule("date", "Moments in time.", in: bridge.state)
        module.callable(
            [
                LuaParameter(
                    "moment", .optional(.union([.number, .string, .object("date")])),
                    "seconds since 1970, or ISO 8601 text; now if not given")
            ],
            returns: LuaType.orError(.object("date")),
            "A date: now, from seconds since 1970, or from text; nil and an error when the text is none.",
            example: "return date(\"1906-10-17\").year",
            numbers: LuaNumberConversion(bridge.dates, offset: PropertyListDate.unixEpochOffset)
        ) { call in
            switch call.value(0) {
            case .nil: return call.returns(DateValue(.now()), bridge.dates)
            case .string(let text):
                guard let date = text.text.flatMap(ISO8601.parse) else {
                    return call.returns(
                        failure: ScriptError(
                            "invalidDate",
                            "'\(text)' is no date (write it as ISO 8601 has it: 1906-10-17, 2026-11-21T04:13:00Z)"))
                }
                return call.returns(DateValue(date), bridge.dates)
            case .userdata: return call.returns(try call.object(0, bridge.dates), bridge.dates)
            default: return try moment(call, bridge.dates)
            }
        }
        return module
    }

    private static func moment(_ call: LuaCall, _ dates: LuaClass<DateValue>) throws -> LuaResults {
        let seconds = try call.number(0)
        guard seconds.isFinite else { throw call.refuse(0, "\(seconds) is no moment") }
        return call.returns(DateValue(PropertyListDate(secondsSince1970: seconds)), dates)
    }

    private static func moved(_ date: PropertyListDate, by seconds: Double) -> DateValue {
        DateValue(PropertyListDate(secondsSinceReferenceDate: date.secondsSinceReferenceDate + seconds))
    }

    private static func format(_ date: PropertyListDate, _ pattern: String) -> String? {
        guard let calendar = CalendarDate(date) else { return nil }
        var seconds = time_t(date.secondsSince1970.rounded(.down))
        var parts = tm()
        guard calendar.year < 1_000_000, gmtime_r(&seconds, &parts) != nil else { return nil }
        var buffer = [CChar](repeating: 0, count: pattern.utf8.count * 8 + 256)
        let count = strftime(&buffer, buffer.count, pattern, &parts)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
