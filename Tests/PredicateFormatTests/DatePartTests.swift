import PredicateFormat
import PropertyList
import Testing

/// The parts of dates as properties, in UTC and by a zone's clock.
@Suite("Parts of dates")
struct DatePartTests {
    private func holds(_ format: String, _ text: String) throws -> Bool {
        let date = try #require(ISO8601.parse(text))
        let predicate = try FormatPredicate(format: format)
        let compiled = predicate.compiled { (name: String) -> PredicateAccessor<PropertyListValue> in .value { $0 } }
        let verdict = predicate.evaluate { _ in .date(date) }
        #expect(compiled(.date(date)) == verdict, "\(format)")
        return verdict
    }

    @Test(
        "a part is a number",
        arguments: [
            ("2024-02-29T23:59:58Z", [2024, 2, 29, 5, 23, 59, 58]),
            ("1969-12-31T00:00:00Z", [1969, 12, 31, 4, 0, 0, 0]),
            ("2000-01-02", [2000, 1, 2, 1, 0, 0, 0]), ("0001-01-01T12:00:00Z", [1, 1, 1, 2, 12, 0, 0]),
        ])
    func parts(text: String, values: [Int]) throws {
        for (name, value) in zip(["year", "month", "day", "weekday", "hour", "minute", "second"], values) {
            #expect(try holds("d.\(name) == \(value)", text), "\(name) of \(text)")
            #expect(try !holds("d.\(name) + 1 == \(value)", text), "\(name) of \(text)")
        }
    }

    @Test("a zone's clock shows another hour, day and year")
    func zone() throws {
        let newYear = "2024-12-31T23:30:00Z"
        #expect(try holds("inZone(d, 'Europe/Berlin').year == 2025 AND d.year == 2024", newYear))
        #expect(try holds("inZone(d, 'America/New_York').hour == 18", newYear))
        // With and without summer time.
        #expect(try holds("inZone(d, 'Europe/Berlin').hour == 14", "2024-07-01T12:00:00Z"))
        #expect(try holds("inZone(d, '+05:45').minute == 15", newYear))
        #expect(try holds("inZone(nil, 'Europe/Berlin') == nil", newYear))
    }

    @Test("what is no date has no parts, and a zone that is none is named")
    func refused() throws {
        func message(_ format: String) -> String {
            do {
                try FormatPredicate(format: format).check(kinds: ["name": .string, "d": .date])
                return ""
            } catch { return "\(error)" }
        }
        #expect(message("name.year == 1").contains("text has no property year"))
        #expect(message("d.yeer == 1").contains("did you mean year?"))
        #expect(message("inZone(d, 'Europe/Berln').year == 1").contains("Europe/Berlin"))
        #expect(message("inZone(d, 'local').year == 1").contains("not as local"))
        #expect(message("inZone(name, 'UTC').year == 1").contains("inZone does not take text"))
    }
}
