import TestSupport
import Testing

@testable import PropertyList

/// The digits of moments: in texts, in formats, and read back.
@Suite("Moments in digits")
struct MomentTests {
    private static let moments: [(seconds: Double, text: String, exchange: String)] = [
        (0.9999, "2001-01-01 00:00:00.9999 +0000", "2001-01-01T00:00:00.9999Z"),
        (817_331_983.823_859_7, "2026-11-25 20:39:43.8238597 +0000", "2026-11-25T20:39:43.8238597Z"),
        (-0.0004, "2000-12-31 23:59:59.9996 +0000", "2000-12-31T23:59:59.9996Z"),
        (-0.25, "2000-12-31 23:59:59.75 +0000", "2000-12-31T23:59:59.75Z"),
        (1e-9, "2001-01-01 00:00:00.000000001 +0000", "2001-01-01T00:00:00.000000001Z"),
        (-978_307_200.5, "1969-12-31 23:59:59.5 +0000", "1969-12-31T23:59:59.5Z"),
        (-63_114_076_800, "0000-12-30 00:00:00 +0000", "0000-12-30T00:00:00Z"),
        (-63_113_904_000, "0001-01-01 00:00:00 +0000", "0001-01-01T00:00:00Z"),
        (252_423_993_599.5, "9999-12-31 23:59:59.5 +0000", "9999-12-31T23:59:59.5Z"),
        (252_423_993_600, "10000-01-01 00:00:00 +0000", "+010000-01-01T00:00:00Z"),
        (1_199_132_553_600, "40000-01-01 00:00:00 +0000", "+040000-01-01T00:00:00Z"),
        (-157_814_438_400, "-3000-01-23 00:00:00 +0000", "-003000-01-23T00:00:00Z"),
        (1e15, "1000000000000000.0 seconds since 2001", "1000000000000000.0 seconds since 2001"),
    ]

    @Test("texts of moments in any year, which read back", arguments: moments)
    func texts(_ seconds: Double, _ text: String, _ exchange: String) {
        let date = PropertyListDate(secondsSinceReferenceDate: seconds)
        #expect(date.text == text)
        #expect(date.exchangeText == exchange)
        #expect(ISO8601.parse(text) == date)
        #expect(ISO8601.parse(exchange) == date)
        #expect(
            CalendarDate(date).map { $0.year } == (seconds == 1e15 ? nil : Int(text.prefix { $0 != " " }.dropLast(6))))
    }

    @Test("what is not a moment has a text, which is not read")
    func noMoments() {
        let nan = PropertyListDate(secondsSinceReferenceDate: .nan)
        #expect(nan.text == "nan seconds since 2001")
        #expect(nan.exchangeText == nan.text)
        #expect(ISO8601.parse(nan.text) == nil)
    }

    @Test(
        "digits that no date has, and seconds that no day has, are no date",
        arguments: [
            "2024-01-31T10:00:00.123456789Z", "9999-12-31T23:59:59.999999999Z", "2016-06-15T12:30:60Z",
            "2016-12-31T23:59:60+01:00",
        ])
    func surplusDigits(text: String) throws {
        #expect(ISO8601.parse(text) == nil)
        #expect(ISO8601.hasSurplusDigits(text) == text.contains("."))
        let json = Array("{\"$date\":\"\(text)\"}".utf8)
        var isRefused = false
        do {
            _ = try json.withUnsafeBytes { bytes throws(PropertyListError) in
                try BinaryPropertyListReader(json: bytes)
            }
        } catch { isRefused = true }
        #expect(isRefused)
    }

    @Test("a number of a clock and its text are the same moment, and the number comes back")
    func clocks() throws {
        for milliseconds in [1, 123, 250, 333, 500, 999] {
            let seconds = Double(1_764_113_426) + Double(milliseconds) / 1000
            let date = PropertyListDate(secondsSince1970: seconds)
            let digits = String(String(milliseconds + 1000).dropFirst())
            #expect(date == ISO8601.parse("2025-11-25T23:30:26.\(digits)Z"))
            #expect(date.secondsSince1970 == seconds)
        }
    }

    @Test("the fraction in formats is cut, of a moment that is rounded to the microsecond")
    func fractions() throws {
        func text(_ seconds: Double, _ pattern: String) throws -> String? {
            try DatePattern(pattern).text(of: PropertyListDate(secondsSinceReferenceDate: seconds))
        }
        #expect(try text(0.9999, "ss.S SS SSS SSSSSS SSSSSSSS") == "00.9 99 999 999900 99990000")
        #expect(try text(0.999_999_96, "yyyy ss.SSS") == "2001 01.000")
        #expect(try text(-0.000_000_04, "yyyy ss.SSS") == "2001 00.000")
        #expect(try text(-0.000_000_04, "yyyy ss.SSSSSSSS") == "2000 59.99999996")
        #expect(try text(817_331_983.823_859_7, "ss.SSS SSSSSS") == "43.823 823860")
        #expect(try text(817_331_983.823_859_7, "ss.SSSSSSS") == "43.8238597")
    }
}

/// Each moment's digits, by the integers of which it was made.
@Suite("Dates in formats account for their digits")
struct DateFormatAccountingTests {
    @Test("each millisecond has its digits, in any year, made of a text and of a number")
    func milliseconds() throws {
        let pattern = try DatePattern("ss SSS")
        var values = ForeignValues(seed: 35)
        var wrong: [String] = []
        for _ in 0..<Accounting.values {
            let whole = values.random.number(8_000_000_000) - 4_000_000_000
            let count = values.random.number(1000)
            let digits = String(String(count + 1000).dropFirst())
            let expected = String(String((whole % 60 + 60) % 60 + 100).dropFirst()) + " " + digits
            for date in [
                PropertyListDate(secondsSince1970: whole, fraction: digits),
                PropertyListDate(secondsSince1970: Double(whole) + Double(count) / 1000),
                PropertyListDate(
                    secondsSinceReferenceDate: Double(whole) - PropertyListDate.unixEpochOffset + Double(count) / 1000),
            ] {
                let text = pattern.text(of: date)
                if text != expected { wrong.append("\(whole).\(digits): \(text ?? "nil")") }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(3))")
    }

    @Test("text, JSON, the property list's JSON and formats have the same digits, and read back as the same moment")
    func sameDigits() throws {
        let pattern = try DatePattern("SSSSSSSSSSSSSSSSSSSSSSSSS")
        var values = ForeignValues(seed: 36)
        var (readBack, beyond) = (0, 0)
        for _ in 0..<Accounting.values {
            let date = PropertyListDate(secondsSinceReferenceDate: values.seconds())
            #expect(ISO8601.parse(date.text) == date)
            #expect(ISO8601.parse(date.exchangeText) == date)
            guard let parts = date.parts else {
                beyond += 1
                continue
            }
            let binary = try PropertyListValue.date(date).encoded(as: .binary)
            let json = try BinaryPropertyListReader(binary).json()
            let again = try json.withUnsafeBytes { bytes throws(PropertyListError) in
                try BinaryPropertyListReader(json: bytes)
            }
            #expect(try again.value(at: again.topObject) == .date(date))
            let fraction = parts.fraction.isEmpty ? "" : ".\(parts.fraction)"
            #expect(date.text.contains("\(fraction) +0000"))
            #expect(date.exchangeText.hasSuffix("\(fraction)Z"))
            #expect(String(decoding: json, as: UTF8.self).contains(date.exchangeText))
            let digits = parts.fraction.prefix(25)
            #expect(pattern.text(of: date) == digits + String(repeating: "0", count: 25 - digits.count))
            readBack += 1
        }
        #expect(readBack + beyond == Accounting.values)
    }
}
