import KeyedArchive
import PropertyList
import Testing

/// Forms that keyed archives rarely have: of other systems' Foundation, of old writers, of hands.
@Suite("Odd layouts of Foundation's classes")
struct OddLayoutTests {
    private static func archive(
        _ className: String, _ superclasses: [String], _ fields: PropertyListFields,
        _ others: [PropertyListValue] = [], top: PropertyListFields = ["root": .uid(1)]
    ) throws -> [UInt8] {
        var object = fields
        object["$class"] = .uid(2)
        let lineage = ([className] + superclasses + ["NSObject"]).map { PropertyListValue.string($0) }
        return try PropertyListValue.dictionary([
            "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"), "$top": .fields(top),
            "$objects": .array(
                [
                    .string("$null"), .fields(object),
                    .dictionary(["$classname": .string(className), "$classes": .array(lineage)]),
                ] + others),
        ]).encoded(as: .binary)
    }

    private static func root(_ bytes: [UInt8]) throws -> ArchiveValue? {
        try KeyedUnarchiver(bytes).decodeRootObject()
    }

    struct Layout: CustomTestStringConvertible, Sendable {
        var className: String
        var superclasses: [String] = []
        var fields: PropertyListFields
        var others: [PropertyListValue] = []
        var text: String
        var testDescription: String { "\(className) \(fields.keys.sorted())" }
    }

    static let layouts = [
        Layout(className: "NSString", fields: ["NS.string": .string("a")], text: "a"),
        Layout(className: "NSString", fields: ["NS.bytes": .data(Array("bär".utf8))], text: "bär"),
        Layout(
            className: "NSMutableString", superclasses: ["NSString"], fields: ["NS.bytes": .data([0x61])], text: "a"),
        Layout(
            className: "NSMutableString", superclasses: ["NSString"], fields: ["NS.string": .uid(3)],
            others: [.string("far")], text: "far"),
        Layout(className: "NSData", fields: ["NS.bytes": .data([1, 2])], text: "1,2"),
        Layout(
            className: "NSMutableData", superclasses: ["NSData"], fields: ["NS.data": .uid(3)],
            others: [.data([3])], text: "3"),
        Layout(className: "NSNumber", superclasses: ["NSValue"], fields: ["NS.number": .integer(5)], text: "5.0"),
        Layout(className: "NSNumber", superclasses: ["NSValue"], fields: ["NS.intval": .integer(6)], text: "6.0"),
        Layout(className: "NSNumber", superclasses: ["NSValue"], fields: ["NS.dblval": .real(1.5)], text: "1.5"),
        Layout(className: "NSNumber", superclasses: ["NSValue"], fields: ["NS.boolval": .boolean(true)], text: "1.0"),
        Layout(
            className: "NSArray", fields: ["NS.object.0": .uid(3), "NS.object.1": .uid(4)],
            others: [.string("x"), .string("y")], text: "x,y"),
        Layout(
            className: "NSDictionary", fields: ["NS.key.0": .uid(3), "NS.object.0": .uid(4)],
            others: [.string("k"), .string("v")], text: "k=v"),
        Layout(className: "NSDictionary", fields: [:], text: ""),
        Layout(className: "NSDate", fields: ["NS.time": .integer(5)], text: "5.0"),
        Layout(className: "NSDate", fields: ["NS.time": .single(2.5)], text: "2.5"),
    ]

    private static func text(_ value: ArchiveValue?) -> String {
        guard let value else { return "nil" }
        if let text = value.stringValue { return text }
        if let data = value.dataValue { return data.map { "\($0)" }.joined(separator: ",") }
        if let date = value.dateValue { return "\(date.secondsSinceReferenceDate)" }
        if let number = value.realValue { return "\(number)" }
        if let elements = value.elements { return elements.map(Self.text).joined(separator: ",") }
        if case .dictionary(let dictionary) = value {
            return dictionary.entries.map { "\(Self.text($0.key))=\(Self.text($0.value))" }.joined(separator: ",")
        }
        return value.className
    }

    @Test("are decoded, and a graph keeps them as they are", arguments: layouts)
    func decoded(_ layout: Layout) throws {
        let bytes = try Self.archive(layout.className, layout.superclasses, layout.fields, layout.others)
        #expect(Self.text(try Self.root(bytes)) == layout.text)
        let saved = try ArchiveGraph(bytes).encoded()
        guard case .dictionary(let top) = try PropertyListValue(decoding: saved),
            case .array(let objects)? = top["$objects"], var object = objects.dropFirst().first?.fields
        else {
            Issue.record("no object")
            return
        }
        object["$class"] = nil
        #expect(Set(object.keys) == Set(layout.fields.keys))
        for (key, value) in layout.fields {
            if case .uid = value { continue }
            #expect(object[key] == value)
        }
        for case .uid(let uid) in layout.fields.values { #expect(uid != 0) }
        #expect(object.values.contains { if case .uid = $0 { true } else { false } } == !layout.others.isEmpty)
    }

    @Test("a value of a kind that is not known stays an object of its class")
    func unknownValue() throws {
        let bytes = try Self.archive("NSValue", [], ["NS.special": .integer(99), "NS.transform": .data([1])])
        guard case .unknown(let object)? = try Self.root(bytes) else {
            Issue.record("no object")
            return
        }
        #expect(object.archivedClass.name == "NSValue")
        #expect(object.fields.count == 2)
    }

    @Test("an archive of several objects says so when one is asked for")
    func severalObjects() throws {
        let bytes = try Self.archive(
            "NSString", [], ["NS.string": .string("a")], top: ["a": .uid(1), "b": .uid(0)])
        let error = #expect(throws: ArchiveError.self) { try Self.root(bytes) }
        #expect(error?.code == .valueNotFound)
        #expect(error?.message.contains("“a”, “b”") == true)
        let empty = try Self.archive("NSString", [], ["NS.string": .string("a")], top: [:])
        #expect(throws: ArchiveError.self) { try Self.root(empty) }
    }

    @Test("a key that stands twice in an object, or on top, stands once in the tree's JSON")
    func keyTwice() throws {
        let writer = BinaryPropertyListWriter()
        let (root, parts) = writer.dictionary(count: 4)
        let (objects, entries) = writer.array(count: 3)
        let (top, topParts) = writer.dictionary(count: 2)
        let (object, slots) = writer.dictionary(count: 3)
        let (description, names) = writer.dictionary(count: 1)
        for (index, key) in ["$version", "$archiver", "$top", "$objects"].enumerated() {
            writer.setReference(index, in: parts, to: writer.string(key))
        }
        writer.setReference(4, in: parts, to: writer.integer(Int64(100_000)))
        writer.setReference(5, in: parts, to: writer.string("NSKeyedArchiver"))
        writer.setReference(6, in: parts, to: top)
        writer.setReference(7, in: parts, to: objects)
        for index in 0..<2 { writer.setReference(index, in: topParts, to: writer.string("root")) }
        writer.setReference(2, in: topParts, to: writer.uid(1))
        writer.setReference(3, in: topParts, to: writer.uid(0))
        writer.setReference(0, in: entries, to: writer.string("$null"))
        writer.setReference(1, in: entries, to: object)
        writer.setReference(2, in: entries, to: description)
        for (index, key) in ["a", "a", "$class"].enumerated() {
            writer.setReference(index, in: slots, to: writer.string(key))
        }
        writer.setReference(3, in: slots, to: writer.integer(Int64(1)))
        writer.setReference(4, in: slots, to: writer.integer(Int64(2)))
        writer.setReference(5, in: slots, to: writer.uid(2))
        writer.setReference(0, in: names, to: writer.string("$classname"))
        writer.setReference(1, in: names, to: writer.string("Foo"))
        let bytes = try writer.finish(topObject: root)
        var json: [UInt8] = []
        var tree = TreeJSON(try ArchiveTree(PropertyListStorage(bytes)))
        try tree.write { json += $0 }
        let value = try json.withUnsafeBytes { try BinaryPropertyListReader(json: $0).value() }
        guard case .dictionary(let outer) = value, case .dictionary(let object)? = outer["root"] else {
            Issue.record("no object")
            return
        }
        #expect(object["a"] == .integer(1))
        #expect(outer["$entry1"] == .null)
    }
}
