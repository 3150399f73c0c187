import Foundation
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "Fields declared for several hosts", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedDeclarationTests {
    private let cluster: PostgresServer
    private let folder: TemporaryDirectory

    init() throws {
        cluster = try .ofSuite
        folder = try TemporaryDirectory()
    }

    private func open(_ collection: String, _ name: String, caches: Bool = false) throws -> ItemStore {
        try ItemStore.open(
            SharedPersistence(
                cluster.address(collection), hostName: name, timeLimit: .seconds(5),
                folder: caches ? folder.path + "/" + name : nil))
    }

    private func stores(_ names: String..., collection: String = #function) throws -> [ItemStore] {
        let collection = String(collection.prefix { $0 != "(" })
        _ = try cluster.newCollection(collection)
        return try names.map { try open(collection, $0) }
    }

    private func declare(
        _ store: ItemStore, _ name: String, _ kind: FieldDeclaration.Kind,
        _ change: (inout FieldDeclaration) -> Void = { _ in }
    ) throws {
        var declaration = FieldDeclaration(name, kind)
        change(&declaration)
        try store.declare([declaration])
        try store.commit()
    }

    @discardableResult
    private func create(_ store: ItemStore, _ key: String, _ fields: PropertyListFields) throws -> Item {
        try store.createItem(ItemFields(name: key.uppercased(), itemKey: key, custom: fields))
    }

    private func message(_ body: () throws -> Void) -> String {
        do { try body() } catch { return "\(error)" }
        return "nothing thrown"
    }

    @Test("what one host declares holds for all: for those that are there, from the server, and from the cache")
    func everywhere() throws {
        let stores = try stores("desk-1", "desk-2")
        let cached = try open("everywhere", "cached", caches: true)
        try declare(stores[0], "price", .real) { ($0.least, $0.summary) = (.integer(0), "what it cost") }
        try declare(stores[0], "sku", .string) { $0.isUnique = true }
        for store in [stores[1], cached] {
            try store.update()
            #expect(store.declarations == stores[0].declarations)
            #expect(
                message { try create(store, "a", ["price": .string("much")]) }.contains("price is declared as a real"))
            #expect(!store.hasUncommittedChanges)
        }
        try cached.saveChanges()
        // Those of the cache's items, and one of a commit behind them.
        try declare(stores[1], "seen", .boolean)
        #expect(
            try open("everywhere", "cached", caches: true).declarations.all.map(\.name) == ["price", "sku", "seen"])
        let late = try open("everywhere", "late")
        #expect(late.declarations.all.map(\.name) == ["price", "sku", "seen"])
        #expect(late.declarations["price"]?.summary == "what it cost")
        try create(late, "b", ["price": .integer(3)])
        try late.commit()
        #expect(try late.item(forKey: "b")?.value(forField: "price") == .real(3))
        try expectEqual(stores + [late])
    }

    @Test("a declaration is a commit: undone by its host, and not over one that another made since")
    func undo() throws {
        let stores = try stores("desk-1", "desk-2")
        try create(stores[0], "a", ["width": .string("3.5")])
        try stores[0].commit()
        try stores[1].update()
        try stores[1].declare([FieldDeclaration("width", .real)], converting: true)
        try stores[1].commit()
        try stores[0].update()
        #expect(try stores[0].item(forKey: "a")?.value(forField: "width") == .real(3.5))
        #expect(try stores[1].undo())
        try stores[0].update()
        #expect(stores[0].declarations.isEmpty)
        #expect(try stores[0].item(forKey: "a")?.value(forField: "width") == .string("3.5"))
        #expect(try stores[1].redo())
        try declare(stores[0].updated(), "depth", .real)
        try stores[1].update()
        #expect(message { _ = try stores[1].undo() }.contains("fields were declared elsewhere since"))
        #expect(stores[1].declarations.all.map(\.name) == ["width", "depth"])
        // Without any, hosts of an older program are let in again.
        try stores[0].declare([], freeing: ["width", "depth"])
        try stores[0].commit()
        try expectEqual(stores)
        #expect(try open("undo", "late").declarations.isEmpty)
    }

    @Test("a second item with a value of a unique field, committed by another host, is a conflict")
    func unique() throws {
        let stores = try stores("desk-1", "desk-2")
        try declare(stores[0], "sku", .string) { $0.isUnique = true }
        try stores[1].update()
        try create(stores[0], "a", ["sku": .string("42")])
        try stores[0].commit()
        try create(stores[1], "b", ["sku": .string("42")])
        try create(stores[1], "c", ["sku": .string("43")])
        let error = #expect(throws: StoreError.self) { try stores[1].commit() }
        #expect(error?.code == .conflict)
        #expect(
            error?.message
                == "desk-1 was first, and these changes were rolled back: sku is unique, and \"42\" is that of \"A\" "
                + "already: give it another value")
        #expect(stores[1].count == 1 && !stores[1].hasUncommittedChanges)
        // A value that is free is merged with what came meanwhile.
        try create(stores[0], "d", ["sku": .string("44")])
        try stores[0].commit()
        try create(stores[1], "c", ["sku": .string("43")])
        try stores[1].commit()
        try expectEqual(stores)
        // An assignment, within a transaction that is run again.
        try stores[0].item(forKey: "a")?.setValue(.string("50"), forField: "sku")
        try stores[0].commit()
        var runs = 0
        let text = message {
            try stores[1].transaction(isolation: .serializable) {
                runs += 1
                try stores[1].item(forKey: "c")?.setValue(.string("50"), forField: "sku")
            }
        }
        #expect(text.contains("sku is unique, and \"50\" is that of \"A\" already"))
        #expect(runs == 2)
        try expectEqual(stores)
    }

    @Test("numbers of a unique field are equal by what they are")
    func numbers() throws {
        let stores = try stores("desk-1", "desk-2")
        try declare(stores[0], "n", .number) { $0.isUnique = true }
        try stores[1].update()
        let pairs: [(PropertyListValue, PropertyListValue)] = [
            (.integer(1), .real(1)), (.single(0.5), .real(0.5)), (.wideInteger(1 << 64), .real(0x1p64)),
        ]
        for (place, pair) in pairs.enumerated() {
            try create(stores[0], "a\(place)", ["n": pair.0])
            try stores[0].commit()
            try create(stores[1], "b\(place)", ["n": pair.1])
            #expect(throws: StoreError.self) { try stores[1].commit() }
        }
        try expectEqual(stores)
        #expect(stores[0].count == 3)
    }

    @Test("values that do not fit, committed meanwhile: the declaration is a conflict, and nothing is declared")
    func meanwhile() throws {
        let stores = try stores("desk-1", "desk-2")
        try create(stores[0], "a", ["price": .string("much")])
        try stores[0].commit()
        try stores[1].declare([FieldDeclaration("price", .real)])
        let error = #expect(throws: StoreError.self) { try stores[1].commit() }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("1 item does not fit what is declared of price: \"much\" in \"A\"") == true)
        #expect(stores[1].declarations.isEmpty)
        try expectEqual(stores)
        // Two equal values of other hosts.
        for (store, key) in zip(stores, ["b", "c"]) {
            try store.update()
            try create(store, key, ["sku": .string("1")])
            try store.commit()
        }
        var sku = FieldDeclaration("sku", .string)
        sku.isUnique = true
        let late = try open("meanwhile", "late")
        let text = message { try late.declare([sku]) }
        #expect(text.contains("1 item does not fit sku"))
    }

    @Test("a commit that was made before another host's declaration is checked again on it")
    func declaredMeanwhile() throws {
        let stores = try stores("desk-1", "desk-2")
        try declare(stores[0], "price", .real)
        try create(stores[1], "a", ["price": .string("much")])
        let error = #expect(throws: StoreError.self) { try stores[1].commit() }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("desk-1 was first") == true)
        #expect(error?.message.contains("price is declared as a real: \"much\" is not one") == true)
        try expectEqual(stores)
        // What fits is merged.
        try declare(stores[0], "room", .string)
        try create(stores[1], "b", ["price": .real(2), "room": .string("Attic")])
        try stores[1].commit()
        try expectEqual(stores)
        // Both declare: the later one has to be made again.
        try declare(stores[0], "depth", .real)
        try stores[1].declare([FieldDeclaration("width", .real)])
        #expect(message { try stores[1].commit() }.contains("fields were declared by desk-1, and here"))
        #expect(stores[1].declarations.all.map(\.name) == ["price", "room", "depth"])
        try expectEqual(stores)
    }

    @Test("a step is not taken back to a value that another host's item has by now")
    func undoneValue() throws {
        let stores = try stores("desk-1", "desk-2")
        try declare(stores[0], "sku", .string) { $0.isUnique = true }
        try create(stores[0], "a", ["sku": .string("1")])
        try stores[0].commit()
        try stores[0].item(forKey: "a")?.setValue(.string("2"), forField: "sku")
        try stores[0].commit()
        try stores[1].update()
        try create(stores[1], "b", ["sku": .string("1")])
        try stores[1].commit()
        // Not known here yet, and then known.
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { try stores[0].undo() }
            #expect(error?.code == .conflict)
            #expect(error?.message.contains("sku is unique, and \"1\" is that of \"B\" already") == true)
            #expect(try stores[0].item(forKey: "a")?.value(forField: "sku") == .string("2"))
        }
        try expectEqual(stores)
    }

    @Test("hosts on tables of an older program cannot declare; migrated, they can; older hosts are refused by name")
    func migration() throws {
        _ = try cluster.newCollection("migration")
        let owner = try cluster.connect()
        try owner.runScript(
            "drop table cubby.declaration; alter table cubby.collection drop column declared; "
                + "drop function cubby.check_declared, cubby.hello(text, uuid, text, bigint, int), "
                + "cubby.commit(int, uuid, bigint, uuid, uuid, bytea[], bytea[], bytea[], bytea[], bytea[], bytea, "
                + "bytea[], bytea), "
                + "cubby.commit(int, uuid, bigint, uuid, uuid, bytea[], bytea[], bytea[], bytea[], bytea[], bytea, "
                + "bytea[], bytea, bytea), "
                + "cubby.commit(int, uuid, bigint, uuid, uuid, bytea[], bytea[], bytea[], bytea[], bytea[], bytea, "
                + "bytea[], bytea, bytea, int)")
        try owner.runScript(
            String(contentsOfFile: "\(Project.root)/Tests/Fixtures/shared/functions-2.0.0.sql", encoding: .utf8))
        try owner.runScript("create role anna login")
        // As an older program did it.
        try owner.runScript(
            "grant usage on schema cubby to anna; grant select on all tables in schema cubby to anna; "
                + "grant execute on all functions in schema cubby to anna; "
                + "insert into cubby.member select id, 'anna', true from cubby.collection")
        let old = try ["old-1", "old-2"].map { try open("migration", $0) }
        try create(old[0], "a", ["price": .string("much")])
        try old[0].commit()
        #expect(message { try declare(old[0], "sku", .string) }.contains("cubby shared migrate 'postgres://owner@"))
        #expect(try SharedSchema.migrate(cluster.address("migration")) == 1)
        try declare(old[0], "sku", .string) { $0.isUnique = true }
        // It does not know of the migration yet, and is told of the declaration as of any commit.
        try create(old[1], "b", ["sku": .string("1")])
        try old[1].commit()
        #expect(old[1].declarations["sku"]?.isUnique == true)
        try expectEqual(old)
        // What was granted includes what came since.
        let anna = try PostgresConnection(
            SharedAddress(cluster.url("migration", user: "anna")), waiter: BlockingWaiter())
        let refusal = #expect(throws: PostgresError.self) {
            try anna.run(
                "select * from cubby.hello($1, $2, $3, 0)",
                [.text("migration"), .uuid([UInt8](repeating: 9, count: 16)), .text("older")])
        }
        #expect(refusal?.message.contains("install a newer cubby") == true)
        let item = CommitCall.item("older")
        let commit = #expect(throws: PostgresError.self) {
            try anna.run(
                "select * from cubby.commit($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)",
                [
                    .int4(try #require(old[0].shared.server.collection).number),
                    .uuid(try #require(old[0].shared.server.collection).epoch),
                    .int8(Int64(old[0].revision.rawValue)), .uuid([UInt8](repeating: 9, count: 16)),
                    .uuid([UInt8](repeating: 9, count: 16)), .byteArrays([]), .byteArrays([]), .byteArrays([item.key]),
                    .byteArrays([item.rank]), .byteArrays([item.record]), .bytes(CommitCall.nothing),
                ])
        }
        #expect(commit?.kind == .server("CB003"))
        #expect(
            try PostgresConnection(SharedAddress(cluster.url("migration", user: "anna")), waiter: BlockingWaiter())
                .run("select count(*) from cubby.declaration").number(0, 0) == 1)
        try expectEqual(old)
    }

    @Test("push and pull take declarations along, and values that do not fit are carried")
    func transfer() throws {
        let address = try cluster.newCollection("transfer")
        let source = ItemStore()
        try create(source, "a", ["price": .real(3)])
        try source.declare([FieldDeclaration("price", .real)])
        try source.commit()
        try source.apply([.update("a", "price", to: .string("much"))])
        let shared = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        try ItemTransfer.copy(from: source, to: shared)
        let back = ItemStore()
        try ItemTransfer.copy(from: open("transfer", "late"), to: back)
        #expect(back.declarations == source.declarations && shared.declarations == source.declarations)
        #expect(try back.contents == source.contents)
        #expect(back.declarationNotices.count == 1)
    }
}

extension ItemStore {
    /// The store with what the others committed.
    fileprivate func updated() throws -> ItemStore {
        try update()
        return self
    }
}
