import PropertyList
import TestSupport
import Testing

@Suite("JSON for other programs")
struct JSONTests {
    @Test(
        "texts and the values that they stand for",
        arguments: [
            ("1.0", .integer(1)), ("1E5", .integer(100_000)), ("-0", .real(-0.0)), ("-0.5e-1", .real(-0.05)),
            ("9223372036854775807", .integer(.max)), ("9223372036854775808", .wideInteger(9_223_372_036_854_775_808)),
            ("\u{FEFF}[1]", .array([.integer(1)])), (" [ ] ", .array([])), ("{}", .dictionary([:])),
            (#"{"a":1,"a":2}"#, .dictionary(["a": .integer(2)])), (#""\ud83d\ude00\b\f\/""#, .string("😀\u{8}\u{c}/")),
            (#"{"$date":1}"#, .dictionary(["$date": .integer(1)])), ("null", .null), ("true", .boolean(true)),
        ] as [(String, PropertyListValue)])
    func reading(_ text: String, _ value: PropertyListValue) throws {
        #expect(try PropertyListValue(json: Array(text.utf8)) == value)
    }

    @Test(
        "texts that are none",
        arguments: [
            "", " ", "[1.]", ".5", "1e", "1e+", "-", "+1", "01", "[1,]", "[,]", "{\"a\":1,}", "{1:2}", "[NaN]", "1e400",
            "\"a\tb\"", "\"\\x\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "nul", "[1] 2", "/*c*/1", "1-1", "1.2.3",
            String(repeating: "[", count: 600),
        ])
    func refusing(_ text: String) {
        #expect(throws: JSONError.self) { try PropertyListValue(json: Array(text.utf8)) }
    }

    @Test("what is written: keys in order, numbers as short as they are, data in Base64")
    func writing() throws {
        let value = PropertyListValue.dictionary([
            "b": .real(1), "a": .array([.null, .boolean(true), .real(1e300), .real(-0.0)]), "A": .data([1, 2, 3, 4]),
            "e": .string("/\"\\\u{8}\n\u{1}é"), "d": .array([]),
        ])
        let text = String(decoding: try value.json(), as: UTF8.self)
        #expect(
            text == #"{"A":"AQIDBA==","a":[null,true,1e+300,-0.0],"b":1,"d":[],"e":"/\"\\\b\n\u0001é"}"#)
        #expect(
            String(
                decoding: try PropertyListValue.array([.array([]), .dictionary(["k": .integer(1)])]).json(
                    isPretty: true), as: UTF8.self)
                == "[\n  [\n\n  ],\n  {\n    \"k\" : 1\n  }\n]")
        #expect(throws: JSONError.self) { try PropertyListValue.array([.real(.infinity)]).json() }
    }

    @Test("what is written reads back")
    func roundTrip() throws {
        let value = PropertyListValue.array(
            (0..<2000).map { .dictionary(["k\($0)": .string("v\($0)"), "n": .real(Double($0) + 0.5)]) })
        #expect(try PropertyListValue(json: value.json()) == value)
        #expect(try PropertyListValue(json: value.json(isPretty: true)) == value)
    }
}

/// The writer's ways for many texts and numbers, which are those for one.
@Suite("JSON of many texts and numbers")
struct JSONTextTests {
    @Test("a byte that has to be escaped is found at every place, among all others")
    func escapes() throws {
        for byte in UInt8.min...0x7F {
            for place in 0..<20 {
                var bytes = Array("äbcdefghijklmnopqrst".utf8.prefix(20))
                bytes[place < 2 ? 2 : place] = byte
                let text = String(decoding: bytes, as: UTF8.self)
                let isEscaped = byte < 0x20 || byte == 0x7F || byte == 0x22 || byte == 0x5C
                let quoted = JSONText.quoted(text)
                #expect((quoted.utf8.count > text.utf8.count + 2) == isEscaped)
                #expect(try PropertyListValue(json: Array(quoted.utf8)) == .string(text))
            }
        }
    }

    @Test("a real's text is its description")
    func reals() {
        var generator = TestGenerator(seed: 11)
        var values: [Double] = [0, -0.0, 0.001, 0.0005, 1e12, 999_999_999.999, 5.875, 13, -0.5, 0.1 + 0.2, 1e-5, .pi]
        for _ in 0..<20_000 {
            values.append(Double(generator.number(2_000_000_000) - 1_000_000_000) / 1000)
            values.append(Double(bitPattern: generator.next()))
        }
        for value in values where value.isFinite {
            var bytes: [UInt8] = []
            value.appendShortest(to: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == value.description)
        }
    }
}
