import TestSupport
import Testing

@testable import PropertyList

/// Of a number's text all digits are read, or none.
@Suite("Decimal texts")
struct DecimalTextTests {
    private func read<Result>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var text = text
        return text.withUTF8(body)
    }

    @Test(
        "a whole number is one by its digits, whatever its form",
        arguments: [
            ("12", 12), ("-12.00", -12), ("+5", 5), ("5.", 5), ("007", 7), ("1.5e1", 15), ("120e-1", 12), ("0e-400", 0),
            ("-0.0", nil), ("-0", nil), ("-0e5", nil), ("9007199254740993.0", 9_007_199_254_740_993),
            ("18446744073709551616", 1 << 64),
            ("-170141183460469231731687303715884105728", Int128.min),
            ("1e38", 100_000_000_000_000_000_000_000_000_000_000_000_000),
            ("0.99999999999999999", nil),
            ("170141183460469231731687303715884105728", nil), ("1e-400", nil), ("1e400", nil), ("1.5", nil),
            ("9007199254740993.5", nil), ("", nil), ("-", nil), (".", nil), ("e5", nil), ("1e", nil), ("1.2.3", nil),
            ("1-2", nil), ("0x10", nil), ("1e99999999999999999999", nil), ("inf", nil),
        ] as [(String, Int128?)])
    func whole(text: String, expected: Int128?) {
        #expect(read(text, DecimalText.whole) == expected)
    }

    @Test("of random digits with a point or an exponent somewhere none is lost")
    func randomWholes() {
        var random = TestGenerator(seed: 41)
        for _ in 0..<2000 {
            let digits = (0..<1 + random.number(36)).map { _ in String(random.number(10)) }.joined()
            let value = Int128(digits)
            let point = random.number(digits.count + 1)
            let shifted = "\(digits.prefix(point).isEmpty ? "0" : digits.prefix(point)).\(digits.dropFirst(point))0"
            for text in [digits, "\(digits).000", "\(digits)e0", "\(shifted)e\(digits.count - point)"] {
                #expect(read(text, DecimalText.whole) == value, "\(text)")
            }
            #expect(read("\(digits).0001", DecimalText.whole) == nil)
            let real = Double(digits) ?? 0
            let isExact = real.magnitude < 0x1p53 || Int128(exactly: real) == value
            #expect(read(digits) { DecimalText.hasWholeDigits(real, of: $0) } == isExact, "\(digits)")
            // With an exponent they are those of a real that has them, and no others.
            let isOwn = isExact || read("\(real)", DecimalText.whole) == value
            #expect(read("\(digits)e0") { DecimalText.hasWholeDigits(real, of: $0) } == isOwn, "\(digits)e0")
        }
    }

    @Test(
        "a number beyond the reals is not one",
        arguments: [
            ("1e-400", nil as Double?), ("-0.001e-400", nil), ("1e400", nil), ("-1e400", nil), ("0e-400", 0),
            ("0.000e400", 0), ("5e-324", .leastNonzeroMagnitude), ("1.7976931348623157e308", .greatestFiniteMagnitude),
            ("inf", nil), ("nan", nil), ("0x1p3", nil), ("12.5", 12.5), ("", nil),
            ("12345678901234567890", 12_345_678_901_234_567_168),
        ] as [(String, Double?)])
    func beyond(text: String, expected: Double?) {
        #expect(Double(decimal: text) == expected)
        #expect(read(text, DecimalText.real) == expected)
    }

    @Test(
        "a real has all digits of its own text, and of a whole number that it is",
        arguments: [
            ("0.1", true), ("1.50", true), ("-3e2", true), ("1e23", true), ("9007199254740992", true), ("0.0", true),
            ("12345678901234567168", true), ("1.2345678901234567e19", true), ("9007199254740993.0", false),
            ("0.99999999999999999", false), ("0.1000000000000000055", false),
            (String(repeating: "9", count: 41), false),
        ])
    func allDigits(text: String, expected: Bool) throws {
        let real = try #require(Double(decimal: text))
        #expect(read(text) { DecimalText.hasAllDigits(real, of: $0) } == expected)
    }
}
