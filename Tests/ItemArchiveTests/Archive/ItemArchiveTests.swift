import Foundation
import ItemsTestSupport
import KeyedArchive
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// The item of an application, as Foundation's own classes read it.
final class ForeignItem: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let name: String
    let serialNumber: String?
    let value: Int
    let date: Date?
    let key: String?
    let room: String?

    func encode(with coder: NSCoder) {}

    init?(coder: NSCoder) {
        name = coder.decodeObject(of: NSString.self, forKey: "name").map { String(describing: $0) } ?? ""
        serialNumber = coder.decodeObject(of: NSString.self, forKey: "serialNumber").map { String(describing: $0) }
        value = coder.decodeInteger(forKey: "valueInDollars")
        date = coder.decodeObject(of: NSDate.self, forKey: "dateCreated").map { $0 as Date }
        key = coder.decodeObject(of: NSString.self, forKey: "itemKey").map { String(describing: $0) }
        room = coder.decodeObject(of: NSString.self, forKey: "room").map { String(describing: $0) }
    }
}

@Suite("Archives of items")
struct ItemArchiveTests {
    let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
    }

    private func save() throws -> ItemStore {
        let store = try folder.open()
        let date = PropertyListDate(secondsSinceReferenceDate: 12.5)
        try store.createItem(
            ItemFields(
                name: "Fluffy Bear", serialNumber: "1A2B3", valueInDollars: 78, dateCreated: date, itemKey: "first",
                custom: ["room": .string("Study"), "tags": .array([.string("a"), .integer(1)])]))
        try store.createItem(
            ItemFields(name: "Łódź", valueInDollars: -5, dateCreated: date, custom: ["room": .string("")]))
        try store.saveChanges()
        return store
    }

    @Test func foundationReadsIt() throws {
        let store = try save()
        let reader = try NSKeyedUnarchiver(forReadingFrom: try Data(contentsOf: URL(fileURLWithPath: folder.archive)))
        reader.setClass(ForeignItem.self, forClassName: "Item")
        reader.requiresSecureCoding = false
        // Foundation for Linux fails the whole decoding for an absent key; both items have the ones asked for.
        let root = reader.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
        let items = try #require(root as? [ForeignItem])
        #expect(items.map(\.name) == ["Fluffy Bear", "Łódź"])
        #expect(items.map(\.serialNumber) == ["1A2B3", nil])
        #expect(items.map(\.value) == [78, -5])
        #expect(items[0].key == "first")
        #expect(items[1].key == (try #require(store[1]).itemKey))
        #expect(items.map(\.room) == ["Study", ""])
        #expect(items[0].date == Date(timeIntervalSinceReferenceDate: 12.5))
    }

    @Test func pythonAndPlistutilReadIt() throws {
        _ = try save()
        let script = """
            import plistlib, sys
            a = plistlib.load(open(sys.argv[1], 'rb'))
            o = a['$objects']; root = o[a['$top']['root']]
            print(o[root['$class']]['$classname'], a['$version'], a['$archiver'])
            for uid in root['NS.objects']:
                i = o[uid]
                print(o[i['$class']]['$classes'], o[i['name']], i['serialNumber'].data, i['valueInDollars'],
                      o[i['dateCreated']]['NS.time'], o[i['room']])
            """
        let python = try Process.output("python3", ["-c", script, folder.archive])
        let lines = python.split(separator: "\n")
        #expect(lines.first == "NSArray 100000 NSKeyedArchiver")
        #expect(lines.count == 3)
        #expect(lines[1].hasPrefix("['Item', 'NSObject'] Fluffy Bear") && lines[1].hasSuffix("78 12.5 Study"))
        #expect(lines[2].contains("Łódź 0 -5 12.5"))
        let xml = try Process.output("plistutil", ["-i", folder.archive, "-f", "xml"])
        #expect(xml.contains("<string>Fluffy Bear</string>"))
    }

    /// The editions of the book, by their class and keys: read, and written again in the same terms.
    struct Edition: Sendable, CustomTestStringConvertible {
        var className: String
        var name: String
        var key: String
        var valueIsObject = false
        var extra: PropertyListFields = [:]
        var testDescription: String { className }
    }

    static let editions = [
        Edition(
            className: "Possession", name: "possessionName", key: "imageKey", extra: ["inheritorName": .string("x")]),
        Edition(className: "BNRItem", name: "itemName", key: "imageKey", extra: ["thumbnailData": .data([1, 2, 3])]),
        Edition(className: "INIItem", name: "itemName", key: "itemKey"),
        Edition(className: "Homepwner.Item", name: "name", key: "itemKey", valueIsObject: true),
    ]

    @Test(arguments: editions)
    func editionsKeepTheirTerms(edition: Edition) throws {
        let archiver = KeyedArchiver()
        try archiver.encodeRecords(
            0..<3, of: ArchivedClass(edition.className), isMutable: true
        ) { index, archiver throws(ArchiveError) in
            try archiver.encode("item \(index)", forKey: edition.name)
            try archiver.encode(index == 1 ? nil : "S\(index)", forKey: "serialNumber")
            if edition.valueIsObject {
                try archiver.encode(PropertyListValue.integer(Int64(index)), forKey: "valueInDollars")
            } else {
                try archiver.encode(index, forKey: "valueInDollars")
            }
            try archiver.encode(PropertyListDate(secondsSinceReferenceDate: Double(index)), forKey: "dateCreated")
            try archiver.encode(index == 2 && edition.key == "imageKey" ? nil : "KEY\(index)", forKey: edition.key)
            try archiver.encode(index == 0, forKey: "finished")
            for (key, value) in edition.extra { try archiver.encode(value, forKey: key) }
        }
        try folder.write(try archiver.finishEncoding(), folder.archive)
        let store = try folder.open()
        let records = try store.records
        #expect(records.map(\.name) == ["item 0", "item 1", "item 2"])
        #expect(records.map(\.serialNumber) == ["S0", nil, "S2"])
        #expect(records.map(\.valueInDollars) == [0, 1, 2])
        #expect(records[1].itemKey == "KEY1")
        #expect(records.map { $0.custom["finished"] } == [.boolean(true), .boolean(false), .boolean(false)])
        for (key, value) in edition.extra { #expect(records[0].custom[key] == value) }
        #expect(!store.hasChanges)
        #expect(try folder.open().records == records, "keys that were made are the same at each opening")
        try #require(store[0]).setValueInDollars(100)
        try store.saveChanges()
        let saved = try PropertyListValue(decoding: folder.read(folder.archive))
        guard case .dictionary(let top) = saved, case .array(let objects)? = top["$objects"] else {
            Issue.record("no archive")
            return
        }
        let entries = objects.compactMap { $0.fields }
        #expect(entries.contains { $0["$classname"] == .string(edition.className) })
        #expect(entries.contains { $0["$classname"] == .string("NSMutableArray") })
        let items = entries.filter { $0[edition.name] != nil }
        #expect(items.count == 3)
        #expect(items.allSatisfy { $0[edition.key] != nil && $0["serialNumber"] != nil })
        #expect(items.map { $0["finished"] } == [.boolean(true), .boolean(false), .boolean(false)])
        #expect(edition.valueIsObject != (items.first?["valueInDollars"] == .integer(100)))
        if edition.key == "imageKey" {
            #expect(items.map { $0["imageKey"] == .uid(0) } == [false, false, true])
        }
        #expect(try folder.open().records == store.records)
    }

    @Test func aPropertyListOfTheSeventhEdition() throws {
        let items: PropertyListValue = .array([
            .dictionary([
                "name": .string("a"), "valueInDollars": .integer(5), "itemKey": .string("K"),
                "dateCreated": .date(PropertyListDate(secondsSinceReferenceDate: 1)),
            ]),
            .dictionary(["name": .string("b"), "serialNumber": .string("s"), "box": .array([.integer(1)])]),
        ])
        for format in [PropertyListFormat.binary, .xml] {
            try folder.write(try items.encoded(as: format), folder.archive)
            let store = try folder.open()
            #expect(try store.records.map(\.name) == ["a", "b"])
            #expect(try #require(store[0]).itemKey == "K")
            #expect(try #require(store[1]).value(forField: "box") == .array([.integer(1)]))
            try #require(store[0]).setName("c")
            try store.saveChanges()
            #expect(try folder.open().records == store.records)
        }
    }

    /// Custom fields whose names are keys of the domain in some edition.
    @Test(arguments: ["Item", "BNRItem", "Possession"])
    func fieldsNamedAsKeys(className: String) throws {
        let archiver = KeyedArchiver()
        let keys =
            switch className {
            case "Item": ["name", "itemKey"]
            case "BNRItem": ["itemName", "imageKey"]
            default: ["possessionName", "imageKey"]
            }
        try archiver.encodeRecords(0..<2, of: ArchivedClass(className)) { index, archiver throws(ArchiveError) in
            try archiver.encode("item \(index)", forKey: keys[0])
            try archiver.encode(index == 0 ? "KEY" : nil, forKey: keys[1])
            try archiver.encode(index, forKey: "valueInDollars")
        }
        try folder.write(try archiver.finishEncoding(), folder.archive)
        var store = try folder.open()
        let item = try #require(store[0])
        for name in ["itemName", "possessionName", "value", "imageKey", "serialnumber", "custom.itemName", "custom.x"] {
            try item.setValue(.string("of \(name)"), forField: name)
        }
        for round in 0..<3 {
            try store.saveChanges()
            let again = try folder.open()
            #expect(try again.records == store.records)
            #expect(again.loadReport.notices.isEmpty)
            store = again
            try #require(store[1]).setValueInDollars(Int64(100 + round))
        }
    }

    /// An archive of two items that share a picture; a third holds the first, and one holds the array of all.
    private func applicationArchive() throws -> [UInt8] {
        let image = ArchivedObject(
            ArchivedClass("UIImage"),
            fields: [
                ArchivedObject.Field(key: "UIScale", value: .inline(.single(2))),
                ArchivedObject.Field(key: "UIImageData", value: .object(.mutableData(ArchivedMutableData([1, 2])))),
            ])
        let items = (0..<3).map { index in
            ArchivedObject(
                ArchivedClass("BNRItem"),
                fields: [
                    ArchivedObject.Field(key: "itemName", value: .object(.string("item \(index)"))),
                    ArchivedObject.Field(key: "itemKey", value: .object(.string("KEY-\(index)"))),
                    ArchivedObject.Field(key: "valueInDollars", value: .inline(.integer(7))),
                    ArchivedObject.Field(
                        key: "dateCreated", value: .object(.date(PropertyListDate(secondsSinceReferenceDate: 5)))),
                    ArchivedObject.Field(key: "serialNumber", value: .object(nil)),
                ])
        }
        for item in items[..<2] { item["thumbnail"] = .object(.unknown(image)) }
        items[1]["site"] = .object(.value(.url("http://a.org/", base: nil)))
        items[2]["containedItem"] = .object(.unknown(items[0]))
        let all = ArchivedCollection(.array, isMutable: true, elements: items.map { .unknown($0) })
        let graph = ArchiveGraph(root: .collection(all))
        defer { graph.dismantle() }
        return try graph.encoded()
    }

    @Test(arguments: [false, true])
    func objectsOfAnApplicationAreWrittenBackWithTheirItems(mapped: Bool) throws {
        let original = try applicationArchive()
        try folder.write(original, folder.archive)
        var store = try folder.open(mapped: mapped)
        #expect(store.loadReport.notices.isEmpty)
        #expect(try store[0]?.value(forField: "thumbnail") == nil)
        for round in 0..<3 {
            try #require(store[2]).setName("changed \(round)")
            try store.saveChanges()
            store = try folder.open(mapped: mapped)
            #expect(store.loadReport.notices.isEmpty)
            #expect(store.loadReport.replayedRecords == 0)
        }
        #expect(!folder.names.contains("items.archive.original-1"))

        let graph = try ArchiveGraph(try folder.read(folder.archive))
        let saved = try #require(graph.root?.elements).map { element throws -> ArchivedObject in
            guard case .unknown(let object)? = element else { throw TestFailure("no object") }
            return object
        }
        guard case .object(.unknown(let image)?)? = saved[0]["thumbnail"],
            case .object(.unknown(let other)?)? = saved[1]["thumbnail"],
            case .object(.unknown(let site)?)? = saved[1]["site"]
        else {
            Issue.record("the objects are gone:\n\(graph.dump())")
            return
        }
        #expect(image === other)
        #expect(image.archivedClass == ArchivedClass("UIImage"))
        guard case .inline(.single(2))? = image["UIScale"], case .object(.mutableData)? = image["UIImageData"] else {
            Issue.record("the picture has changed")
            return
        }
        #expect(site.archivedClass.name == "NSURL")
        #expect(saved[2]["itemName"].map { "\($0)" }?.contains("changed 2") == true)
        // What leads back to an item leads to that one still.
        #expect(saved[2].object(forKey: "containedItem")?.identity === saved[0])
    }

    @Test func aCustomFieldTakesTheForeignOnesPlace() throws {
        try folder.write(try applicationArchive(), folder.archive)
        let store = try folder.open()
        try #require(store[0]).setValue(.string("mine"), forField: "thumbnail")
        try store.removeItem(try #require(store[1]))
        try store.saveChanges()
        let again = try folder.open()
        #expect(try again[0]?.value(forField: "thumbnail") == .string("mine"))
        #expect(try !ArchiveGraph(try folder.read(folder.archive)).dump().contains("UIImage"))
    }

    @Test func aCopySharesTheForeignObjects() throws {
        try folder.write(try applicationArchive(), folder.archive)
        let store = try folder.open()
        let copy = try #require(store[0]).copy()
        _ = try copy.copy()
        try store.saveChanges()
        let saved = try #require(try ArchiveGraph(try folder.read(folder.archive)).root?.elements)
        let pictures = saved.map { element -> AnyObject? in
            guard case .unknown(let object)? = element else { return nil }
            return object.object(forKey: "thumbnail")?.identity
        }
        #expect(pictures.count == 5)
        #expect(pictures[0] != nil && pictures[3] === pictures[0] && pictures[4] === pictures[0])
        #expect(Set(try folder.open().records.map(\.itemKey)).count == 5)
    }

    @Test("a copy that only the journal has shares them, too: as after a kill before the save")
    func aCopyInTheJournalSharesTheForeignObjects() throws {
        try folder.write(try applicationArchive(), folder.archive)
        let store = try folder.open()
        let copy = try #require(store[0]).copy()
        try copy.setName("the copy")
        try store.commit()
        let reopened = try folder.open()
        #expect(reopened.loadReport.replayedRecords > 0)
        _ = try #require(reopened[3]).copy()
        try reopened.saveChanges()
        let saved = try #require(try ArchiveGraph(try folder.read(folder.archive)).root?.elements)
        let pictures = saved.map { element -> AnyObject? in
            guard case .unknown(let object)? = element else { return nil }
            return object.object(forKey: "thumbnail")?.identity
        }
        #expect(pictures.count == 5)
        #expect(pictures[0] != nil && pictures[3] === pictures[0] && pictures[4] === pictures[0])
        #expect(try folder.open()[3]?.name == "the copy")
    }

    @Test func whatNoFieldCanHoldStays() throws {
        let archiver = KeyedArchiver()
        try archiver.encodeRecords(0..<1, of: ArchivedClass("BNRItem")) { _, archiver throws(ArchiveError) in
            try archiver.encode("a", forKey: "itemName")
            try archiver.encode(.unknown(ArchivedObject(ArchivedClass("Date"), fields: [])), forKey: "dateCreated")
        }
        let original = try archiver.finishEncoding()
        try folder.write(original, folder.archive)
        let store = try folder.open()
        try #require(store[0]).setName("b")
        try store.saveChanges()
        guard case .unknown(let item)?? = try ArchiveGraph(try folder.read(folder.archive)).root?.elements?.first else {
            Issue.record("the item is gone")
            return
        }
        #expect(item.object(forKey: "dateCreated")?.className == "Date")
        #expect(item.object(forKey: "itemName")?.stringValue == "b")
    }

    @Test("what cannot be kept either is reported, and the file is kept")
    func anObjectThatIsTwoItems() throws {
        let graph = try ArchiveGraph(try applicationArchive())
        guard case .collection(let all)? = graph.root else { throw TestFailure("no array") }
        all.elements.append(all.elements[2])
        let original = try graph.encoded()
        try folder.write(original, folder.archive)
        let store = try folder.open()
        #expect(store.count == 4)
        let notices = store.loadReport.notices
        #expect(
            notices.contains(
                "containedItem in 2 items, the first of them \"item 2\" is of class BNRItem, which a field cannot hold"),
            "\(notices)")
        #expect(notices.last == "the first save keeps the archive as it is now as items.archive.original-1")
        try #require(store[0]).setName("b")
        try store.saveChanges()
        #expect(try folder.read(folder.path + "/items.archive.original-1") == original)
        #expect(try folder.open().loadReport.notices.isEmpty)
    }
}

extension Process {
    /// Runs a program and gives its standard output.
    static func output(_ name: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [name] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}
