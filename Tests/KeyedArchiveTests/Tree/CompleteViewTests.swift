import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// What views of archives once left out: counts, fields that a class does not read, embedded data at further places,
/// unreferenced objects; and what a comparison did not see.
@Suite("Views leave nothing out")
struct CompleteViewTests {
    /// An archive of objects with UIDs from 1; the last ones are class descriptions.
    private static func tree(
        _ objects: [PropertyListValue], classes: [[String]], archiver: String = "NSKeyedArchiver",
        top: PropertyListFields = ["root": .uid(1)], beside: PropertyListFields = [:]
    ) throws -> ArchiveTree {
        var root = beside
        root["$version"] = .integer(100_000)
        root["$archiver"] = .string(archiver)
        root["$top"] = .fields(top)
        root["$objects"] = .array(
            [.string("$null")] + objects
                + classes.map { names in
                    .dictionary(["$classname": .string(names[0]), "$classes": .array(names.map { .string($0) })])
                })
        let value = PropertyListValue.fields(root)
        return try ArchiveTree(PropertyListStorage(value.encoded(as: .binary)))
    }

    private static func json(_ tree: ArchiveTree) throws -> String {
        var writer = TreeJSON(tree, layout: .compact)
        var json: [UInt8] = []
        try writer.write { json += $0 }
        return String(decoding: json.dropLast(), as: UTF8.self)
    }

    private static func text(_ tree: ArchiveTree) -> String {
        var drawing = TreeDrawing(tree) { "at \($0)" }
        var text = ""
        drawing.draw { text += $0.map(\.text).joined() + "\n" }
        return text
    }

    private static func differences(_ old: ArchiveTree, _ new: ArchiveTree) -> [String] {
        ForeignArchiveTests.differences(old, new)
    }

    @Test("the counts of a counted set")
    func counts() throws {
        func set(_ count: PropertyListValue, elements: Int64 = 1) throws -> ArchiveTree {
            try Self.tree(
                [
                    .dictionary([
                        "$class": .uid(3), "NS.count": .integer(elements), "NS.object0": .uid(2), "NS.count0": count,
                    ]), .string("apple"),
                ], classes: [["NSCountedSet", "NSMutableSet", "NSSet", "NSObject"]])
        }
        let (one, two) = (try set(.integer(1)), try set(.integer(2)))
        #expect(try Self.json(two) == #"{"root":{"$class":"NSCountedSet","$elements":["apple"],"$counts":[2]}}"#)
        #expect(Self.text(two) == "root: NSCountedSet, 1 element\n└─ 0: \"apple\" ×2\n")
        #expect(Self.differences(one, two) == ["~ root[0], its count"])
        #expect(Self.differences(two, try set(.real(2))) == ["~ root[0], its count"])
        #expect(Self.differences(two, two) == [])
        // A number of elements that is not theirs.
        #expect(try Self.json(set(.integer(1), elements: 5)).contains(#""$fields":{"NS.count":5}"#))
        #expect(Self.differences(one, try set(.integer(1), elements: 5)) == ["+ root[\"NS.count\"]"])
    }

    static var records: [(name: String, lineage: [String], fields: PropertyListFields)] {
        [
            ("NSArray", ["NSObject"], ["NS.objects": .array([.uid(2)])]),
            ("NSMutableSet", ["NSSet", "NSObject"], ["NS.objects": .array([.uid(2)])]),
            ("NSOrderedSet", ["NSObject"], ["NS.object.0": .uid(2)]),
            ("NSDictionary", ["NSObject"], ["NS.keys": .array([.uid(2)]), "NS.objects": .array([.uid(2)])]),
            ("NSDate", ["NSObject"], ["NS.time": .real(5)]), ("NSNull", ["NSObject"], [:]),
            ("NSMutableString", ["NSString", "NSObject"], ["NS.string": .string("s")]),
            ("NSData", ["NSObject"], ["NS.data": .data([1])]),
            ("NSUUID", ["NSObject"], ["NS.uuidbytes": .data(Array(0..<16))]),
            ("NSURL", ["NSObject"], ["NS.base": .uid(0), "NS.relative": .uid(2)]),
            ("NSLocale", ["NSObject"], ["NS.identifier": .uid(2)]),
            ("NSTimeZone", ["NSObject"], ["NS.name": .uid(2), "NS.data": .data([1, 2])]),
            (
                "NSIndexSet", ["NSObject"],
                ["NSRangeCount": .integer(1), "NSLocation": .integer(5), "NSLength": .integer(1)]
            ),
            ("NSNumber", ["NSValue", "NSObject"], ["NS.number": .integer(5)]),
            ("NSValue", ["NSObject"], ["NS.special": .integer(1), "NS.pointval": .string("{1, 2}")]),
        ]
    }

    @Test("fields that a class of Foundation does not read", arguments: 0..<15)
    func fields(_ index: Int) throws {
        let (name, lineage, fields) = Self.records[index]
        func file(_ extra: String?) throws -> ArchiveTree {
            var entries: [(String, PropertyListValue)] = [("$class", .uid(4))]
            for (key, value) in fields { entries.append((key, value)) }
            if extra != nil { entries.append(("extra", .uid(3))) }
            return try Self.tree(
                [
                    .fields(PropertyListFields(entries)), .string("element"), .string(extra ?? "v0"),
                ], classes: [[name] + lineage])
        }
        let (none, one, two) = (try file(nil), try file("v0"), try file("v1"))
        // Those that stay objects have it among their fields.
        let isObject = name == "NSURL" || name == "NSNumber"
        #expect(Self.text(one).contains(isObject ? "extra: \"v0\"\n" : "field extra: \"v0\"\n"), "\(Self.text(one))")
        #expect(try Self.json(one).contains(#""extra":"v0""#))
        if !isObject { #expect(try Self.json(one).contains(#""$fields":{"extra":"v0"}"#)) }
        #expect(Self.differences(one, two) == ["~ root.extra"])
        #expect(Self.differences(none, one) != [])
        #expect(Self.differences(one, one) == [])
        let place = try one.place(at: TreePath("root.extra"))
        guard case .leaf(.string("v0")) = place.tree.value(place.node).content else {
            Issue.record("the path does not lead to the field")
            return
        }
        let graph = try ArchiveGraph(one.propertyList.binary())
        defer { graph.dismantle() }
        #expect(Self.differences(one, try ArchiveTree(PropertyListStorage(graph.encoded()))) == [])
    }

    @Test("a field of a dictionary with the name of one of its keys has its own path")
    func fieldNamedAsKey() throws {
        let tree = try Self.tree(
            [
                .dictionary([
                    "$class": .uid(4), "NS.keys": .array([.uid(2)]), "NS.objects": .array([.uid(3)]),
                    "a": .string("field"),
                ]), .string("a"), .string("entry"),
            ], classes: [["NSDictionary", "NSObject"]])
        #expect(try TreePathTests.check(tree, "named as a key") == 3)
        #expect(try Self.json(tree) == #"{"root":{"a":"entry","$fields":{"a":"field"}}}"#)
        let place = try tree.place(at: TreePath("root[field \"a\"]"))
        guard case .leaf(.string("field")) = place.tree.value(place.node).content else {
            Issue.record("the path does not lead to the field")
            return
        }
    }

    @Test("a dictionary with keys that are not texts is compared by key")
    func numberKeys() throws {
        func file(_ keys: [PropertyListValue], _ values: [String]) throws -> ArchiveTree {
            let count = UInt32(keys.count)
            return try Self.tree(
                [
                    .dictionary([
                        "$class": .uid(2 + 2 * count), "NS.keys": .array((0..<count).map { .uid(2 + $0) }),
                        "NS.objects": .array((0..<count).map { .uid(2 + count + $0) }),
                    ])
                ] + keys + values.map { .string($0) }, classes: [["NSDictionary", "NSObject"]])
        }
        let keys: [PropertyListValue] = [.integer(1), .real(0.5), .boolean(true), .data([1])]
        let values = ["one", "half", "true", "data"]
        let tree = try file(keys, values)
        #expect(Self.differences(tree, try file(keys.reversed(), values.reversed())) == [])
        #expect(Self.differences(tree, try file(keys, ["one", "HALF", "true", "data"])) == ["~ root[value 1]"])
        #expect(
            Self.differences(tree, try file([.real(1)] + keys.dropFirst(), values)) == [
                "- root[1]", "+ root[key 0]", "+ root[value 0]",
            ])
    }

    @Test("texts by their bytes, numbers by their kinds, classes with their superclasses")
    func kinds() throws {
        func file(_ leaf: PropertyListValue, _ lineage: [String] = ["Foo", "NSObject"], key: String = "k") throws
            -> ArchiveTree
        {
            try Self.tree([.dictionary(["$class": .uid(3), key: .uid(2)]), leaf], classes: [lineage])
        }
        for (one, other) in [
            (PropertyListValue.string("é"), PropertyListValue.string("e\u{301}")), (.integer(5), .real(5)),
            (.integer(1), .boolean(true)), (.real(0), .real(-0.0)), (.data([]), .string("")),
        ] {
            #expect(Self.differences(try file(one), try file(other)) == ["~ root.k"], "\(one)")
        }
        #expect(Self.differences(try file(.real(.nan)), try file(.real(.nan))) == [])
        #expect(
            Self.differences(try file(.integer(1)), try file(.integer(1), ["Foo", "Base", "NSObject"])) == [
                "~ root: class Foo: NSObject, class Foo: Base: NSObject"
            ])
        #expect(Self.differences(try file(.integer(1), key: "é"), try file(.integer(1), key: "e\u{301}")).count == 2)
    }

    @Test("the archiver, what is beside the objects, and unreferenced objects, also those that refer to one another")
    func beside() throws {
        func file(
            _ stray: String = "stray", archiver: String = "NSKeyedArchiver", beside: PropertyListFields = [:]
        ) throws -> ArchiveTree {
            try Self.tree(
                [
                    .string("root"), .dictionary(["$class": .uid(6), "other": .uid(3)]),
                    .dictionary(["$class": .uid(6), "other": .uid(2), "name": .uid(4)]), .string(stray),
                    .string("lone"),
                ], classes: [["Foo", "NSObject"], ["Unused", "NSObject"]], archiver: archiver, beside: beside)
        }
        let tree = try file()
        for view in [Self.text(tree), try Self.json(tree)] {
            for text in ["stray", "lone", "Unused"] { #expect(view.contains(text), "\(text) in \(view)") }
        }
        #expect(Self.differences(tree, try file()) == [])
        #expect(Self.differences(tree, try file("other")).count == 1)
        let archiver = try file(archiver: "MyArchiver")
        #expect(
            Self.differences(tree, archiver) == [
                "~ the file: a keyed archive of NSKeyedArchiver, a keyed archive of MyArchiver"
            ])
        #expect(try Self.json(archiver).contains(#""$archiver":"MyArchiver""#))
        let more = try file(beside: ["note": .string("by hand")])
        #expect(Self.differences(tree, more) == ["+ note"])
        #expect(Self.text(more).hasSuffix("beside $top and $objects:\n└─ note: \"by hand\"\n"))
        #expect(try Self.json(more).hasSuffix(#""$file":{"note":"by hand"}}"#))
        for file in [tree, archiver, more] {
            let graph = try ArchiveGraph(file.propertyList.binary())
            defer { graph.dismantle() }
            for format in [PropertyListFormat.binary, .xml] {
                let saved = try ArchiveTree(PropertyListStorage(graph.encoded(as: format)))
                #expect(Self.differences(file, saved) == [])
            }
        }
    }

    @Test("an unreferenced object that equals a referenced one is an object of its own after a save")
    func equalUnreferenced() throws {
        let date = ArchiveValue.date(PropertyListDate(secondsSinceReferenceDate: 0.5))
        for value in [date, .string("Fluffy"), .integer(7), .data([1, 2]), .null] {
            let graph = ArchiveGraph(top: [.init(key: "root", value: .object(value))], unreferenced: [value, value])
            defer { graph.dismantle() }
            let tree = try ArchiveTree(PropertyListStorage(graph.encoded()))
            #expect(tree.unreferenced.count == 2, "\(value)")
        }
    }

    @Test("embedded data at every place: opened once, then by its path")
    func embedded() throws {
        let inner = try Self.tree(
            [.dictionary(["$class": .uid(3), "name": .uid(2)]), .string("Fluffy")], classes: [["Bear", "NSObject"]])
        let data = PropertyListValue.data(try inner.propertyList.binary())
        let tree = try Self.tree(
            [.dictionary(["$class": .uid(3), "a": .uid(2), "b": .uid(2), "c": data]), data],
            classes: [["Box", "NSObject"]])
        let text = Self.text(tree)
        #expect(text.contains("a: ") && text.contains("…>, a keyed archive: at root.a.$embedded\n"), "\(text)")
        #expect(text.ranges(of: ", a keyed archive, the same as at root.a\n").count == 2, "\(text)")
        let json = try Self.json(tree)
        #expect(json.split(separator: #""$embedded":{"root":{"$class":"Bear","name":"Fluffy"}}"#).count == 2)
        #expect(json.split(separator: #""$embedded":{"$ref":"root.a.$embedded"}"#).count == 3)
        let opened = try #require(try tree.embedded(at: TreePath("root.a.$embedded")))
        #expect(Self.text(opened) == "root: Bear\n└─ name: \"Fluffy\"\n")
    }
}
