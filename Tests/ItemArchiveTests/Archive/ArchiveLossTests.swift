import ItemsTestSupport
import KeyedArchive
import PropertyList
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// What an archive of another program has beside the values of fields is kept, or counted and said with its place.
@Suite("What items do not hold of an archive")
struct ArchiveLossTests {
    let folder: StoreFolder

    init() throws { folder = try StoreFolder() }

    /// An archive by its objects, as programs of all kinds write them.
    private struct Archive {
        var objects: [PropertyListValue] = [.string("$null")]
        var elements: [PropertyListValue] = []
        private var classes: [String: PropertyListValue] = [:]

        mutating func add(_ value: PropertyListValue) -> PropertyListValue {
            objects.append(value)
            return .uid(UInt32(objects.count - 1))
        }

        mutating func object(_ className: String, _ fields: PropertyListFields) -> PropertyListValue {
            if classes[className] == nil {
                classes[className] = add(
                    .fields([
                        "$classname": .string(className),
                        "$classes": .array([.string(className), .string("NSObject")]),
                    ]))
            }
            var fields = fields
            fields["$class"] = classes[className]
            return add(.fields(fields))
        }

        mutating func item(_ name: String, _ fields: PropertyListFields) {
            var all = fields
            all["name"] = add(.string(name))
            all["itemKey"] = add(.string("KEY-\(name)"))
            all["valueInDollars"] = .integer(1)
            elements.append(object("Item", all))
        }

        mutating func dictionary(
            _ keys: [PropertyListValue], _ values: [PropertyListValue]
        ) -> PropertyListValue {
            object("NSDictionary", ["NS.keys": .array(keys), "NS.objects": .array(values)])
        }

        func bytes(_ top: PropertyListFields = [:], _ outer: PropertyListFields = [:]) throws -> [UInt8] {
            var copy = self
            var top = top
            top["root"] = copy.object("NSArray", ["NS.objects": .array(elements)])
            var all = outer
            all["$version"] = .integer(100_000)
            all["$archiver"] = .string("NSKeyedArchiver")
            all["$top"] = .fields(top)
            all["$objects"] = .array(copy.objects)
            return try PropertyListValue.fields(all).encoded(as: .binary)
        }
    }

    /// The differences between an archive and what a store saves of it, to which an item came and went again.
    private func differences(afterSavesOf bytes: [UInt8]) throws -> [String] {
        try folder.write(bytes, folder.archive)
        let store = try folder.open()
        let other = try store.createItem(ItemFields(name: "new"))
        try store.saveChanges()
        try store.removeItem(other)
        try store.saveChanges()
        let (old, new) = (
            try ArchiveTree(PropertyListStorage(bytes)),
            try ArchiveTree(PropertyListStorage(try folder.read(folder.archive)))
        )
        var places: [String] = []
        var difference = TreeDifference(old, new)
        _ = difference.compare { places.append("\($0)") }
        return places
    }

    private func losses(ofImport bytes: [UInt8]) throws -> [(count: Int, text: String)] {
        let store = ItemStore()
        let report = try store.importReport(bytes, path: "a", ItemFileOptions(format: .keyedArchive))
        return report.remarks.filter { $0.kind == .objects }.map { ($0.count, $0.description) }
    }

    // MARK: Saves

    @Test("what the text of an archive in XML has otherwise than it is read is said, and the file is kept")
    func text() throws {
        let xml = """
            <plist version="1.0"><array>
            <dict><key>name</key><string>a</string><key>note</key><string>first</string>
            <key>note</key><string>second</string><key>when</key><date>2021-02-31T00:00:00Z</date></dict>
            </array></plist>
            """
        try folder.write(Array(xml.utf8), folder.archive)
        let store = try folder.open()
        let notices = store.loadReport.notices
        #expect(try store[0]?.value(forField: "note") == .string("second"))
        for said in [
            "line 2: the key “note” stands twice", "line 3: no calendar has the date", "items.archive.original-1",
        ] {
            #expect(notices.contains { $0.contains(said) }, "\(said): \(notices)")
        }
        try store.createItem(ItemFields(name: "new"))
        try store.saveChanges()
        #expect(try folder.read(folder.archive + ".original-1") == Array(xml.utf8))
    }

    @Test("containers within fields: their objects are read, and are the same after a save")
    func inPlace() throws {
        var archive = Archive()
        let leaf = archive.add(.string("leaf"))
        let parts: PropertyListValue = .array([.integer(1), leaf, .fields(["k": leaf, "n": .real(2.5)])])
        let node = archive.object("Node", ["m": .fields(["k": leaf]), "kids": .array([leaf, parts])])
        archive.item("a", ["x": node, "parts": parts, "nodes": .array([node, .integer(7)])])
        archive.item("b", ["x": node])
        let bytes = try archive.bytes()
        #expect(try differences(afterSavesOf: bytes) == [])
        let store = try folder.open()
        #expect(
            try store[0]?.value(forField: "parts")
                == .array([.integer(1), .string("leaf"), .fields(["k": .string("leaf"), "n": .real(2.5)])]))
        #expect(try store[0]?.value(forField: "nodes") == nil)
        // A copy leads to the same objects.
        _ = try #require(try store[1]?.copy())
        try store.saveChanges()
        let graph = try ArchiveGraph(try folder.read(folder.archive))
        defer { graph.dismantle() }
        let nodes = (graph.root?.elements ?? []).map { element -> ObjectIdentifier? in
            guard case .unknown(let item)? = element else { return nil }
            return item.object(forKey: "x")?.identity.map(ObjectIdentifier.init)
        }
        #expect(nodes.count == 3 && Set(nodes).count == 1 && nodes[0] != nil)
        #expect(store.count == 3)
        let losses = try losses(ofImport: bytes)
        #expect(losses.map(\.count) == [1, 2], "\(losses)")
    }

    @Test("malformed collections, values at the top, and what is beside the objects stay as they are")
    func oddForms() throws {
        var archive = Archive()
        let text = archive.add(.string("t"))
        let dictionary = archive.dictionary([text], [])
        let list = archive.object("NSArray", ["NS.objects": .array([.integer(1), text])])
        let equal = archive.dictionary([text, text], [text, .uid(0)])
        archive.item("a", ["x": dictionary, "y": list, "z": equal])
        archive.item("b", ["url": archive.object("NSURL", ["NS.base": .uid(0), "NS.relative": text])])
        let bytes = try archive.bytes(["count": .integer(7), "list": .array([text])], ["origin": .string("here")])
        // A comparison cannot look into the dictionary with a key too many.
        let places = try differences(afterSavesOf: bytes)
        #expect(places.count == 1 && places[0].contains("root[0].x"), "\(places)")
        #expect(try folder.open().loadReport.notices == [])
        let graph = try ArchiveGraph(try folder.read(folder.archive))
        defer { graph.dismantle() }
        guard case .unknown(let item)?? = graph.root?.elements?.first, case .unknown(let x)? = item.object(forKey: "x"),
            case .list(let keys)? = x["NS.keys"], case .object(.string("t")?)? = keys.first,
            case .list(let objects)? = x["NS.objects"]
        else {
            Issue.record("\(graph.dump())")
            return
        }
        #expect((keys.count, objects.count) == (1, 0))
    }

    @Test("elements that are no items are told, also where a save keeps them in their places")
    func otherElements() throws {
        var archive = Archive()
        let text = archive.add(.string("t"))
        archive.item("a", [:])
        for _ in 0..<2 { archive.elements.append(archive.object("Thing", ["t": text])) }
        try folder.write(try archive.bytes(), folder.archive)
        let store = try folder.open()
        #expect(store.count == 1 && store.loadReport.notices == [])
        #expect(
            store.loadReport.remarks == [
                "2 elements of the archive are of class Thing and no items. The archive keeps them, and nothing shows them"
            ])
        try store[0]?.setName("changed")
        try store.saveChanges()
        let graph = try ArchiveGraph(try folder.read(folder.archive))
        defer { graph.dismantle() }
        #expect(graph.root?.elements?.count == 3)
    }

    @Test("an object that cannot be read is left out alone, and is named with the file that has it")
    func unreadable() throws {
        var archive = Archive()
        let text = archive.add(.string("t"))
        let bad = archive.object("Node", ["next": .uid(9_999)])
        let outer = archive.object("Node", ["parts": .fields(["k": bad])])
        let url = archive.object("NSURL", ["NS.base": .uid(0), "NS.relative": text])
        archive.item("a", ["x": bad, "url": url])
        archive.item("b", ["x": outer, "url": url])
        archive.item("c", ["good": archive.object("Node", ["parts": .array([url, text])])])
        let bytes = try archive.bytes()
        try folder.write(bytes, folder.archive)
        let store = try folder.open()
        let notices = store.loadReport.notices
        #expect(notices.count == 2, "\(notices)")
        let start = "x in 2 items, the first of them \"a\" cannot be read: "
        #expect(notices.first?.hasPrefix(start) == true, "\(notices)")
        #expect(notices.last == "the first save keeps the archive as it is now as items.archive.original-1")
        try store[0]?.setName("changed")
        try store.saveChanges()
        #expect(try folder.read(folder.path + "/items.archive.original-1") == bytes)
        let graph = try ArchiveGraph(try folder.read(folder.archive))
        defer { graph.dismantle() }
        let items = (graph.root?.elements ?? []).compactMap { element -> ArchivedObject? in
            if case .unknown(let item)? = element { item } else { nil }
        }
        #expect(items.count == 3)
        #expect(items.map { $0["url"] != nil } == [true, true, false])
        #expect(items[0].object(forKey: "url")?.identity === items[1].object(forKey: "url")?.identity)
        #expect(items[0]["x"] == nil && items[1]["x"] == nil && items[2]["good"] != nil)
    }

    @Test("a list that holds itself is no value of a field, and is the same after a save")
    func rings() throws {
        var archive = Archive()
        let list = archive.object("NSArray", ["NS.objects": .array([])])
        let itself = PropertyListValue.uid(UInt32(archive.objects.count))
        let ring = archive.object("NSArray", ["NS.objects": .array([list, itself])])
        archive.item("a", ["x": ring, "y": list])
        let bytes = try archive.bytes()
        #expect(try differences(afterSavesOf: bytes) == [])
        let store = try folder.open()
        #expect(store.loadReport.notices == [])
        #expect(try store[0]?.value(forField: "x") == nil)
        #expect(try store[0]?.value(forField: "y") == .array([]))
        #expect(
            try losses(ofImport: bytes).map(\.text) == [
                "x in \"a\" is nested too deep, or within itself, which a field cannot hold"
            ])
    }

    // MARK: Imports

    @Test("an import counts the objects of each field by their class, and names the first item")
    func counted() throws {
        var archive = Archive()
        for number in 0..<4 {
            let name = ["Lamp", "Chair", "Table", "Bed"][number]
            let id = archive.object("NSUUID", ["NS.uuidbytes": .data(Array(repeating: UInt8(number), count: 16))])
            archive.item(name, number > 0 ? ["id": id, "tags": .array([.string("a")])] : [:])
        }
        archive.elements += (0..<5).map { archive.add(.string("text \($0)")) }
        archive.elements.append(archive.object("Thing", [:]))
        let losses = try losses(ofImport: try archive.bytes())
        #expect(losses.map(\.count) == [5, 1, 3])
        #expect(
            losses.map(\.text) == [
                "5 elements of the archive are not items",
                "an element of the archive is of class Thing and no item",
                "id in 3 items, the first of them \"Chair\" is of class NSUUID, which a field cannot hold",
            ])
    }

    @Test("losses of any number of kinds are counted")
    func many() throws {
        var archive = Archive()
        for number in 0..<30 {
            archive.item("i\(number)", ["f\(number)": archive.object("Class\(number)", [:])])
            archive.item("j\(number)", ["f\(number)": archive.object("Class\(number)", [:])])
        }
        let losses = try losses(ofImport: try archive.bytes())
        #expect(losses.reduce(0) { $0 + $1.count } == 60)
        #expect(losses.last?.text == "20 further parts of the archive are left out")
    }

    @Test("equal keys of a dictionary are said by an import, and by the check")
    func equalKeys() throws {
        var archive = Archive()
        let (key, again, value) = (archive.add(.string("k")), archive.add(.string("k")), archive.add(.integer(1)))
        let twice = archive.dictionary([key, again, key], [value, key, again])
        archive.item("a", ["x": twice])
        archive.item("b", ["x": archive.object("NSArray", ["NS.objects": .array([twice])])])
        let bytes = try archive.bytes()
        let losses = try losses(ofImport: bytes)
        #expect(losses.map(\.count) == [4])
        #expect(
            losses.first?.text
                == "x lacks 4 values of keys that its dictionary has twice, first in \"a\": the first value counts")
        let findings = ArchiveCheck(bytes).findings
        #expect(findings.map(\.severity) == [.warning, .warning], "\(findings)")
        let end = "the key “k” stands twice in the dictionary; the first counts"
        #expect(findings.first?.message.hasSuffix(end) == true)
    }
}
