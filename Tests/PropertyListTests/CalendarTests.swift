import Foundation
import Testing

@testable import PropertyList

@Suite("The calendar") struct CalendarTests {
    @Test(
        "ISO 8601 in its forms",
        arguments: [
            ("1906-10-17", "1906-10-17 00:00:00 +0000"), ("19061017", "1906-10-17 00:00:00 +0000"),
            ("2026-11", "2026-11-01 00:00:00 +0000"), ("2026", "2026-01-01 00:00:00 +0000"),
            ("2026-325", "2026-11-21 00:00:00 +0000"), ("2026-W47-6", "2026-11-21 00:00:00 +0000"),
            ("2026W476", "2026-11-21 00:00:00 +0000"), ("2026-11-21T04:13:00Z", "2026-11-21 04:13:00 +0000"),
            ("2026-11-21 04:13:00 +0000", "2026-11-21 04:13:00 +0000"),
            ("20261121T041300Z", "2026-11-21 04:13:00 +0000"),
            ("2026-11-21T04:13+02:00", "2026-11-21 02:13:00 +0000"), ("2026-11-21T24:00", "2026-11-22 00:00:00 +0000"),
            ("2000-02-29", "2000-02-29 00:00:00 +0000"), ("0001-01-01", "0001-01-01 00:00:00 +0000"),
        ])
    func parse(text: String, expected: String) {
        #expect(ISO8601.parse(text)?.text == expected)
    }

    @Test(
        "what is not a date",
        arguments: [
            "", "tomorrow", "2026-13-01", "2026-02-29", "1900-02-29", "2026-11-21T25:00", "2026-11-21x", "26-1-1",
            "2026-000",
        ])
    func refuse(text: String) {
        #expect(ISO8601.parse(text) == nil)
    }

    @Test("every day of eight centuries agrees with Foundation's calendar") func days() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        // Foundation's calendar is the Julian one before October 1582.
        for day in stride(from: -141_000, to: 146_000, by: 97) {
            let (year, month, dayOfMonth) = CalendarDate.civil(daysSince1970: day)
            let parts = calendar.dateComponents(
                [.year, .month, .day], from: Date(timeIntervalSince1970: Double(day) * 86400))
            #expect(parts.year == year && parts.month == month && parts.day == dayOfMonth)
            #expect(CalendarDate.daysSince1970(year: year, month: month, day: dayOfMonth) == day)
        }
    }

    @Test(
        "years and months later",
        arguments: [
            ("2026-01-31", 0, 1, "2026-02-28"), ("2024-01-31", 0, 1, "2024-02-29"), ("2024-02-29", 1, 0, "2025-02-28"),
            ("2026-01-31", 0, -1, "2025-12-31"), ("2026-03-15", 0, -15, "2024-12-15"),
            ("2026-12-31", 0, 2, "2027-02-28"),
            ("0001-01-01", -1, -1, "-0001-12-01"), ("2026-06-30", 0, 1200, "2126-06-30"),
        ])
    func add(day: String, years: Int, months: Int, expected: String) throws {
        let start = try #require(ISO8601.parse(day))
        var date = try #require(CalendarDate(start))
        date.add(years: years, months: months)
        let sum = PropertyListDate(secondsSince1970: Double(date.localSeconds))
        #expect(sum.text.hasPrefix(expected + " "))
    }
}
