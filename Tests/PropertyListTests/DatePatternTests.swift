import Testing

@testable import PropertyList

@Suite("DatePattern")
struct DatePatternTests {
    private func pattern(_ text: String) throws -> DatePattern {
        text.contains("%") ? try DatePattern(posix: text) : try DatePattern(text)
    }

    @Test(
        "texts by patterns",
        arguments: [
            ("21.11.2026 04:13", "%d.%m.%Y %H:%M", "2026-11-21 04:13:00"),
            ("1.7.2026 8:05", "%d.%m.%Y %H:%M", "2026-07-01 08:05:00"),
            ("2026-11-21T04:13:59", "%FT%T", "2026-11-21 04:13:59"), ("11/21/26 16:13", "%D %R", "2026-11-21 16:13:00"),
            ("Sat, 21 Nov 2026", "%a, %d %b %Y", "2026-11-21 00:00:00"),
            ("saturday 21 NOVEMBER 2026", "%A %e %B %Y", "2026-11-21 00:00:00"),
            ("12:30 AM 2026-01-02", "%I:%M %p %F", "2026-01-02 00:30:00"),
            ("12:30 pm 2026-01-02", "%I:%M %p %F", "2026-01-02 12:30:00"), ("2024 366", "%Y %j", "2024-12-31 00:00:00"),
            ("20261121", "%Y%m%d", "2026-11-21 00:00:00"), ("100% 2026", "100%% %Y", "2026-01-01 00:00:00"),
            ("69", "%y", "1969-01-01 00:00:00"), ("68", "%y", "2068-01-01 00:00:00"),
            ("2026-06-30 23:59:60", "%F %T", "2026-07-01 00:00:00"),
            ("21. November 2026, 4.13 Uhr", "d. MMMM yyyy, H.mm 'Uhr'", "2026-11-21 04:13:00"),
            ("20261121041359", "yyyyMMddHHmmss", "2026-11-21 04:13:59"),
            ("24:00 2026", "kk:mm yyyy", "2026-01-01 00:00:00"),
            ("May 2026", "MMMM yyyy", "2026-05-01 00:00:00"), ("2026   11\t21", "yyyy MM dd", "2026-11-21 00:00:00"),
        ])
    func parse(text: String, pattern: String, expected: String) throws {
        let parts = try self.pattern(pattern).parse(text)
        let date = PropertyListDate(secondsSince1970: Double(parts.calendar.localSeconds))
        #expect(date.text == expected + " +0000")
        #expect(parts.zone == nil)
    }

    @Test(
        "zones in texts",
        arguments: [
            ("2026 +01:00", DateParts.Zone.offset(3600)), ("2026 -0330", .offset(-12600)), ("2026 +05", .offset(18000)),
            ("2026 Z", .offset(0)), ("2026 utc", .offset(0)), ("2026 Europe/Berlin", .name("Europe/Berlin")),
        ])
    func zones(text: String, zone: DateParts.Zone) throws {
        #expect(try pattern("%Y %Z").parse(text).zone == zone)
        if case .offset = zone { #expect(try pattern("yyyy XXX").parse(text).zone == zone) }
    }

    @Test("fractions") func fractions() throws {
        #expect(try pattern("yyyy ss.SSS").parse("2026 01.250").fraction == "250")
    }

    @Test(
        "an error names the place",
        arguments: [
            ("21.13.2026", "%d.%m.%Y", "at character 4 a month from 1 to 12 is expected, and there is '13.2026'"),
            ("32.12.2026", "%d.%m.%Y", "at character 1 a day from 1 to 31 is expected, and there is '32.12.2026'"),
            (
                "30.02.2026", "%d.%m.%Y",
                "at character 1 a day of February 2026, which has 28, is expected, and there is '30.02.2026'"
            ),
            ("2025 366", "%Y %j", "at character 6 a day of 2025, which has 365 is expected, and there is '366'"),
            ("2026-11", "%Y/%m", "at character 5 '/' is expected, and there is '-11'"),
            ("2026", "%Y-%m", "at character 5 '-' is expected, and there is the end"),
            ("2026x", "%Y", "at character 5 the end is expected, and there is 'x'"),
            ("2026 Nvember", "%Y %B", "at character 6 a month is expected, and there is 'Nvember'"),
            (
                "Fri 2026-11-21", "%a %F",
                "at character 1 Saturday, the weekday of that date, is expected, and there is 'Fri 2026-11-'"
            ),
            ("2026 CET", "%Y %Z", "at character 6 an offset from UTC like +01:00 is expected, and there is 'CET'"),
            ("2026 25", "%Y %H", "at character 6 an hour from 0 to 23 is expected, and there is '25'"),
            ("2026 0", "%Y %I", "at character 6 an hour from 1 to 12 is expected, and there is '0'"),
            ("20261", "%Y%m%d", "at character 5 a month from 1 to 12 is expected, and there is '1'"),
            ("２０２６", "%Y", "at character 1 a year from 0 to 9999 is expected, and there is '２０２６'"),
            ("", "%Y", "at character 1 a year from 0 to 9999 is expected, and there is the end"),
            ("\u{1b}[31m", "%Y", "at character 1 a year from 0 to 9999 is expected, and there is '\\27[31m'"),
        ])
    func place(text: String, pattern: String, expected: String) throws {
        let error = #expect(throws: DateTextError.self) { try self.pattern(pattern).parse(text) }
        #expect(error?.description == expected)
    }

    @Test(
        "patterns that nothing can be parsed by",
        arguments: ["%H:%M", "HH:mm", "%U %Y", "%Q", "%Y%", "yyyy GG", "q yyyy", "yyyy b"])
    func refuse(pattern: String) throws {
        #expect(throws: DatePatternError.self) { try self.pattern(pattern).checkParsing() }
    }

    @Test(
        "what is formatted is parsed again",
        arguments: [
            "yyyy-MM-dd HH:mm:ss XXX", "EEE, d MMM yyyy hh:mm:ss a xx", "D yyyy HH:mm:ss z", "yyyyMMddHHmmssXX",
        ])
    func roundTrip(pattern: String) throws {
        let offset = UTCOffset(seconds: 20700)
        for seconds in stride(from: 0.0, to: 4e9, by: 98_765_431) {
            let date = PropertyListDate(secondsSince1970: seconds)
            let text = try #require(try self.pattern(pattern).text(of: date, offset: offset))
            let parts = try self.pattern(pattern).parse(text)
            #expect(parts.calendar.localSeconds == Int(seconds) + 20700, "\(text)")
            #expect(parts.zone == .offset(20700))
        }
    }

    @Test(
        "offsets by their fields",
        arguments: [
            ("X", "+0545", "Z", "-08"), ("XX", "+0545", "Z", "-0800"), ("XXX", "+05:45", "Z", "-08:00"),
            ("x", "+0545", "+00", "-08"), ("xxx", "+05:45", "+00:00", "-08:00"), ("Z", "+0545", "+0000", "-0800"),
            ("ZZZZ", "GMT+05:45", "GMT", "GMT-08:00"), ("ZZZZZ", "+05:45", "Z", "-08:00"),
        ])
    func offsets(field: String, east: String, utc: String, west: String) throws {
        for (seconds, expected) in [(20700, east), (0, utc), (-28800, west)] {
            let date = PropertyListDate(secondsSince1970: 0)
            #expect(try pattern(field).text(of: date, offset: UTCOffset(seconds: seconds)) == expected)
        }
    }
}
