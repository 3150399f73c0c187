import Foundation
import PropertyList
import TestSupport
import Testing

/// Each JSON number comes out as the number that it is, or is refused by name; each value comes back from its JSON.
@Suite("JSON accounts for its values")
struct JSONAccountingTests {
    @Test(
        "numbers at the edges: exact, or refused by name",
        arguments: [
            ("18446744073709551615", "18446744073709551615"), ("1234567890123456789012", "1234567890123456789012"),
            ("-9223372036854775809", "-9223372036854775809"),
            ("170141183460469231731687303715884105727", "170141183460469231731687303715884105727"),
            ("170141183460469231731687303715884105728", nil), ("-0.0", "-0.0"), ("1e400", nil), ("-1e400", nil),
            ("1e-400", nil), ("0e-400", "0"), ("5e-324", "5e-324"), ("0.1000000000000000055", "0.1"), ("NaN", nil),
            ("Infinity", nil), ("-Infinity", nil), ("675127116845989888", "675127116845989888"),
            ("9007199254740993.0", "9007199254740993"), ("-9007199254740993.00", "-9007199254740993"),
            ("9007199254740993e0", "9007199254740993"), ("9.007199254740993E15", "9007199254740993"),
            ("12345678901234567891.0", "12345678901234567891"), ("9007199254740993.5", nil),
            ("0.99999999999999999", "1"), ("1e100", "1e+100"), ("1e23", "1e+23"), ("1e18", "1000000000000000000"),
            ("9.9999999999999992e+22", "1e+23"), ("1.2345678901234567e+18", "1.2345678901234568e+18"),
        ])
    func edges(_ text: String, _ expected: String?) throws {
        do throws(JSONError) {
            let written = try PropertyListValue(json: Array("[\(text)]".utf8)).json()
            #expect(String(decoding: written, as: UTF8.self) == "[\(expected ?? "refused")]")
        } catch {
            #expect(expected == nil && error.message.contains(text), "\(error)")
            #expect((error.line, error.column) == (1, 2))
        }
    }

    @Test("of equal keys the last counts, and they are counted")
    func repeatedKeys() throws {
        var repeated = RepeatedKeys()
        let text = #"{"b":{"a":1,"a":2,"a":3},"c":1,"c":2}"#
        let value = try PropertyListValue(json: Array(text.utf8), repeated: &repeated)
        #expect(value == .dictionary(["b": .dictionary(["a": .integer(3)]), "c": .integer(2)]))
        #expect((repeated.count, repeated.first) == (3, "a"))
    }

    @Test(
        "what a property list's JSON does not stand for exactly is refused",
        arguments: [
            #"{"$date":"2023-02-29T00:00:00Z"}"#, #"{"$date":"2024-01-01T25:00:00Z"}"#, #"{"$date":"1e400"}"#,
            #"{"$date":9007199254740993}"#, #"{"$data":"!!!"}"#, #"{"$data":"AA== x"}"#, #"{"$data":"AA==AA=="}"#,
            #"{"$data":"AB=="}"#, #"{"$data":"AAAA-_"}"#, #"{"$float":1e300}"#, #"{"$float":1e-60}"#,
            #"{"$float":16777217}"#, #"{"$float":0.123456789}"#, #"{"$float":"1e400"}"#, #"{"$real":"1e400"}"#,
            #"{"$real":9007199254740993}"#, #"{"$real":9007199254740993.0}"#, "9007199254740993.0",
            #"{"$entries":[[1,2],[1,3]]}"#, #"{"$entries":[["a",2],["a",3]]}"#, #"{"$entries":[[1.5,2],[1.5,3]]}"#,
        ])
    func inexactTags(_ text: String) {
        #expect(throws: PropertyListError.self) {
            try Array(text.utf8).withUnsafeBytes { try BinaryPropertyListReader(json: $0) }
        }
    }

    @Test(
        "what it stands for exactly is read",
        arguments: [
            (#"{"$data":"AA= =\n"}"#, .data([0])), (#"{"$float":0.1}"#, .single(0.1)),
            (#"{"$float":"-inf"}"#, .single(-.infinity)),
            (#"{"$float":16777216}"#, .single(16_777_216)), (#"{"$real":5}"#, .real(5)), ("1e23", .real(1e23)),
            ("1e18", .real(1e18)), ("1.0", .real(1)),
            (
                #"{"$entries":[[1,2],[1.0,3]]}"#,
                .dictionary(PropertyListDictionary([(.integer(1), .integer(2)), (.real(1), .integer(3))]))
            ),
        ] as [(String, PropertyListValue)])
    func exactTags(_ text: String, _ value: PropertyListValue) throws {
        #expect(try Array(text.utf8).withUnsafeBytes { try BinaryPropertyListReader(json: $0).value() } == value)
    }

    @Test(
        "a whole number with an exponent has all of its digits; -0 is a real",
        arguments: [
            ("123456789012345678e3", .wideInteger(123_456_789_012_345_678_000)),
            ("9007199254740993e1", .integer(90_071_992_547_409_930)),
            ("9007199254740993e3", .integer(9_007_199_254_740_993_000)), ("1e3", .integer(1000)), ("1e23", .real(1e23)),
            ("1.5e300", .real(1.5e300)), ("-0", .real(-0.0)), ("-0.0", .real(-0.0)), ("0", .integer(0)),
            ("1234567890123456789012.5e1", .wideInteger(12_345_678_901_234_567_890_125)),
        ] as [(String, PropertyListValue)])
    func exponents(_ text: String, _ value: PropertyListValue) throws {
        #expect(try PropertyListValue(json: Array(text.utf8)) == value)
        #expect(try PropertyListValue(json: Array(text.utf8)).json().first == value.json().first)
        // A tagged text has reals alone in this notation, and no digits that are not theirs.
        guard case .wideInteger = value else { return }
        #expect(throws: (any Error).self) {
            try Array(text.utf8).withUnsafeBytes { try BinaryPropertyListReader(json: $0) }
        }
    }

    @Test("what has no JSON is refused with its path")
    func path() {
        let value = PropertyListValue.dictionary(["a": .array([.integer(1), .dictionary(["b": .real(.nan)])])])
        #expect(throws: JSONError.self) { try value.json() }
        do { _ = try value.json() } catch { #expect(error.message == ".a[2].b: JSON has no nan") }
    }

    /// Reads lines of JSON and writes each number as Python has it.
    private static let judge = """
        import json, sys
        for line in sys.stdin:
            value = json.loads(line)
            print("float " + value.hex() if isinstance(value, float) else "int %d" % value)
        """

    @Test("numbers are those of Python's reader")
    func numbers() throws {
        var values = ForeignValues(seed: 37)
        var texts: [String] = []
        for _ in 0..<Accounting.values {
            switch values.random.number(4) {
            case 0: texts.append(values.integer().description)
            case 1: texts.append("\(values.real())")
            case 2: texts.append("\(values.integer()).\(values.random.number(1_000_000))")
            default: texts.append("\(values.random.number(1000))e\(values.random.number(500) - 250)")
            }
        }
        let judged = try run("python3", ["-c", Self.judge], input: texts.joined(separator: "\n")).stdout
        let lines = judged.split(separator: "\n")
        try #require(lines.count == texts.count)
        for (text, line) in zip(texts, lines) {
            let words = line.split(separator: " ")
            guard let number = try? PropertyListValue(json: Array(text.utf8)) else {
                #expect(text.contains(".") && abs(Double(text) ?? 0) >= 0x1p53, "\(text)")
                continue
            }
            switch number {
            case .integer(let value):
                #expect(words[0] == "int" ? words[1] == "\(value)" : Double(words[1]) == Double(value), "\(text)")
            case .wideInteger(let value):
                #expect(words[0] == "int" ? words[1] == "\(value)" : Double(words[1]) == Double(value), "\(text)")
            case .real(let value): #expect(words[0] == "float" && Double(words[1]) == value, "\(text)")
            default: Issue.record("\(text)")
            }
        }
    }

    @Test("each value comes back from its JSON, or is named by an error")
    func roundTrip() throws {
        var values = ForeignValues(seed: 38)
        var (equal, refused) = (0, 0)
        for _ in 0..<Accounting.values {
            let value = values.value()
            do throws(JSONError) {
                let again = try PropertyListValue(json: value.json())
                #expect(Self.plain(again) == Self.plain(value))
                equal += 1
            } catch {
                // Plain JSON has neither other keys than texts nor, when it is read, half of a surrogate pair.
                #expect(
                    ["JSON has no", "only texts as keys", "half of a surrogate pair"].contains {
                        error.message.contains($0)
                    }, "\(error.message)")
                refused += 1
            }
        }
        #expect(equal + refused == Accounting.values && equal > refused)
    }

    /// A value as JSON has it: whole reals are integers, dates are texts, data is Base64.
    private static func plain(_ value: PropertyListValue) -> PropertyListValue {
        switch value {
        case .single(let number): return plain(.real(Double(number)))
        case .real(let number):
            guard number != 0 || number.sign == .plus else { return value }
            return Int64(exactly: number).map { .integer($0) } ?? value
        case .date(let date): return .string(date.exchangeText)
        case .data(let bytes): return .string(Data(bytes).base64EncodedString())
        case .array(let elements): return .array(elements.map(plain))
        case .dictionary(let entries): return .dictionary(entries.mapValues(plain))
        default: return value
        }
    }
}
