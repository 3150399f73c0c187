import ItemsTestSupport
import KeyedArchive
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Archives under the names of other editions")
struct AdoptionTests {
    let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
    }

    private static func archive(of className: String, count: Int = 2) throws -> [UInt8] {
        let archiver = KeyedArchiver()
        try archiver.encodeRecords(0..<count, of: ArchivedClass(className)) { index, archiver throws(ArchiveError) in
            try archiver.encode("item \(index)", forKey: "possessionName")
            try archiver.encode("K\(index)", forKey: "imageKey")
            try archiver.encode(index, forKey: "valueInDollars")
        }
        return try archiver.finishEncoding()
    }

    private static func list(_ items: [PropertyListFields]) throws -> [UInt8] {
        try PropertyListValue.array(items.map { .fields($0) }).encoded(as: .binary)
    }

    @Test("are opened, and stay as they are", arguments: ArchiveFolder.otherNames)
    func adopted(name: String) throws {
        let bytes =
            name.hasSuffix("plist")
            ? try Self.list([["name": .string("item 0"), "itemKey": .string("K0")], ["name": .string("item 1")]])
            : try Self.archive(of: "Possession")
        try folder.write(bytes, "\(folder.path)/\(name)")
        let store = try folder.open()
        #expect(try store.records.map(\.name) == ["item 0", "item 1"])
        let notice = try #require(store.loadReport.notices.first)
        #expect(notice.contains(name) && notice.contains("items.archive"))
        try #require(store[0]).setName("changed")
        try store.saveChanges()
        let again = try folder.open()
        #expect(try again.records.map(\.name) == ["changed", "item 1"])
        #expect(again.loadReport.notices.isEmpty)
        #expect(try folder.read("\(folder.path)/\(name)") == bytes)
    }

    @Test("are read by who may not write, and nothing is written")
    func readOnly() throws {
        try folder.write(try Self.archive(of: "Possession"), "\(folder.path)/possessions.data")
        let persistence = ArchivePersistence(folder: folder.path, isReadOnly: true)
        let store = try ItemStore.open(persistence)
        #expect(store.count == 2)
        #expect(folder.names == ["possessions.data"])
    }

    @Test("are no matter once there is a store, nor when they hold no items")
    func leftAlone() throws {
        let others = [
            "items.plist": try Self.list([["colour": .string("red")], ["colour": .string("blue")]]),
            "possessions.data": Array("junk".utf8), "items.data": Array("SQLite format 3\0".utf8),
            "itemsdone.archive": try Self.archive(of: "Foo"),
        ]
        for (name, bytes) in others { try folder.write(bytes, "\(folder.path)/\(name)") }
        #expect(try folder.open().count == 0)
        #expect(folder.names == others.keys.sorted())
        try folder.write(try Self.archive(of: "Item", count: 1), folder.archive)
        try folder.write(try Self.archive(of: "Item", count: 5), "\(folder.path)/possessions.data")
        let store = try folder.open()
        #expect(store.count == 1)
        #expect(store.loadReport.notices.isEmpty)
    }

    @Test("are named when there are several")
    func several() throws {
        try folder.write(try Self.archive(of: "Item", count: 1), "\(folder.path)/itemsdone.archive")
        try folder.write(try Self.archive(of: "Item", count: 3), "\(folder.path)/itemsundone.archive")
        let store = try folder.open()
        #expect(store.count == 3)
        #expect(store.loadReport.notices.first?.contains("itemsdone.archive would hold items, too") == true)
    }
}
