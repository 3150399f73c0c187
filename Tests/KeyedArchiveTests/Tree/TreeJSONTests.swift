import Foundation
import KeyedArchive
import PropertyList
import TestSupport
import Testing

@Suite("Trees as JSON")
struct TreeJSONTests {
    private static func json(_ tree: ArchiveTree, layout: JSONText.Layout = .compact) throws -> String {
        var writer = TreeJSON(tree, layout: layout)
        var json: [UInt8] = []
        try writer.write { json += $0 }
        return String(decoding: json.dropLast(), as: UTF8.self)
    }

    private static func json(_ value: ArchiveValue) throws -> String {
        let graph = ArchiveGraph(root: value)
        defer { graph.dismantle() }
        let text = try json(ArchiveTree(PropertyListStorage(graph.encoded())))
        return String(text.dropFirst(#"{"root":"#.utf8.count).dropLast())
    }

    static var values: [(ArchiveValue, String)] {
        [
            (.date(PropertyListDate(secondsSinceReferenceDate: 0.5)), #"{"$date": "2001-01-01T00:00:00.5Z"}"#),
            (.date(PropertyListDate(secondsSinceReferenceDate: -1)), #"{"$date": "2000-12-31T23:59:59Z"}"#),
            (.value(.uuid(Array(0..<16))), #"{"$class":"NSUUID","$value":"00010203-0405-0607-0809-0A0B0C0D0E0F"}"#),
            (
                .value(.url("b?c#d", base: .url("http://a.org/x/y", base: nil))),
                #"{"$class":"NSURL","$value":"http://a.org/x/b?c#d","$base":"http://a.org/x/y"}"#
            ),
            (.value(.url("a\"b", base: nil)), #"{"$class":"NSURL","$value":"a\"b"}"#),
            (
                .value(.decimal(ArchivedDecimal(mantissa: 1250, exponent: -2, isNegative: true))),
                #"{"$class":"NSDecimalNumber","$value":"-12.50"}"#
            ),
            (.value(.range(location: 5, length: 2)), #"{"$class":"NSValue","$value":"{5, 2}"}"#),
            (.value(.rect(x: 1, y: 2, width: 3, height: 4.5)), #"{"$class":"NSValue","$value":"{{1, 2}, {3, 4.5}}"}"#),
            (.value(.indexPath([1, 2, 3])), #"{"$class":"NSIndexPath","$value":"1.2.3"}"#),
            (.value(.indexSet([0..<3, 7..<8], isMutable: false)), #"{"$class":"NSIndexSet","$value":"{0-2, 7}"}"#),
            (.value(.locale("de_DE")), #"{"$class":"NSLocale","$value":"de_DE"}"#),
            (.value(.timeZone(name: "Europe/Berlin", data: [])), #"{"$class":"NSTimeZone","$value":"Europe/Berlin"}"#),
            (
                .value(.regularExpression(pattern: "\"a\"", options: 1)),
                #"{"$class":"NSRegularExpression","$value":"\"a\"","$options":1}"#
            ),
            (.null, #"{"$class":"NSNull"}"#), (.real(.infinity), #"{"$real": "inf"}"#),
            (.real(.nan), #"{"$real": "nan"}"#),
            (.wideInteger(Int128(UInt64.max)), "18446744073709551615"), (.integer(.min), "-9223372036854775808"),
            (.data([1, 2, 3]), #"{"$data": "AQID"}"#),
        ]
    }

    @Test("Foundation's common classes are readable values", arguments: 0..<18)
    func value(index: Int) throws {
        #expect(try Self.json(Self.values[index].0) == Self.values[index].1)
    }

    @Test("dates and texts that are shared are written again, what has parts has a number")
    func shared() throws {
        let date = ArchiveValue.date(PropertyListDate(secondsSinceReferenceDate: 0))
        let text = ArchiveValue.mutableString(ArchivedMutableString("x"))
        let list = ArchiveValue.collection(ArchivedCollection(elements: [.integer(1)]))
        let json = try Self.json(.collection(ArchivedCollection(elements: [date, date, text, text, list, list])))
        #expect(
            json.hasPrefix(
                #"[{"$date": "2001-01-01T00:00:00Z"},{"$date": "2001-01-01T00:00:00Z"},"x","x",{"$class":"NSArray","$id":"#
            ))
        #expect(json.hasSuffix(#""$elements":[1]},{"$ref": 7}]"#) || json.contains("{\"$ref\": "))
        #expect(json.split(separator: "\"$ref\"").count == 2)
    }

    @Test("an attributed string is its text and its runs")
    func attributedString() throws {
        let entry = try #require(
            ForeignArchives.named("swiftlang_swift-corelibs-foundation__NSAttributedString.archive"))
        let json = try Self.json(ArchiveTree(PropertyListStorage(entry.bytes())))
        #expect(
            json.contains(
                #""$class":"NSAttributedString","$value":"0123456789","$runs":[[0, 1, 0], [1, 1, 1], [2, 4, 2], [6, 2, 1], [8, 1, 3], [9, 1, 0]],"#
            ))
        #expect(
            json.contains(#""NSAttributes":[{},{"$id":6,"Font":"Helvetica","Size":123}"#)
                || json.contains("\"Font\":\"Helvetica\""))
    }

    /// Holds the classes of each JSON against those that plistlib reads, and each reference against what is marked.
    private static let judge = """
        import json, plistlib, sys
        def outside(value): return [value[key] for key in value if key != "$embedded"]
        status = 0
        for pair in zip(sys.argv[1::2], sys.argv[2::2]):
            tree = json.load(open(pair[1]))
            objects = plistlib.load(open(pair[0], "rb"))["$objects"]
            classes = [o for o in objects if isinstance(o, dict) and "$classname" in o]
            names = set(c["$classname"] for c in classes)
            def seen(value):
                if isinstance(value, dict):
                    yield from ([value["$class"]] if "$class" in value else [])
                    for element in outside(value): yield from seen(element)
                elif isinstance(value, list):
                    for element in value: yield from seen(element)
            def ids(value, key):
                if isinstance(value, dict):
                    if isinstance(value.get(key), int): yield value[key]
                    for element in outside(value): yield from ids(element, key)
                elif isinstance(value, list):
                    for element in value: yield from ids(element, key)
            if not set(seen(tree)) <= names: print(pair[0], set(seen(tree)) - names); status = 1
            # What is referred to is marked, once.
            marked = list(ids(tree, "$id"))
            if len(marked) != len(set(marked)): print(pair[0], "marked twice"); status = 1
            missing = set(ids(tree, "$ref")) - set(marked) - set(int(k) for k in tree.get("$objects", {}))
            if missing: print(pair[0], "not marked", missing); status = 1
        sys.exit(status)
        """

    @Test("is JSON to Python, names the classes of the archive, and marks what it refers to")
    func python() throws {
        let folder = try TemporaryDirectory()
        var pairs: [String] = []
        for entry in ForeignArchives.all {
            let tree = try ArchiveTree(PropertyListStorage(entry.bytes()))
            pairs += [entry.path, try folder.write(Array(Self.json(tree).utf8), to: "\(entry.file).json")]
        }
        let output = try run("python3", ["-c", Self.judge] + pairs)
        #expect(output.status == .exited(0), "\(output.stdout)\(output.stderr.suffix(500))")
    }

    @Test("a plain property list that nests deeper than readers of JSON allow says so")
    func deep() throws {
        var value = PropertyListValue.integer(1)
        for _ in 0..<400 { value = .array([value]) }
        var writer = TreeJSON(try ArchiveTree(PropertyListStorage(value.encoded(as: .binary))))
        var json: [UInt8] = []
        try writer.write { json += $0 }
        #expect(writer.damage != nil)
        _ = try JSONSerialization.jsonObject(with: Data(json))
    }

    @Test(
        "a URL is resolved as Foundation does it",
        arguments: [
            "b", "./b", "../b", "../../../b", "/b", "//h/b", "?q", "#f", "", "b/../c", "b/.", "b/..", "s:b", "b;c?d#e",
            "a:b",
        ], ["http://a.org/x/y/z?q#f", "http://a.org", "http://a.org/", "file:///x/y", "s:x/y"])
    func url(text: String, base: String) throws {
        let ours = FoundationValue.url(text, base: .url(base, base: nil)).absoluteURL
        let theirs = URL(string: text, relativeTo: URL(string: base))?.absoluteURL.absoluteString
        if text.isEmpty { return }
        #expect(ours == theirs)
    }
}
