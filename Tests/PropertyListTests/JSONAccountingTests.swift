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
            switch try PropertyListValue(json: Array(text.utf8)) {
            case .integer(let value):
                #expect(words[0] == "int" ? words[1] == "\(value)" : Double(words[1]) == Double(value), "\(text)")
            case .wideInteger(let value): #expect(line == "int \(value)")
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
