import Lua
import PropertyList
import TimeZones
import Wording

/// `date`: makes dates.
enum DateModule {
    static func install(_ bridge: ValueBridge) -> LuaModule {
        let module = LuaModule("date", "Moments in time.", in: bridge.state)
        module.callable(
            [
                LuaParameter(
                    "moment",
                    .optional(.union([.number, .string, .object("date"), .options(DateFields.parameters)])),
                    "seconds since 1970, ISO 8601 text, or a table of parts (default: now)")
            ],
            returns: LuaType.orError(.object("date")),
            "A date: now, from seconds since 1970, from text, or from the parts of a local time; nil and an error if the text is invalid. A repeated local time is the earlier one; a skipped one is moved forward.",
            example:
                "return date(\"1906-10-17\").year, date{ year = 2026, month = 7, day = 1, hour = 8, zone = \"Europe/Berlin\" }",
            numbers: LuaNumberConversion(bridge.dates, offset: PropertyListDate.unixEpochOffset)
        ) { call in
            switch call.value(0) {
            case .nil: return call.returns(DateValue(.now()), bridge.dates)
            case .string(let text):
                guard let date = text.text.flatMap(ISO8601.parse) else {
                    return call.returns(
                        failure: ScriptError(
                            "invalidDate",
                            "'\(TextTable.cut("\(text)", to: 64))' is not a date (write it as ISO 8601 has it: 1906-10-17, 2026-11-21T04:13:00Z)"
                        ))
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
            "Parses a date by a pattern; nil and an error with the position if the text does not match. An offset in the text (%z) overrides the zone.",
            example: "return date.parse(\"1.7.2026 08:00\", \"%d.%m.%Y %H:%M\", \"Europe/Berlin\")"
        ) { (text: String, pattern: String, zone: String?) -> OrError<DateValue> in
            let pattern = try self.pattern(pattern)
            let zone = try bridge.clock.zone(named: zone)
            do {
                return .success(try moment(of: pattern.parse(text), zone, bridge.clock))
            } catch  where error is DateTextError || error is ZoneError {
                return .failure(
                    ScriptError("invalidDate", "'\(TextTable.cut(text, to: 64))' is not such a date: \(error)"))
            }
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

    private static func moment(of parts: DateParts, _ zone: Zone, _ clock: LocalClock) throws(ZoneError) -> DateValue {
        let local = Int64(parts.calendar.localSeconds)
        let seconds =
            switch parts.zone {
            case .offset(let offset)?: local - Int64(offset)
            case .name(let name)?: try clock.zones.zone(named: name).moment(ofLocal: local)
            case nil: zone.moment(ofLocal: local)
            }
        return DateValue(seconds, fraction: parts.fraction)
    }
}
