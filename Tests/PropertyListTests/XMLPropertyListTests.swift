import Foundation
import PropertyList
import Testing

@Suite("XML property lists")
struct XMLPropertyListTests {
    static func document(_ content: String) -> [UInt8] {
        Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\(content)</plist>\n".utf8)
    }

    static let readable: [(String, PropertyListValue)] = [
        ("<true/>", .boolean(true)), ("<false></false>", .boolean(false)),
        ("<integer>-5</integer>", .integer(-5)), ("<integer> +0x1F </integer>", .integer(31)),
        ("<integer>18446744073709551615</integer>", .wideInteger(Int128(UInt64.max))),
        ("<integer>-9223372036854775808</integer>", .integer(.min)),
        ("<real>1.5e3</real>", .real(1500)), ("<real>-INFINITY</real>", .real(-.infinity)),
        ("<real>-0</real>", .real(-0.0)), ("<real>0e-400</real>", .real(0)),
        ("<real>5e-324</real>", .real(.leastNonzeroMagnitude)),
        ("<string/>", .string("")), ("<string>a&lt;&amp;&#65;&#x1F43B;</string>", .string("a<&A🐻")),
        ("<string><![CDATA[<raw> &]]> text</string>", .string("<raw> & text")),
        ("<string>\u{1B}</string>", .string("\u{1B}")),
        ("<date>2001-01-01T00:00:01Z</date>", .date(PropertyListDate(secondsSinceReferenceDate: 1))),
        ("<date>1970-01-01T00:00:00Z</date>", .date(PropertyListDate(secondsSince1970: 0))),
        ("<date>2024-02-29T12:34:56Z</date>", .date(PropertyListDate(secondsSince1970: 1_709_210_096))),
        ("<data>AQ ID\n/w==</data>", .data([1, 2, 3, 255])), ("<data/>", .data([])),
        ("<array><!-- note --><integer>1</integer><?x y?></array>", .array([.integer(1)])),
        ("<dict><key>a</key><dict/></dict>", .dictionary(["a": .dictionary([:])])),
        ("<dict><key>CF$UID</key><integer>7</integer></dict>", .uid(7)),
        ("<dict><key>CF$UID</key><string>7</string></dict>", .dictionary(["CF$UID": .string("7")])),
        (
            "<dict><key>CF$UID</key><integer>7</integer><key>b</key><true/></dict>",
            .dictionary(["CF$UID": .integer(7), "b": .boolean(true)])
        ),
    ]

    @Test("are read", arguments: readable)
    func read(_ content: String, _ value: PropertyListValue) throws {
        #expect(try PropertyListValue(decoding: Self.document(content)) == value)
    }

    static let refused = [
        "", "<dict><key>a</key></dict>", "<dict><integer>1</integer></dict>", "<array>", "<array></dict>",
        "<string>&nbsp;</string>", "<string>&#xD800;</string>", "<integer>18446744073709551616</integer>",
        "<integer>1.5</integer>", "<integer>--1</integer>", "<integer/>", "<real>abc</real>", "<date>yesterday</date>",
        "<real>1e400</real>", "<real>-1e400</real>", "<real>1e-400</real>", "<real>-0.1e-400</real>",
        "<dict><key>CF$UID</key><integer>-1</integer></dict>",
        "<dict><key>CF$UID</key><integer>4294967296</integer></dict>", "<thing/>", "<true/><true/>", "text",
        "<key>a</key>", "<string>a<b/></string>",
    ]

    @Test("that are none are refused, with the line", arguments: refused)
    func refuse(_ content: String) throws {
        let error = #expect(throws: PropertyListError.self) { try PropertyListValue(decoding: Self.document(content)) }
        #expect(error?.code == .readCorrupt)
        #expect(error?.line != nil)
    }

    @Test("an internal subset and its entities are refused")
    func entities() {
        let text = "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><string>&a;</string></plist>"
        #expect(throws: PropertyListError.self) { try PropertyListValue(decoding: Array(text.utf8)) }
    }

    @Test(
        "a date that no calendar has is another one, as in Apple's reader, and a finding says so with its line",
        arguments: [
            ("2023-02-29T00:00:00Z", "2023-03-01T00:00:00Z"), ("2024-13-01T00:00:00Z", "2025-01-01T00:00:00Z"),
            ("2024-00-10T00:00:00Z", "2023-12-10T00:00:00Z"), ("2024-01-00T00:00:00Z", "2023-12-31T00:00:00Z"),
            ("2024-01-01T25:00:00Z", "2024-01-02T01:00:00Z"), ("2024-01-01T00:60:00Z", "2024-01-01T01:00:00Z"),
            ("2024-01-01T00:00:61Z", "2024-01-01T00:01:01Z"), ("2024-02-29T23:59:59Z", nil),
            ("-0001-12-31T00:00:00Z", nil),
        ] as [(String, String?)])
    func datesOfNoCalendar(_ text: String, _ other: String?) throws {
        var findings: [PropertyListFinding] = []
        let bytes = Self.document("<array>\n<date>\(text)</date></array>")
        guard case .array(let dates) = try PropertyListValue(decoding: bytes, findings: &findings),
            case .date(let date)? = dates.first
        else {
            Issue.record("no date")
            return
        }
        #expect(date.xmlText == other ?? text)
        #expect(
            findings.map(\.message) == (other.map { ["no calendar has the date “\(text)”; it reads as \($0)"] } ?? []))
        #expect(findings.allSatisfy { $0.line == 3 })
    }

    @Test("the characters that XML has come back") func characters() throws {
        let text = PropertyListValue.string("\t\n\r \u{7F}\u{80}\u{FFFD}ï😀")
        #expect(try PropertyListValue(decoding: text.encoded(as: .xml)) == text)
    }

    @Test(
        "the characters that XML does not have come back, as from Apple's files, and the first one is said",
        arguments: [
            (.string("a\u{1}b"), "U+0001, which is in “a\\1b”"), (.string("\u{1F}"), "U+001F"),
            (.string("ï\u{FFFE}"), "U+FFFE"), (.array([.string("a"), .string("\u{FFFF}")]), "U+FFFF"),
            (.dictionary(["a\u{8}": .string("\u{2}")]), "U+0008"),
        ] as [(PropertyListValue, String)])
    func foreignCharacters(_ value: PropertyListValue, _ said: String) throws {
        let (xml, loss) = try BinaryPropertyListReader(value.encoded(as: .binary)).xmlSayingLoss()
        #expect(try PropertyListValue(decoding: xml) == value)
        #expect(loss?.hasPrefix("XML does not have the character \(said)") == true, "\(loss ?? "nothing")")
    }

    @Test("nesting has a limit")
    func depth() {
        let deep = String(repeating: "<array>", count: 600) + String(repeating: "</array>", count: 600)
        #expect(throws: PropertyListError.self) { try PropertyListValue(decoding: Self.document(deep)) }
    }

    @Test("encodings")
    func encodings() throws {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><plist><string>Bär</string></plist>"
        let big: [UInt8] =
            [0xFE, 0xFF] + text.utf16.flatMap { unit -> [UInt8] in [UInt8(unit >> 8), UInt8(unit & 0xFF)] }
        #expect(try PropertyListValue(decoding: big) == .string("Bär"))
        let latin = text.replacingOccurrences(of: "UTF-16", with: "ISO-8859-1").unicodeScalars.map { UInt8($0.value) }
        #expect(try PropertyListValue(decoding: latin) == .string("Bär"))
        let trailing = Self.document("<true/>") + [0]
        #expect(try PropertyListValue(decoding: trailing) == .boolean(true))
    }

    @Test("what is written comes back, and Foundation reads it")
    func write() throws {
        let value = PropertyListValue.dictionary([
            "a<&>": .array([.integer(-1), .real(0.1), .real(-0.0), .boolean(true), .string("x\r\n\t<&>"), .array([])]),
            "b": .data(Array(0..<200)), "c": .date(PropertyListDate(secondsSinceReferenceDate: 5)),
            "d": .wideInteger(Int128(UInt64.max)), "e": .real(.infinity), "f": .dictionary([:]),
        ])
        let bytes = try value.encoded(as: .xml)
        #expect(try PropertyListValue(decoding: bytes) == value)
        let foundation = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any]
        #expect((foundation?["b"] as? Data)?.count == 200)
        #expect((foundation?["a<&>"] as? [Any])?.count == 6)
    }

    @Test("the text is Apple's")
    func text() throws {
        let value = PropertyListValue.dictionary([
            "b": .array([.integer(1)]), "a": .data(Array(repeating: 0, count: 60)),
        ])
        let text = String(decoding: try value.encoded(as: .xml), as: UTF8.self)
        let foundation = try PropertyListSerialization.data(
            fromPropertyList: ["b": [1], "a": Data(count: 60)] as [String: Any], format: .xml, options: 0)
        #expect(text == String(decoding: foundation, as: UTF8.self))
    }

    @Test(
        "null, sets and wild dates cannot be written",
        arguments: [
            PropertyListValue.null, .set([]), .date(PropertyListDate(secondsSinceReferenceDate: 1e15)), .string("\0"),
            .dictionary(["CF$UID": .integer(1)]), .utf16([0xD800]),
            .dictionary(PropertyListDictionary([(.integer(1), .null)])),
            .date(PropertyListDate(secondsSinceReferenceDate: .nan)), .dictionary(["a\0": .integer(1)]),
        ])
    func unwritable(_ value: PropertyListValue) {
        let error = #expect(throws: PropertyListError.self) { try value.encoded(as: .xml) }
        #expect(error?.code == .writeInvalid)
    }

    @Test(
        "of damaged ones, all before the damage is had; what a wrong tag does not close is kept",
        arguments: [
            (
                "<dict><key>a</key><array><string>x</string></dict>",
                PropertyListValue.dictionary(["a": .array([.string("x")])])
            ),
            (
                "<dict><key>a</key><array><string>x</string><true/></dict></array>",
                .dictionary(["a": .array([.string("x"), .boolean(true)])])
            ),
            ("<dict><key>a</key><string>x</string><key>b</key></dict>", .dictionary(["a": .string("x")])),
            ("<array><dict><key>a</key><integer>1</integer></array>", .array([.dictionary(["a": .integer(1)])])),
        ])
    func salvage(_ content: String, _ expected: PropertyListValue) throws {
        let bytes = Self.document(content)
        #expect(throws: PropertyListError.self) { try PropertyListValue(decoding: bytes) }
        let salvage = try #require(bytes.withUnsafeBytes { PropertyListSalvage($0) })
        #expect(salvage.error != nil)
        #expect(try salvage.reader.value() == expected)
    }
}
