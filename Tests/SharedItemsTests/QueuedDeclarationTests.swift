import Foundation
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "Fields declared while the server is away", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct QueuedDeclarationTests {
    private let link: CutLink

    init() throws { link = try CutLink() }

    /// A laptop and a desk; the field `sku` is unique, unless it is to be free.
    private func stores(_ collection: String, isUnique: Bool = true) throws -> (laptop: ItemStore, desk: ItemStore) {
        let address = try link.cluster.newCollection(collection)
        let laptop = try link.open(collection)
        if isUnique {
            var sku = FieldDeclaration("sku", .string)
            sku.isUnique = true
            try laptop.declare([sku])
            try laptop.commit()
        }
        try laptop.saveChanges()
        return (laptop, try ItemStore.open(SharedPersistence(address, hostName: "desk")))
    }

    private func create(_ store: ItemStore, _ key: String, _ fields: PropertyListFields) throws {
        try store.createItem(ItemFields(name: key.uppercased(), itemKey: key, custom: fields))
        try store.commit()
    }

    @Test(
        "an equal value of a unique field from the queue is to be settled, and never a duplicate",
        arguments: [false, true])
    func unique(restarts: Bool) throws {
        let collection = "queued-unique-\(restarts)"
        var (laptop, desk) = try stores(collection)
        try link.goAway(laptop)
        try create(laptop, "a", ["sku": .string("1")])
        try create(laptop, "b", ["sku": .string("2")])
        // It builds on the first.
        try #require(laptop.item(forKey: "a")).setValue(.string("Attic"), forField: "room")
        try laptop.commit()
        try create(desk, "c", ["sku": .string("1")])
        if restarts { laptop = try link.open(collection) }
        try link.comeBack(laptop)
        try expectEqual([laptop, desk])
        #expect(laptop.item(forKey: "a") == nil && laptop.item(forKey: "b") != nil)
        let conflicts = laptop.conflicts
        #expect(conflicts.count == 2 && conflicts[0].host == "desk")
        #expect(conflicts[0].changes[0].problem?.contains("sku is unique, and \"1\" is that of \"C\" already") == true)
        #expect(conflicts[0].description.contains("\n  sku is unique"))
        #expect(throws: StoreError.self) { try laptop.keepMine(conflicts[0]) }
        #expect(laptop.conflicts.count == 2)
        try laptop.resolve(conflicts[0], ["a": ["sku": .string("3")]])
        try laptop.keepMine(conflicts[1])
        #expect(laptop.conflicts.isEmpty)
        try expectEqual([laptop, desk])
        #expect(try desk.item(forKey: "a")?.value(forField: "sku") == .string("3"))
        #expect(try desk.item(forKey: "a")?.value(forField: "room") == .string("Attic"))
    }

    @Test("what waited is checked against what another host declared meanwhile")
    func declaredMeanwhile() throws {
        let (laptop, desk) = try stores("queued-declared", isUnique: false)
        try create(desk, "x", ["sku": .string("2")])
        try laptop.update()
        try link.goAway(laptop)
        try create(laptop, "a", ["price": .string("much")])
        try create(laptop, "b", ["price": .real(2), "sku": .string("1")])
        try create(laptop, "c", ["sku": .string("2")])
        var sku = FieldDeclaration("sku", .string)
        sku.isUnique = true
        try desk.declare([FieldDeclaration("price", .real), sku])
        try desk.commit()
        try link.comeBack(laptop)
        try expectEqual([laptop, desk])
        #expect(laptop.conflicts.map { $0.changes.first?.itemKey } == ["a", "c"])
        #expect(laptop.declarations == desk.declarations)
        #expect(try laptop.contents.compactMap { $0["itemKey"] } == [.string("x"), .string("b")])
    }

    @Test("a declaration waits, too, and conflicts with values that came and with another declaration")
    func declares() throws {
        let (laptop, desk) = try stores("queued-declares")
        try link.goAway(laptop)
        try laptop.declare([FieldDeclaration("price", .real)])
        try laptop.commit()
        try create(laptop, "a", ["price": .real(2)])
        try link.comeBack(laptop)
        try expectEqual([laptop, desk])
        #expect(desk.declarations["price"]?.kind == .real)

        try link.goAway(laptop)
        try laptop.declare([FieldDeclaration("width", .real)])
        try laptop.commit()
        try create(desk, "b", ["width": .string("wide")])
        try link.comeBack(laptop)
        try expectEqual([laptop, desk])
        #expect(laptop.declarations["width"] == nil)
        var conflict = try #require(laptop.conflicts.first)
        #expect(conflict.host == "desk")
        #expect(conflict.description.contains("(declared)  width  a real  (free)"))
        #expect(throws: StoreError.self) { try laptop.keepMine(conflict) }
        try #require(laptop.item(forKey: "b")).setValue(.real(3), forField: "width")
        try laptop.keepMine(conflict)
        try expectEqual([laptop, desk])
        #expect(desk.declarations["width"]?.kind == .real)

        try link.goAway(laptop)
        try laptop.declare([FieldDeclaration("depth", .real)])
        try laptop.commit()
        try desk.declare([FieldDeclaration("height", .real)])
        try desk.commit()
        try link.comeBack(laptop)
        conflict = try #require(laptop.conflicts.first)
        try laptop.keepMine(conflict)
        try expectEqual([laptop, desk])
        #expect(desk.declarations.all.map(\.name) == ["sku", "price", "width", "height", "depth"])
    }

    @Test(
        "whatever is done on either side, no two items have one value, and each loss is a conflict",
        arguments: 1...(getenv("CUBBY_MANY") == nil ? 10 : 200) as ClosedRange<UInt64>)
    func model(seed: UInt64) throws {
        let collection = "unique-model-\(seed)"
        var (laptop, desk) = try stores(collection, isUnique: seed % 2 == 0)
        var random = TestGenerator(seed: seed)
        var isAway = false
        var made = 0
        // The keys whose creation was committed or waits, without those that a later change removed.
        var expected: Set<String> = []
        func commit(_ store: ItemStore, _ created: [String], _ removed: [String]) throws {
            do { try store.commit() } catch {
                guard error.code == .conflict else { throw error }
                return
            }
            expected.formUnion(created)
            expected.subtract(removed)
        }
        func change(_ store: ItemStore) throws {
            var (created, removed): ([String], [String]) = ([], [])
            for _ in 0..<(1 + random.number(2)) {
                let count = store.count
                let value = PropertyListValue.string("\(random.number(6))")
                do throws(StoreError) {
                    switch random.number(8) {
                    case 0...2:
                        made += 1
                        try store.createItem(ItemFields(itemKey: "k\(made)", custom: ["sku": value]))
                        created.append("k\(made)")
                    case 3 where count > 3:
                        if let item = store[random.number(count)] {
                            removed.append(try item.itemKey)
                            try item.remove()
                        }
                    case 4 where count > 0:
                        try store[random.number(count)]?.setValue(.integer(Int64(random.number(9))), forField: "shelf")
                    default: if count > 0 { try store[random.number(count)]?.setValue(value, forField: "sku") }
                    }
                } catch {
                    guard case .invalidValue = error.code else { throw error }
                }
            }
            try commit(store, created, removed)
        }
        func declare(_ store: ItemStore) throws {
            var sku = FieldDeclaration("sku", .string)
            sku.isUnique = true
            do { try store.declare([sku]) } catch let error as StoreError {
                switch error.code {
                // The second: a host that starts while the server is away.
                case .unfittingItems, .readOnly: break
                default: throw error
                }
            }
            try commit(store, [], [])
        }
        for _ in 0..<60 {
            switch random.number(12) {
            case 0:
                if isAway { try link.comeBack(laptop) } else { try link.goAway(laptop) }
                isAway.toggle()
            case 1:
                if !isAway { try laptop.update() }
                if random.number(2) == 0 { try laptop.saveChanges() }
                laptop = try link.open(collection)
            case 2: try desk.update()
            case 3: try declare(random.number(2) == 0 ? laptop : desk)
            case 4:
                // What comes or leaves by this is not told apart here.
                let before = Set(laptop.keys)
                _ = try? laptop.undo()
                let after = Set(laptop.keys)
                expected.formUnion(after.subtracting(before))
                expected.subtract(before.subtracting(after))
            case 5...7: try change(desk)
            default: try change(laptop)
            }
        }
        try link.comeBack(laptop)
        try expectEqual([laptop, desk])
        #expect(laptop.declarations == desk.declarations)
        if laptop.declarations["sku"]?.isUnique == true {
            let values = try laptop.contents.compactMap { $0["sku"] }
            #expect(values.count == Set(values).count)
            #expect(laptop.declarationNotices.isEmpty)
        }
        // An item that is not there was removed by a commit, or is part of one that is to be settled.
        let settling = Set(laptop.conflicts.flatMap(\.changes).map(\.itemKey))
        let present = Set(laptop.keys)
        #expect(expected.subtracting(present).subtracting(settling) == [])
    }
}

extension ItemStore {
    fileprivate var keys: [String] { columns.slots.filter { $0 != ItemOrder.hole }.map { columns.keyString($0) } }
}
