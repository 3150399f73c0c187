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
        for (place, pair) in [(PropertyListValue.integer(1), PropertyListValue.real(1)), (.single(0.5), .real(0.5))]
            .enumerated()
        {
            try create(stores[0], "a\(place)", ["n": pair.0])
            try stores[0].commit()
            try create(stores[1], "b\(place)", ["n": pair.1])
            #expect(throws: StoreError.self) { try stores[1].commit() }
        }
        try expectEqual(stores)
        #expect(stores[0].count == 2)
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
                + "bytea[], bytea)")
        try owner.runScript(
            String(contentsOfFile: "\(Project.root)/Tests/Fixtures/shared/functions-2.0.0.sql", encoding: .utf8))
        try owner.runScript("create role anna login")
        try SharedSchema.grant("anna", cluster.address("migration"))
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
        let commit = #expect(throws: PostgresError.self) {
            try anna.run(
                "select * from cubby.commit($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)",
                [
                    .int4(try #require(old[0].shared.server.collection).number),
                    .uuid(try #require(old[0].shared.server.collection).epoch),
                    .int8(Int64(old[0].revision.rawValue)), .uuid([UInt8](repeating: 9, count: 16)),
                    .uuid([UInt8](repeating: 9, count: 16)), .byteArrays([]), .byteArrays([]), .byteArrays([[1]]),
                    .byteArrays([[1]]), .byteArrays([[1]]), .bytes([1]),
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

@Suite(
    "Fields declared while the server is away", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct QueuedDeclarationTests {
    private let cluster: PostgresServer
    private let folder: TemporaryDirectory
    private let proxy: CuttingProxy

    init() throws {
        cluster = try .ofSuite
        folder = try TemporaryDirectory()
        proxy = try CuttingProxy(to: cluster.folder.path)
    }

    private func open(_ collection: String) throws -> ItemStore {
        try ItemStore.open(
            SharedPersistence(
                SharedAddress(cluster.url(collection, folder: proxy.folder.path)),
                host: [UInt8](repeating: 7, count: 16), hostName: "laptop", timeLimit: .seconds(5),
                folder: folder.path, keepsCommits: true))
    }

    /// A laptop and a desk; the field `sku` is unique, unless it is to be free.
    private func stores(_ collection: String, isUnique: Bool = true) throws -> (laptop: ItemStore, desk: ItemStore) {
        let address = try cluster.newCollection(collection)
        let laptop = try open(collection)
        if isUnique {
            var sku = FieldDeclaration("sku", .string)
            sku.isUnique = true
            try laptop.declare([sku])
            try laptop.commit()
        }
        try laptop.saveChanges()
        return (laptop, try ItemStore.open(SharedPersistence(address, hostName: "desk")))
    }

    private func goAway(_ store: ItemStore) throws {
        proxy.cut(after: 0)
        try? store.shared.poll()
        store.connectionWasLost()
    }

    private func comeBack(_ store: ItemStore) throws {
        proxy.cut(after: nil)
        try store.update()
        #expect(store.isConnected && store.waitingCommits == 0)
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
        try goAway(laptop)
        try create(laptop, "a", ["sku": .string("1")])
        try create(laptop, "b", ["sku": .string("2")])
        // It builds on the first.
        try #require(laptop.item(forKey: "a")).setValue(.string("Attic"), forField: "room")
        try laptop.commit()
        try create(desk, "c", ["sku": .string("1")])
        if restarts { laptop = try open(collection) }
        try comeBack(laptop)
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
        try goAway(laptop)
        try create(laptop, "a", ["price": .string("much")])
        try create(laptop, "b", ["price": .real(2), "sku": .string("1")])
        try create(laptop, "c", ["sku": .string("2")])
        var sku = FieldDeclaration("sku", .string)
        sku.isUnique = true
        try desk.declare([FieldDeclaration("price", .real), sku])
        try desk.commit()
        try comeBack(laptop)
        try expectEqual([laptop, desk])
        #expect(laptop.conflicts.map { $0.changes.first?.itemKey } == ["a", "c"])
        #expect(laptop.declarations == desk.declarations)
        #expect(try laptop.contents.compactMap { $0["itemKey"] } == [.string("x"), .string("b")])
    }

    @Test("a declaration waits, too, and conflicts with values that came and with another declaration")
    func declares() throws {
        let (laptop, desk) = try stores("queued-declares")
        try goAway(laptop)
        try laptop.declare([FieldDeclaration("price", .real)])
        try laptop.commit()
        try create(laptop, "a", ["price": .real(2)])
        try comeBack(laptop)
        try expectEqual([laptop, desk])
        #expect(desk.declarations["price"]?.kind == .real)

        try goAway(laptop)
        try laptop.declare([FieldDeclaration("width", .real)])
        try laptop.commit()
        try create(desk, "b", ["width": .string("wide")])
        try comeBack(laptop)
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

        try goAway(laptop)
        try laptop.declare([FieldDeclaration("depth", .real)])
        try laptop.commit()
        try desk.declare([FieldDeclaration("height", .real)])
        try desk.commit()
        try comeBack(laptop)
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
                if isAway { try comeBack(laptop) } else { try goAway(laptop) }
                isAway.toggle()
            case 1:
                if !isAway { try laptop.update() }
                if random.number(2) == 0 { try laptop.saveChanges() }
                laptop = try open(collection)
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
        try comeBack(laptop)
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
