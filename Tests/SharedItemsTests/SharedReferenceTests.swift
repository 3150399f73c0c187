import Foundation
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "References between items of several hosts", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedReferenceTests {
    private let link: CutLink

    init() throws { link = try CutLink() }

    /// A laptop and a desk, with things that refer to persons by `den` (deny), `own` (cascade) and `tags` (nullify).
    private func stores(_ collection: String) throws -> (laptop: ItemStore, desk: ItemStore) {
        let address = try link.cluster.newCollection(collection)
        let laptop = try link.open(collection)
        var declarations = [ItemKind.declaration, FieldDeclaration("id", .string)]
        let rules: [(String, FieldDeclaration.Kind, FieldDeclaration.DeleteRule)] = [
            ("den", .string, .deny), ("own", .string, .cascade), ("tags", .array, .nullify),
        ]
        for (name, kind, rule) in rules {
            var declaration = FieldDeclaration(name, kind)
            declaration.references = FieldDeclaration.Reference("Person", onDelete: rule)
            declarations.append(declaration)
        }
        try laptop.declare(declarations)
        try laptop.commit()
        try laptop.saveChanges()
        return (laptop, try ItemStore.open(SharedPersistence(address, hostName: "desk")))
    }

    private func person(_ id: String, _ store: ItemStore) throws {
        try store.createItem(ItemFields(custom: ["itemKind": .string("Person"), "id": .string(id)]))
    }

    private func thing(_ id: String, _ store: ItemStore, _ field: String? = nil, _ person: String = "") throws {
        var custom: PropertyListFields = ["itemKind": .string("Thing"), "id": .string(id)]
        if let field { custom[field] = value(person, field) }
        try store.createItem(ItemFields(custom: custom))
    }

    private func value(_ person: String, _ field: String) -> PropertyListValue {
        field == "tags" ? .array([.string(person)]) : .string(person)
    }

    private func expectNothingDangles(_ stores: [ItemStore], _ note: String = "") throws {
        try expectEqual(stores)
        for field in stores[0].columns.references {
            #expect(stores[0].columns.unfitting(field.field).examples == [], "\(note)")
        }
    }

    private static let fields = ["den", "own", "tags"]

    @Test("a commit that refers to what another host has just removed is refused", arguments: fields)
    func removedMeanwhile(field: String) throws {
        let (laptop, desk) = try stores("refers-\(field)")
        try person("1", laptop)
        try thing("a", laptop)
        try laptop.commit()
        try desk.update()
        try #require(desk.item(forKey: "Person:1")).remove()
        try desk.commit()
        try #require(laptop.item(forKey: "Thing:a")).setValue(value("1", field), forField: field)
        let error = #expect(throws: StoreError.self) { try laptop.commit() }
        #expect(error?.code == .conflict && error?.message.contains("there is none with the id \"1\"") == true)
        try expectNothingDangles([laptop, desk])
    }

    @Test("a removal of what another host's item refers to by now is refused, and so is its undo", arguments: fields)
    func referredMeanwhile(field: String) throws {
        let (laptop, desk) = try stores("removes-\(field)")
        try person("1", laptop)
        try laptop.commit()
        try person("2", laptop)
        try laptop.commit()
        try desk.update()
        try thing("a", desk, field, "1")
        try thing("b", desk, field, "2")
        try desk.commit()
        try #require(laptop.item(forKey: "Person:1")).remove()
        #expect(throws: StoreError.self) { try laptop.commit() }
        try laptop.update()
        // The last step made the person 2.
        let error = #expect(throws: StoreError.self) { try laptop.undo() }
        #expect(error?.message.contains("is the \(field) of") == true)
        #expect(laptop.count == 4)
        try expectNothingDangles([laptop, desk])
    }

    @Test("an undo and a redo do not refer to what was removed since")
    func undo() throws {
        let (laptop, desk) = try stores("undoes")
        try person("1", laptop)
        try thing("a", laptop)
        try laptop.commit()
        let thing = try #require(laptop.item(forKey: "Thing:a"))
        try thing.setValue(.string("1"), forField: "den")
        try laptop.commit()
        try thing.setValue(nil, forField: "den")
        try laptop.commit()
        try desk.update()
        try #require(desk.item(forKey: "Person:1")).remove()
        try desk.commit()
        try laptop.update()
        #expect(throws: StoreError.self) { try laptop.undo() }
        #expect(try thing.value(forField: "den") == nil)
        try expectNothingDangles([laptop, desk])
    }

    @Test("what waited and refers to a removed item is to be settled, and so is a removal", arguments: fields)
    func queued(field: String) throws {
        let (laptop, desk) = try stores("queued-\(field)")
        for id in ["1", "2", "3"] { try person(id, laptop) }
        try laptop.commit()
        try desk.update()
        try link.goAway(laptop)
        try thing("a", laptop, field, "1")
        try laptop.commit()
        try #require(laptop.item(forKey: "Person:2")).remove()
        try laptop.commit()
        try thing("c", laptop, field, "3")
        try laptop.commit()
        try #require(desk.item(forKey: "Person:1")).remove()
        try thing("b", desk, field, "2")
        try desk.commit()
        try link.comeBack(laptop)
        #expect(laptop.conflicts.map { $0.changes.first?.itemKey } == ["Thing:a", "Person:2"])
        #expect(laptop.conflicts.first?.changes.first?.problem?.contains("none with the id \"1\"") != false)
        #expect(laptop.item(forKey: "Person:2") != nil && laptop.item(forKey: "Thing:c") != nil)
        try expectNothingDangles([laptop, desk])
    }

    @Test(
        "whatever is done on either side, nothing refers to what is not there",
        arguments: 1...(getenv("CUBBY_MANY") == nil ? 8 : 200) as ClosedRange<UInt64>)
    func model(seed: UInt64) throws {
        let collection = "reference-model-\(seed)"
        let (laptop, desk) = try stores(collection)
        var random = TestGenerator(seed: seed)
        var isAway = false
        func change(_ store: ItemStore) throws {
            for _ in 0..<(1 + random.number(2)) {
                let (id, field) = ("\(random.number(4))", Self.fields[random.number(3)])
                do throws(StoreError) {
                    let item = store.item(forKey: "Thing:\(random.number(6))")
                    switch random.number(8) {
                    case 0...1:
                        try store.createItem(
                            ItemFields(custom: ["itemKind": .string("Person"), "id": .string(id)]))
                    case 2:
                        try store.createItem(
                            ItemFields(custom: ["itemKind": .string("Thing"), "id": .string("\(random.number(6))")]))
                    case 3: try store.item(forKey: "Person:\(id)")?.remove()
                    case 4: try item?.remove()
                    case 5: try item?.setValue(nil, forField: field)
                    default: try item?.setValue(value(id, field), forField: field)
                    }
                } catch {
                    switch error.code {
                    case .invalidValue, .duplicateKey, .referenced: break
                    default: throw error
                    }
                }
            }
            try expectConflictAtMost { () throws(StoreError) in try store.commit() }
        }
        for _ in 0..<60 {
            switch random.number(12) {
            case 0:
                if isAway { try link.comeBack(laptop) } else { try link.goAway(laptop) }
                isAway.toggle()
            case 1: if !isAway { try laptop.update() }
            case 2: try desk.update()
            case 3: try expectConflictAtMost { () throws(StoreError) in _ = try laptop.undo() }
            case 4: try expectConflictAtMost { () throws(StoreError) in _ = try desk.undo() }
            case 5: try expectConflictAtMost { () throws(StoreError) in _ = try desk.redo() }
            case 6...8: try change(desk)
            default: try change(laptop)
            }
        }
        try link.comeBack(laptop)
        try expectNothingDangles([laptop, desk], "seed \(seed)")
    }

    private func expectConflictAtMost(_ body: () throws(StoreError) -> Void) throws {
        do { try body() } catch { if error.code != .conflict { throw error } }
    }
}
