import PropertyList
import TestSupport
import Testing

/// Each value comes out of a form equal, or is named by its error, or is counted.
@Suite("Property lists account for every value")
struct PropertyListAccountingTests {
    private static func values(_ seed: UInt64) -> [PropertyListValue] {
        var foreign = ForeignValues(seed: seed)
        var values = (0..<Accounting.values).map { _ in foreign.value() }
        values += [
            .date(PropertyListDate(secondsSinceReferenceDate: .nan)),
            .date(PropertyListDate(secondsSinceReferenceDate: -.infinity)), .real(.nan), .real(-.infinity), .real(-0.0),
            .real(Double(nan: 5, signaling: false)), .single(.nan), .single(.infinity), .utf16([0xDC00, 0xD800, 0x61]),
            .dictionary(PropertyListDictionary([(.real(.nan), .integer(1)), (.array([]), .set([])), (.null, .null)])),
            .dictionary(["$entries": .array([.array([.integer(1), .integer(2)])])]), .dictionary(["$$entries": .null]),
            .dictionary(PropertyListDictionary([(.utf16([0xD800]), .integer(1)), (.string("\u{FFFD}"), .integer(2))])),
        ]
        return values
    }

    @Test("in the binary form each comes back")
    func binary() throws {
        let values = Self.values(1)
        let bytes = try PropertyListValue.array(values).encoded(as: .binary)
        #expect(try PropertyListValue(decoding: bytes) == .array(values))
        #expect(try BinaryPropertyListReader(bytes).check().allSatisfy { $0.severity != .error })
    }

    @Test("in JSON each comes back")
    func json() throws {
        let values = Self.values(2)
        let list = try BinaryPropertyListReader(PropertyListValue.array(values).encoded(as: .binary))
        let back = try list.json().withUnsafeBytes { try BinaryPropertyListReader(json: $0).value() }
        #expect(back == .array(values))
    }

    @Test("in XML each comes back but for what XML lacks, which is refused by name or counted")
    func xml() throws {
        var refused = 0
        for value in Self.values(3) {
            let list = try BinaryPropertyListReader(value.encoded(as: .binary))
            do throws(PropertyListError) {
                let (xml, loss) = try list.xmlSayingLoss()
                var fractions = 0
                let expected = Self.inXML(value, &fractions)
                #expect(try PropertyListValue(decoding: xml) == expected)
                #expect(loss.flatMap { Int($0.prefix { $0 != " " }) } ?? 0 == fractions, "\(loss ?? "")")
            } catch {
                refused += 1
                let reason = Self.lack(in: value)
                #expect(reason.map { error.message.contains($0) } ?? false, "\(error.message) for \(value)")
            }
        }
        #expect(refused > 0)
    }

    /// A value without the fractions of dates, single precision and the payloads of not-a-number.
    private static func inXML(_ value: PropertyListValue, _ fractions: inout Int) -> PropertyListValue {
        switch value {
        case .single(let number): return .real(number.isNaN ? .nan : Double("\(number)") ?? Double(number))
        case .real(let number) where number.isNaN: return .real(.nan)
        case .date(let date):
            let whole = date.secondsSinceReferenceDate.rounded(.down)
            if whole != date.secondsSinceReferenceDate { fractions += 1 }
            return .date(PropertyListDate(secondsSinceReferenceDate: whole + 0))
        case .array(let elements): return .array(elements.map { inXML($0, &fractions) })
        case .dictionary(let entries): return .dictionary(entries.mapValues { inXML($0, &fractions) })
        default: return value
        }
    }

    /// What the message names; several of it may be in the value.
    private static func lack(in value: PropertyListValue) -> String? {
        switch value {
        case .null, .set, .utf16, .wideInteger, .date, .dictionary, .array, .string: "XML"
        default: nil
        }
    }

    @Test("in OpenStep's text each comes back")
    func openStep() throws {
        var foreign = ForeignValues(seed: 4)
        var text = "// what GNUstep writes\n(\n"
        var values: [PropertyListValue] = []
        while values.count < Accounting.values {
            let value = Self.inOpenStep(foreign.value())
            values.append(value)
            text += Self.openStep(value) + ",\n"
        }
        #expect(try PropertyListValue(decoding: Array((text + ")").utf8)) == .array(values))
    }

    /// A value of the kinds that the text form has.
    private static func inOpenStep(_ value: PropertyListValue) -> PropertyListValue {
        switch value {
        case .single(let number): return .real(Double(number))
        case .real(let number) where !number.isFinite: return .real(0)
        case .date: return .date(PropertyListDate(secondsSinceReferenceDate: 86_400))
        case .set(let elements), .array(let elements): return .array(elements.map(inOpenStep))
        case .dictionary(let entries):
            return .dictionary(
                PropertyListDictionary(
                    entries.entries.map { key, value in
                        (key.text == nil ? .string(key.keyText) : key, inOpenStep(value))
                    }))
        default: return value
        }
    }

    private static func openStep(_ value: PropertyListValue) -> String {
        switch value {
        case .boolean(let flag): "<*B\(flag ? "Y" : "N")>"
        case .integer(let number): "<*I\(number)>"
        case .wideInteger(let number): "<*I\"\(number)\">"
        case .real(let number): "<*R\(number)>"
        case .date: "<*D2001-01-02 00:00:00 +0000>"
        case .data(let bytes):
            "<" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ") + ">"
        case .string(let text): quoted(Array(text.utf16))
        case .utf16(let units): quoted(units)
        case .array(let elements): "(" + elements.map(openStep).joined(separator: ", ") + ")"
        case .dictionary(let entries):
            "{ /* \(entries.count) */ "
                + entries.entries.map { "\(openStep($0.key)) = \(openStep($0.value));" }.joined() + "}"
        default: "()"
        }
    }

    private static func quoted(_ units: [UInt16]) -> String {
        let escaped = units.map { unit -> String in
            switch unit {
            case 0x22: "\\\""
            case 0x5C: "\\\\"
            case 0x20...0x7E: String(UnicodeScalar(UInt8(unit)))
            default: "\\U" + String(repeating: "0", count: 4 - String(unit, radix: 16).count) + String(unit, radix: 16)
            }
        }
        return "\"\(escaped.joined())\""
    }
}

@Suite("Property lists as others write them")
struct ForeignPropertyListTests {
    private static func read(_ text: String) throws -> PropertyListValue {
        try PropertyListValue(decoding: Array(text.utf8))
    }

    @Test("keys of any kind are kept, and both normalization forms of a key")
    func keys() throws {
        let dictionary = PropertyListDictionary([
            (.integer(1), .string("one")), (.real(1), .string("real")), (.boolean(true), .integer(2)),
            (.date(PropertyListDate(secondsSinceReferenceDate: 0)), .null), (.data([1]), .array([])),
            (.string("é"), .integer(1)), (.string("e\u{301}"), .integer(2)),
        ])
        #expect(dictionary.count == 7 && dictionary.fields == nil && dictionary["é"] == .integer(1))
        let list = try BinaryPropertyListReader(PropertyListValue.dictionary(dictionary).encoded(as: .binary))
        #expect(try list.value() == .dictionary(dictionary))
        #expect(list.check().isEmpty)
        let json = try list.json()
        #expect(String(decoding: json, as: UTF8.self).contains("$entries"))
        #expect(try json.withUnsafeBytes { try BinaryPropertyListReader(json: $0).value() } == .dictionary(dictionary))
        let error = #expect(throws: PropertyListError.self) { try list.xml() }
        #expect(error?.message.contains("only texts as keys, and a dictionary has true") ?? false)
    }

    @Test("of equal keys of XML the last counts, and a finding names its line")
    func equalKeys() throws {
        let text =
            "<plist><dict>\n<key>a</key><integer>1</integer>\n<key>b</key><true/>\n<key>a</key><integer>2</integer></dict></plist>"
        #expect(try Self.read(text) == .dictionary(["a": .integer(2), "b": .boolean(true)]))
        let salvage = try #require(Array(text.utf8).withUnsafeBytes { PropertyListSalvage($0) })
        #expect(salvage.findings.map(\.message) == ["the key “a” stands twice in a dictionary; the last counts"])
        #expect(salvage.findings.first?.line == 1)
    }

    @Test("equal keys of the binary form are findings, and losses of what is written of it")
    func equalBinaryKeys() throws {
        let writer = BinaryPropertyListWriter()
        let (number, references) = writer.dictionary(count: 2)
        for index in 0..<2 {
            writer.setReference(index, in: references, to: writer.string("a"))
            writer.setReference(2 + index, in: references, to: writer.integer(Int64(index)))
        }
        let bytes = try writer.finish(topObject: number)
        var findings: [PropertyListFinding] = []
        #expect(try PropertyListValue(decoding: bytes, findings: &findings) == .dictionary(["a": .integer(0)]))
        #expect(findings.map(\.message) == ["the key “a” stands twice in a dictionary; the first counts"])
        let reader = try BinaryPropertyListReader(bytes)
        let loss = "1 key more than once in a dictionary, the first \"a\": the first value counts"
        #expect(try (reader.xmlSayingLoss().loss, reader.jsonSayingLoss().loss) == (loss, loss))
    }

    @Test("base64 that is none throughout is said, and refused where nothing of it is")
    func base64() throws {
        #expect(try Self.read("<plist><data>AQ=!I=</data></plist>") == .data([1]))
        let text = "<plist>\n<array><data>AQID</data>\n<data>AQ?ID</data></array></plist>"
        let salvage = try #require(Array(text.utf8).withUnsafeBytes { PropertyListSalvage($0) })
        #expect(salvage.findings.map(\.message) == ["the data is not Base64 throughout; it reads as 3 bytes"])
        #expect(salvage.findings.first?.line == 3)
        #expect(throws: PropertyListError.self) { try Self.read("<plist><data>???</data></plist>") }
    }

    @Test(
        "what stands before the root hides none",
        arguments: [
            "<!-- a < b -->\n<plist/>", "<?xml version=\"1.0\"?><!-- <plist> --><?x <y> ?><plist/>",
            "\u{FEFF}<!-- << -->\n<!-- < --> <!DOCTYPE plist SYSTEM \"a>b\"><plist/>",
            "<!-- " + String(repeating: "<x> ", count: 4000) + "-->\n<plist/>",
        ])
    func prologue(_ text: String) throws {
        #expect(Array(text.utf8).withUnsafeBytes { PropertyListFormat.isBeginning(of: $0) })
        if text.utf8.count > 4096 {
            #expect(Array(text.utf8.prefix(2048)).withUnsafeBytes { PropertyListFormat.isBeginning(of: $0) })
        }
        #expect(try Self.read(text.replacing("<plist/>", with: "<plist><true/></plist>")) == .boolean(true))
        let wide: [UInt8] =
            [0xFF, 0xFE]
            + text.replacing("\u{FEFF}", with: "").utf16.flatMap { unit -> [UInt8] in
                [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)]
            }
        #expect(wide.withUnsafeBytes { PropertyListFormat.isBeginning(of: $0) })
    }

    @Test(
        "other markup is none", arguments: ["<html/>", "<!-- plist --><svg/>", "<?php echo 1", "<", "{}", "", "a < b"])
    func otherMarkup(_ text: String) {
        #expect(!Array(text.utf8).withUnsafeBytes { PropertyListFormat.isBeginning(of: $0) } || text == "<")
    }

    @Test(
        "OpenStep's text form and .strings files",
        arguments: [
            (
                "{ a = b; \"c d\" = (1, 'x', <0f a0>); }",
                ["a": .string("b"), "c d": .array([.string("1"), .string("x"), .data([0x0F, 0xA0])])]
            ),
            (
                "/* title */\n\"Hello\" = \"Hall\\U00f6chen\\n\";\nBye = \"Tsch\\374\\303\";\nsame;",
                [
                    "Hello": .string("Hallöchen\n"), "Bye": .string("Tsch\u{FE}\u{2C6}"), "same": .string("same"),
                ]
            ),
            ("{a=1;a=2}", ["a": .string("2")]), ("{}", [:]),
            ("{ n = <*I5>; d = <[AQI=]>; }", ["n": .integer(5), "d": .data([1, 2])]),
        ] as [(String, PropertyListDictionary)])
    func openStep(_ text: String, _ expected: PropertyListDictionary) throws {
        #expect(try Self.read(text) == .dictionary(expected))
        for highFirst in [true, false] {
            for mark in [[], [UInt16(0xFEFF)]] {
                let wide = (mark + Array(text.utf16)).flatMap { unit -> [UInt8] in
                    let pair = [UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit)]
                    return highFirst ? pair : pair.reversed()
                }
                #expect(try PropertyListValue(decoding: wide) == .dictionary(expected))
            }
        }
    }

    @Test(
        "what is not one is refused, where it begins like one with line and column",
        arguments: [
            ("{\n  \"a\": 1 }", 2, "column 6"), ("(1, 2", 1, "column 6"), ("a = 1;\nb 2", 2, "column 3"),
            ("{ a = \"x; }", 1, "column 7"), ("{ a = <0g>; }", 1, "column 9"), ("{ a = <*Q1>; }", 1, "column 7"),
        ])
    func refused(_ text: String, _ line: Int, _ column: String) {
        let error = #expect(throws: PropertyListError.self) { try Self.read(text) }
        #expect(error?.line == line && error?.message.contains(column) ?? false, "\(error?.description ?? "")")
    }

    @Test(
        "other texts are none",
        arguments: ["hello", "hello world", "\"hello\"", "1234", "a,b\n1,2", "# x = 1", "", "// a"])
    func noPropertyList(_ text: String) {
        let error = #expect(throws: PropertyListError.self) { try Self.read(text) }
        #expect(error?.message == "this is neither a binary nor an XML property list")
    }

    @Test(
        "dates of any year are kept by XML",
        arguments: [
            ("0001-01-01", -63_113_904_000.0), ("40000-01-01", 1.199_145_600e12), ("-3000-01-01", -157_783_593_600),
        ])
    func years(_ day: String, _ seconds: Double) throws {
        let value = try Self.read("<plist><date>\(day)T00:00:00Z</date></plist>")
        guard case .date(let date) = value else {
            Issue.record("no date")
            return
        }
        #expect(date.xmlText == "\(day)T00:00:00Z")
        #expect(try PropertyListValue(decoding: value.encoded(as: .xml)) == value)
    }
}
