import Files
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Declared fields in a store's files")
struct DeclarationRecordTests {
    let folder: StoreFolder

    init() throws { folder = try StoreFolder() }

    private var price: FieldDeclaration {
        var price = FieldDeclaration("price", .real)
        (price.least, price.format, price.summary) = (.real(0), .money, "what it was")
        return price
    }

    private func fill(_ store: ItemStore) throws {
        try store.createItem(ItemFields(name: "a", custom: ["price": .integer(3)]))
        try store.commit()
        try store.declare([price])
        try store.commit()
    }

    private func version() throws -> UInt8 { try folder.read(folder.journal)[8] }

    @Test("without declarations the files are as they were")
    func without() throws {
        let store = try folder.open()
        try store.createItem(ItemFields(name: "a"))
        try store.commit()
        #expect(try version() == UInt8(JournalHeader.usualVersion))
        try store.declare([price])
        try store.commit()
        // An older program refuses the journal.
        #expect(try version() == UInt8(JournalHeader.declaringVersion))
        let archive = try {
            try store.saveChanges(); return try folder.read(folder.archive)
        }()
        try store.declare([], freeing: ["price"])
        try store.commit()
        try store.saveChanges()
        #expect(try version() == UInt8(JournalHeader.usualVersion))
        #expect(try folder.read(folder.journal).count == JournalHeader.length)
        // The archive is the application's, and has none of them.
        #expect(try folder.read(folder.archive) == archive)
    }

    @Test("they survive the end of the process, saves, and changes after a save", arguments: [false, true])
    func reopened(mapped: Bool) throws {
        var store = try folder.open(mapped: mapped)
        try fill(store)
        store = try folder.open(mapped: mapped)
        #expect(store.declarations.all == [price])
        #expect(try store[0]?.value(forField: "price") == .real(3))
        for _ in 0..<2 {
            try store.saveChanges()
            store = try folder.open(mapped: mapped)
            #expect(store.loadReport.notices.isEmpty)
            #expect(store.declarations.all == [price])
            #expect(throws: StoreError.self) { try store[0]?.setValue(.string("x"), forField: "price") }
            try store.createItem(ItemFields(name: "b", custom: ["price": .integer(4)]))
            try store.commit()
        }
        try store.declare([], freeing: ["price"])
        try store.commit()
        #expect(try folder.open(mapped: mapped).declarations.isEmpty)
        #expect(try store.undo())
        #expect(try folder.open(mapped: mapped).declarations.all == [price])
        try store.saveChanges()
        let read = try folder.open(isReadOnly: true, mapped: mapped)
        #expect(read.declarations.all == [price] && read.count == 3)
    }

    @Test("a save that ends at any step loses none of them")
    func interrupted() throws {
        var step = 1
        while true {
            let folder = try StoreFolder()
            let layer = FaultyFileLayer()
            let store = try folder.open(layer)
            try store.createItem(ItemFields(name: "a", custom: ["price": .integer(3)]))
            try store.saveChanges()
            try store.declare([price])
            try store.commit()
            let save = try #require(try store.beginSave())
            try store.createItem(ItemFields(name: "b", custom: ["price": .integer(4)]))
            try store.commit()
            layer.arm(failAt: step, keepsFailing: true)
            let failure: StoreError?
            do throws(StoreError) { try store.finish(save, save.write()); failure = nil } catch { failure = error }
            let again = try folder.open()
            #expect(again.declarations.all == [price], "step \(step), \(layer.failedCall ?? "")")
            #expect(again.count == 2, "step \(step)")
            layer.arm(failAt: .max)
            try store.createItem(ItemFields(name: "c", custom: ["price": .integer(5)]))
            try store.commit()
            try store.saveChanges()
            #expect(try folder.open().declarations.all == [price])
            if failure == nil, layer.failedCall == nil { break }
            step += 1
            if step > 200 { break }
        }
        #expect(step > 4 && step <= 200)
    }

    @Test("another archive in the place of this one does not free the fields")
    func otherArchive() throws {
        var store = try folder.open()
        try fill(store)
        try store.saveChanges()
        let other = try StoreFolder()
        let another = try other.open()
        try another.createItem(ItemFields(name: "of the application", custom: ["price": .string("n/a")]))
        try another.saveChanges()
        try folder.write(try other.read(other.archive), folder.archive)
        store = try folder.open()
        #expect(folder.names.contains("items.journal.other-1") && store.count == 1)
        #expect(store.declarations.all == [price] && store.declarationNotices.count == 1)
        #expect(store.loadReport.notices.contains { $0.contains("stay declared") })
        try store.createItem(ItemFields(name: "new", custom: ["price": .integer(4)]))
        try store.commit()
        store = try folder.open()
        #expect(store.declarations.all == [price] && store.count == 2)
        try store.saveChanges()
        store = try folder.open()
        #expect(store.declarations.all == [price] && store.loadReport.notices.isEmpty)
    }

    @Test("a reader follows them")
    func followed() throws {
        let owner = try folder.open()
        try owner.createItem(ItemFields(name: "a"))
        try owner.commit()
        let reader = try folder.open(isReadOnly: true)
        try owner.declare([price])
        try owner.commit()
        try reader.followOwner()
        #expect(reader.declarations.all == [price])
        try owner.saveChanges()
        try owner.createItem(ItemFields(name: "b"))
        try owner.commit()
        try reader.followOwner()
        #expect(reader.declarations.all == [price] && reader.count == 2)
    }

    @Test("a record that is damaged is never believed")
    func damaged() throws {
        let store = try folder.open()
        try fill(store)
        try store.saveChanges()
        let (archive, journal) = try (folder.read(folder.archive), folder.read(folder.journal))
        for index in journal.indices {
            let other = try StoreFolder()
            var damaged = journal
            damaged[index] ^= UInt8(1 << (index % 8))
            try other.write(archive, other.archive)
            try other.write(damaged, other.journal)
            guard let opened = try? other.open() else { continue }
            #expect(opened.count == 1)
            #expect(opened.declarations.all == [price] || !opened.loadReport.notices.isEmpty, "byte \(index)")
        }
        // Records with declarations that are none.
        for value: PropertyListValue in [
            .null, .array([.null]), .array([.fields(["name": .string("a")])]),
            .array([.fields(["name": .string("$a"), "kind": .string("real")])]),
            .array([.fields(["name": .string("a"), "kind": .string("colour")])]),
            .array([.fields(["name": .string("a"), "kind": .string("real"), "unique": .integer(1)])]),
            .array([.fields(["name": .string("a"), "kind": .string("real"), "sealed": .boolean(true)])]),
        ] {
            #expect(throws: StoreError.self) { _ = try FieldDeclarations(record: value) }
        }
        var all = FieldDeclaration("a", .number)
        (all.isUnique, all.isRequired, all.values) = (true, true, [.integer(1), .real(2.5)])
        (all.least, all.most, all.format, all.summary) = (.integer(0), .real(9), .money, "é")
        let declarations = FieldDeclarations([all, price, FieldDeclaration("z")])
        #expect(try FieldDeclarations(record: declarations.record) == declarations)
    }
}
