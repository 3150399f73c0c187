import ItemsTestSupport
import PredicateFormat
import PropertyList
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// Nothing but its schema tells a store, a journal and an archive which fields its items have.
@Suite("Items of other schemas")
struct OtherSchemaTests {
    private static let library = ItemSchema(
        [
            .date("bought"), .text("title", otherNames: ["bookTitle"]), .integer("pages", initial: 1),
            .text("shelf", isOptional: true), .integer("copies"), .date("noted", isStamped: true),
        ], keyNames: ["isbn"], classNames: ["book"])

    private let folder: StoreFolder

    init() throws { folder = try StoreFolder() }

    private func open(_ schema: ItemSchema, mapped: Bool = false) throws -> ItemStore {
        try folder.open(mapped: mapped, schema: schema)
    }

    /// Fields of a household are custom ones here.
    private func fill(_ store: ItemStore) throws {
        for number in 0..<100 {
            let item = try store.createItem()
            try item.setValue(.string("Volume \(number)"), forField: "title")
            try item.setValue(.integer(Int64(number)), forField: "pages")
            if number % 3 == 0 { try item.setValue(.string("shelf \(number % 7)"), forField: "shelf") }
            try item.setValue(.date(PropertyListDate(secondsSinceReferenceDate: Double(number))), forField: "bought")
            try item.setValue(number % 2 == 0 ? .integer(7) : .string("none"), forField: "valueInDollars")
            try item.setValue(.real(Double(number) / 2), forField: "name")
        }
        try store.commit()
    }

    private func expect(_ store: ItemStore, _ records: [PropertyListFields], _ step: Comment) throws {
        #expect(try store.records.map(\.values) == records, step)
    }

    @Test("a journal says whether its items have no fields but their key, and is not misread by those of a household")
    func statedLayout() throws {
        func layout() throws -> [UInt8] { Array(try folder.read(folder.journal)[48..<56]) }
        let own = try open(ItemSchema())
        try own.createItem().setValue(.string("A"), forField: "title")
        try own.commit()
        #expect(try layout() == [1, 0, 0, 0, 0, 0, 0, 0])
        try own.saveChanges()
        try own.createItem().setValue(.string("B"), forField: "title")
        try own.commit()
        #expect(try layout().first == 1)
        let (archive, journal) = (try folder.read(folder.archive), try folder.read(folder.journal))
        for isReadOnly in [true, false] {
            let error = #expect(throws: StoreError.self) { try folder.open(isReadOnly: isReadOnly) }
            #expect(error?.code == .corruptJournal && error?.message.contains("Library/format is lost") == true)
        }
        #expect(try folder.read(folder.archive) == archive)
        #expect(try folder.read(folder.journal) == journal)
        #expect(folder.names == ["items.archive", "items.journal"])
        #expect(try open(ItemSchema()).count == 2)
        let household = try StoreFolder()
        let store = try household.open()
        try store.createItem(ItemFields(name: "a"))
        try store.commit()
        #expect(try household.read(household.journal)[48..<56].allSatisfy { $0 == 0 })
    }

    @Test("come back from the journal, the archive and its index, and are found by their fields")
    func comeBack() throws {
        var store = try open(Self.library)
        try fill(store)
        var records = try store.records.map(\.values)
        #expect(records[0]["noted"] != nil && records[0]["copies"] == .integer(0) && records[1]["shelf"] == nil)
        store = try open(Self.library)
        try expect(store, records, "from the journal")
        try store.saveChanges()
        store = try open(Self.library)
        try expect(store, records, "from the archive")
        store = try open(Self.library, mapped: true)
        try #require(store[4]).setValue(.integer(400), forField: "copies")
        try store.removeItem(try #require(store[5]))
        try store.saveChanges()
        records = try store.records.map(\.values)
        store = try open(Self.library, mapped: true)
        #expect(
            try store.query(FormatPredicate(format: "copies > 0 AND pages == 4 AND title == 'Volume 4'")).count() == 1)
        #expect(try store.query().sum("copies") == .integer(400))
        try expect(store, records, "by the index")
        // Another schema does not take the index for its own, and reads the same archive.
        store = try open(ItemSchema([.text("title")], keyNames: ["isbn"], classNames: ["book"]), mapped: true)
        #expect(store.count == 99)
        #expect(try store.query(FormatPredicate(format: "copies > 0")).count() == 1)
        #expect(try store[0]?.value(forField: "shelf") == .string("shelf 0"))
    }

    @Test("an archive has their keys")
    func keys() throws {
        let store = try open(Self.library)
        try store.createItem()
        try store.saveChanges()
        let text = String(decoding: try folder.read(folder.archive), as: UTF8.self)
        for key in ["bought", "title", "pages", "shelf", "copies", "noted", "isbn"] {
            #expect(text.contains(key), "\(key)")
        }
        #expect(!text.contains("valueInDollars") && !text.contains("itemKey"))
    }

    @Test("a value of another kind than its field's is carried")
    func carried() throws {
        var store = try open(Self.library)
        try fill(store)
        try store.apply(
            [.insert(["itemKey": .string("k"), "pages": .string("many"), "noted": .null, "title": .integer(3)])])
        let records = try store.records.map(\.values)
        #expect(store.misfits().map(\.field) == ["title", "pages", "noted"])
        store = try open(Self.library)
        try store.saveChanges()
        store = try open(Self.library)
        #expect(store.misfits().map(\.field) == ["title", "pages", "noted"])
        try expect(store, records, "from the archive")
    }

    @Test("items with nothing but a key")
    func withoutFields() throws {
        var store = try open(ItemSchema())
        try store.createItem()
        try #require(store[0]).setValue(.string("Lamp"), forField: "name")
        try store.commit()
        let records = try store.records.map(\.values)
        store = try open(ItemSchema())
        try expect(store, records, "from the journal")
        try store.saveChanges()
        store = try open(ItemSchema(), mapped: true)
        try expect(store, records, "from the archive")
        #expect(Set(store.fieldNames) == ["itemKey", "name"])
    }
}
