import PropertyList
import TestSupport
import Testing

@testable import Items

/// Which texts are the only ones for their value in a style, and which values they are.
@Suite("Canonical styles of texts")
struct CanonicalStyleTests {
    private func style(_ text: String) -> CanonicalStyle {
        Array(text.utf8).withUnsafeBufferPointer { CanonicalStyle.of($0) }
    }

    private func kind(_ texts: [String]) -> ItemFieldKind {
        texts.reduce(CanonicalStyle.all) { $0.intersection(style($1)) }.kind
    }

    @Test(
        "a column has a kind when its texts are in one style",
        arguments: [
            (["1906", "-3", "0"], .integer), (["9223372036854775807", "-9223372036854775808"], .integer),
            (["9223372036854775808"], .string), (["007"], .string), (["+7"], .string), (["-0"], .string),
            (["1 000"], .string), (["1e5"], .string), (["0x10"], .string), (["٣"], .string), (["", "1"], .string),
            (["5.875", "13.0"], .real), (["5.875", "13"], .real), (["0", "13.0", "0.5"], .real),
            (["0", "0.0"], .string), (["13", "13.0"], .string), (["2006.10"], .string), (["13.00"], .string),
            (["0.0", "13.0"], .real), (["-0.0"], .string), (["-0.5"], .real), ([".5"], .string), (["5."], .string),
            (["1.2.3"], .string), (["-"], .string), (["1234567890.12345"], .real),
            (["0.1234567890123456"], .real), (["0.12345678901234567890"], .string), (["nan"], .string),
            (["true", "false"], .boolean), (["True"], .string), (["true", "1"], .string), (["f"], .string),
            (["1906-10-17", "2000-02-29"], .date), (["1906-10-17", "2001-02-29"], .string),
            (["0000-01-01"], .string), (["1906-10-17", "1906-10-17T00:00:00Z"], .string),
            (["2001-02-03T04:05:06Z", "2001-02-03T04:05:06.25Z"], .date), (["2001-02-03T04:05:06.250Z"], .string),
            (["2001-02-03T04:05:60Z"], .string), (["2001-02-03T24:00:00Z"], .string),
            (["2001-02-03T04:05:06.1234Z"], .date), (["2001-02-03T04:05:06.12345678901Z"], .string),
            (["2001-02-03T04:05:06.12340Z"], .string), (["+010000-01-01T00:00:00Z", "2001-02-03T04:05:06Z"], .date),
            (["+002001-01-01T00:00:00Z"], .string), (["-003000-01-23T00:00:00.5Z"], .date),
            (["2001-02-03T04:05:06+00:00"], .string),
            (["2001-2-3"], .string), (["20010203"], .integer), (["1996-1997"], .string), (["c. 1860"], .string),
        ] as [([String], ItemFieldKind)])
    func kinds(_ texts: [String], _ expected: ItemFieldKind) {
        #expect(kind(texts) == expected)
    }

    /// The reason for the styles: an archive number is told from another by its zeros.
    @Test("different texts of one style are different values")
    func distinctValues() throws {
        var generator = TestGenerator(seed: 7)
        var texts: Set<String> = []
        let digits = Array("0012359")
        for _ in 0..<60_000 {
            var text = generator.number(5) == 0 ? "-" : ""
            for _ in 0...generator.number(4) { text.append(digits[generator.number(digits.count)]) }
            if generator.number(3) > 0 {
                text += "."
                for _ in 0...generator.number(3) { text.append(digits[generator.number(digits.count)]) }
            }
            texts.insert(text)
        }
        for one: CanonicalStyle in [.integer, .decimal, .float, .floatWithBareZero] {
            var values: [PropertyListValue: String] = [:]
            for text in texts where style(text).contains(one) {
                let value = try Array(text.utf8).withUnsafeBufferPointer { try FileText.value($0, one.kind, "f") }
                if let other = values.updateValue(text, forKey: value) { Issue.record("\(other) and \(text)") }
            }
            #expect(values.count > 200)
        }
    }

    @Test(
        "reals are those of Swift's own reading",
        arguments: [
            "0.1", "5.875", "123456789012345", "-0.000000000001", "1e300", "0.30000000000000004", "9007199254740993",
        ])
    func reals(_ text: String) {
        #expect(Array(text.utf8).withUnsafeBufferPointer { FileText.real($0) } == Double(text))
    }

    @Test(
        "dates come back as they were written",
        arguments: [
            "0001-01-01T00:00:00Z", "1899-12-31T23:59:59.999Z", "1970-01-01T00:00:00.001Z", "2000-12-31T23:59:59.9Z",
            "9999-12-31T23:59:59Z", "0000-12-30T00:00:00Z", "2026-11-25T20:33:03.8238597Z",
        ])
    func dates(_ text: String) throws {
        let date = try #require(Array(text.utf8).withUnsafeBufferPointer { FileText.date($0) })
        #expect(date.exchangeText == text)
        #expect(date == ISO8601.parse(text))
    }

    @Test("a part of a millisecond is written, too")
    func digits() {
        func text(_ seconds: Double) -> String { PropertyListDate(secondsSinceReferenceDate: seconds).exchangeText }
        #expect(text(0.99951) == "2001-01-01T00:00:00.99951Z")
        #expect(text(-0.0004) == "2000-12-31T23:59:59.9996Z")
        #expect(text(-0.5) == "2000-12-31T23:59:59.5Z")
        #expect(text(1e300) == PropertyListDate(secondsSinceReferenceDate: 1e300).text)
    }
}
