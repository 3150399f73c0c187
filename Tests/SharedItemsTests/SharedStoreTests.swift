import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "Stores on one collection", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"),
    .cluster)
struct SharedStoreTests {
    private let cluster: PostgresServer

    init() throws { cluster = try .ofSuite }

    /// Stores of several hosts on a new collection.
    private func stores(_ names: String..., collection: String = #function) throws -> [ItemStore] {
        let address = try cluster.newCollection(String(collection.prefix { $0 != "(" }))
        return try names.map { try ItemStore.open(SharedPersistence(address, hostName: $0, timeLimit: .seconds(5))) }
    }

    @Test("what one host commits another has, with fields of all kinds, in order")
    func exchange() throws {
        let stores = try stores("desk-1", "desk-2")
        for number in 0..<10 {
            try stores[0].createItem(
                ItemFields(
                    name: "item \(number)", serialNumber: number % 2 == 0 ? nil : "S\u{0}\(number)", valueInDollars: 7,
                    itemKey: number == 3 ? "a key" : nil,
                    custom: [
                        "note": .string(String(repeating: "ö", count: number * 20)),
                        "tags": .array([.integer(1), .string("")]),
                        "size": .dictionary(["w": .real(1.5)]), "seen": .boolean(true), "bytes": .data([0, 255]),
                    ]))
        }
        try stores[0].commit()
        try expectEqual(stores)
        #expect(stores[1].count == 10)
        let item = try #require(stores[1].item(forKey: "a key"))
        try item.setName("other")
        try item.setValue(nil, forField: "note")
        try stores[1].moveItem(from: 9, to: 0)
        try stores[1].removeItem(#require(stores[1][5]))
        try stores[1].commit()
        try expectEqual(stores)
        #expect(try stores[0].item(forKey: "a key")?.name == "other")
        #expect(try stores[0][0]?.name == "item 9")
    }

    @Test("what is acknowledged, and what another host shows, is flushed on the server")
    func flushed() throws {
        let address = try cluster.newCollection("flushed")
        let server = try cluster.connect()
        func position(_ function: String) throws -> String {
            try server.run("select (\(function)() - '0/0'::pg_lsn)::bigint::text").text(0, 0)
        }
        func isFlushed(_ position: String) throws -> Bool {
            try server.run("select pg_current_wal_flush_lsn() - '0/0'::pg_lsn >= \(position)").bytes(0, 0) == [1]
        }
        // The first one's connection never waits for a flush; what it commits is visible and not flushed.
        let hasty = try SharedAddress("\(cluster.url("flushed"))&options=-csynchronous_commit%3Doff")
        let first = try ItemStore.open(SharedPersistence(hasty, hostName: "hasty", timeLimit: .seconds(5)))
        let second = try ItemStore.open(SharedPersistence(address, hostName: "desk", timeLimit: .seconds(5)))
        let log = try SharedLog(address, schema: .household)
        /// Commits, and returns where the server's log ends then.
        func hurry() throws -> String {
            try first.createItem()
            try first.commit()
            return try position("pg_current_wal_insert_lsn")
        }
        for _ in 0..<5 {
            let shown = try hurry()
            try second.update()
            #expect(try isFlushed(shown))
            try expectEqual([first, second])
            let acknowledged = try hurry()
            try second.createItem()
            try second.commit()
            #expect(try isFlushed(acknowledged))
            let followed = try hurry()
            while try !log.next().isEmpty {}
            #expect(try log.revision == log.head && isFlushed(followed))
            let loaded = try hurry()
            let new = try ItemStore.open(SharedPersistence(address, hostName: "new", timeLimit: .seconds(5)))
            try second.update()
            #expect(try new.count == second.count && isFlushed(loaded))
        }
        try expectEqual([first, second])
    }

    @Test("commits come from the log; a notification only has it asked, and nobody can forge one")
    func notifications() throws {
        let stores = try stores("desk-1", "desk-2")
        func commit(_ length: Int) throws {
            try stores[0].createItem(ItemFields(name: String(repeating: "ä", count: length)))
            try stores[0].commit()
            let remote = try stores[1].shared
            while !remote.mayHaveCommits(after: stores[1].revision) { try remote.receive() }
            try stores[1].applyRemoteCommits()
            #expect(try stores[1].contents == stores[0].contents)
        }
        for length in [1, 1000, 4000, 1] { try commit(length) }
        // A notification only has the log asked: a revision that nobody made is none, and what follows it comes as usual.
        let remote = try stores[1].shared
        let channel = try #require(remote.server.collection).channel
        for text in ["1", "text", "", "99 00 00 03010141", "99999999 00"] {
            try cluster.connect().runScript("notify \(channel), '\(text)'")
        }
        while !remote.mayHaveCommits(after: ItemRevision(rawValue: 99_999_998)) { try remote.receive() }
        let before = (try stores[1].contents, stores[1].revision)
        try stores[1].applyRemoteCommits()
        #expect(try stores[1].contents == before.0 && stores[1].revision == before.1)
        #expect(!stores[1].isReadOnly && !remote.mayHaveCommits(after: stores[1].revision))
        try commit(1)
        try expectEqual(stores)
    }

    @Test("changes of one item in other fields are merged, in whatever order they are committed")
    func merging() throws {
        let stores = try stores("desk-1", "desk-2")
        try stores[0].createItem(ItemFields(name: "vase", itemKey: "k"))
        try stores[0].commit()
        try expectEqual(stores)
        try stores[0].item(forKey: "k")?.setValue(.integer(3), forField: "height")
        try stores[0].commit()
        try stores[1].item(forKey: "k")?.setName("urn")
        try stores[1].createItem(ItemFields(name: "new"))
        try stores[1].commit()
        try expectEqual(stores)
        let item = try #require(stores[0].item(forKey: "k"))
        #expect(try item.name == "urn")
        #expect(try item.value(forField: "height") == .integer(3))
        #expect(stores[0].count == 2)
        #expect(try stores[1].undo())
        try expectEqual(stores)
        #expect(try stores[0].item(forKey: "k")?.name == "vase")
        #expect(try stores[0].item(forKey: "k")?.value(forField: "height") == .integer(3))
    }

    @Test("the same field changed elsewhere: the later commit is rolled back and says what, by whom and what to do")
    func conflict() throws {
        let stores = try stores("desk-1", "desk-2")
        try stores[0].createItem(ItemFields(name: "vase", itemKey: "k"))
        try stores[0].commit()
        try expectEqual(stores)
        try stores[0].item(forKey: "k")?.setName("urn")
        try stores[0].commit()
        try stores[1].item(forKey: "k")?.setName("jar")
        try stores[1].createItem(ItemFields(name: "another", itemKey: "l"))
        let error = #expect(throws: StoreError.self) { try stores[1].commit() }
        #expect(error?.code == .conflict)
        #expect(
            error?.message
                == "name of the item k, jar, was set to \"urn\" by desk-1, and to \"jar\" here: these changes were "
                + "rolled back; make them again on the items as they are now")
        #expect(try stores[1].item(forKey: "k")?.name == "urn")
        #expect(stores[1].item(forKey: "l") == nil)
        try expectEqual(stores)
        // And then it goes.
        try stores[1].item(forKey: "k")?.setName("jar")
        try stores[1].commit()
        try expectEqual(stores)
        #expect(try stores[0].item(forKey: "k")?.name == "jar")
    }

    @Test(
        "an item that left elsewhere conflicts with a change, and a change with its leaving", arguments: [true, false])
    func removed(removesFirst: Bool) throws {
        let stores = try stores("desk-1", "desk-2", collection: "removed \(removesFirst)".replacing(" ", with: "-"))
        try stores[0].createItem(ItemFields(name: "vase", itemKey: "k"))
        try stores[0].commit()
        try expectEqual(stores)
        if removesFirst {
            try stores[0].removeItem(#require(stores[0][0]))
            try stores[1][0]?.setName("jar")
        } else {
            try stores[0][0]?.setName("jar")
            try stores[1].removeItem(#require(stores[1][0]))
        }
        try stores[0].commit()
        #expect(throws: StoreError.self) { try stores[1].commit() }
        try expectEqual(stores)
        #expect(stores[1].count == (removesFirst ? 0 : 1))
    }

    @Test("a transaction on a collection that changed is rolled back; made again, it goes")
    func transaction() throws {
        let stores = try stores("desk-1", "desk-2")
        for key in ["a", "b"] { try stores[0].createItem(ItemFields(name: key, valueInDollars: 50, itemKey: key)) }
        try stores[0].commit()
        try expectEqual(stores)
        func transfer(_ store: ItemStore, _ amount: Int64) throws {
            try store.transaction {
                let (first, second) = (store.item(forKey: "a"), store.item(forKey: "b"))
                try first?.setValueInDollars((first?.valueInDollars ?? 0) - amount)
                try second?.setValueInDollars((second?.valueInDollars ?? 0) + amount)
            }
        }
        try transfer(stores[0], 10)
        let error = #expect(throws: StoreError.self) { try transfer(stores[1], 20) }
        #expect(error?.code == .conflict)
        try transfer(stores[1], 20)
        try expectEqual(stores)
        #expect(try stores[0].item(forKey: "a")?.valueInDollars == 20)
        #expect(try stores[0].item(forKey: "b")?.valueInDollars == 80)
    }

    @Test(
        "random changes and undo of three hosts: all have the same items in the same order",
        arguments: 1...3 as ClosedRange<UInt64>)
    func order(seed: UInt64) throws {
        let stores = try stores("a", "b", "c", collection: "order\(seed)")
        var random = TestGenerator(seed: seed)
        for step in 0..<150 {
            let store = stores[random.number(3)]
            for _ in 0..<1 + random.number(4) {
                switch random.number(6) {
                case 0 where store.count > 3: try store.removeItem(#require(store[random.number(store.count)]))
                case 1 where store.count > 1:
                    try store.moveItem(from: random.number(store.count), to: random.number(store.count))
                case 2 where store.count > 0:
                    try store[random.number(store.count)]?.setValue(
                        .integer(Int64(step)), forField: "f\(random.number(3))")
                default: try store.createItem(ItemFields(name: "\(step)"))
                }
            }
            do { try store.commit() } catch { #expect(error.code == .conflict, "\(error)") }
            if random.number(5) == 0 { do { try store.undo() } catch { #expect(error.code == .conflict, "\(error)") } }
            if random.number(3) == 0 { try stores[random.number(3)].update() }
            if step % 25 == 24 { try expectEqual(stores) }
        }
        try expectEqual(stores)
    }

    @Test("a transaction that was overtaken three times keeps the others out the fourth time, and only then")
    func holding() throws {
        let stores = try stores("desk-1", "desk-2")
        try stores[0].createItem(ItemFields(name: "counter", itemKey: "k"))
        try stores[0].commit()
        try expectEqual(stores)
        let owner = try cluster.connect()
        func isHeld() throws -> Bool {
            do throws(PostgresError) {
                try owner.run("select from cubby.collection for update nowait")
                return false
            } catch {
                #expect(error.kind == .server("55P03"))
                return true
            }
        }
        var attempts = 0
        try stores[0].transaction(isolation: .serializable) {
            attempts += 1
            let item = try #require(stores[0].item(forKey: "k"))
            try item.setValueInDollars(item.valueInDollars + 100)
            #expect(try isHeld() == (attempts == 4))
            guard attempts < 4 else { return }
            try stores[1].update()
            let other = try #require(stores[1].item(forKey: "k"))
            try other.setValueInDollars(other.valueInDollars + 1)
            try stores[1].commit()
        }
        #expect(attempts == 4)
        #expect(try !isHeld())
        try expectEqual(stores)
        #expect(try stores[1].item(forKey: "k")?.valueInDollars == 103)
        // What fails or changes nothing lets go as well.
        struct Failure: Error {}
        for fails in [true, false] {
            var attempts = 0
            try? stores[0].transaction(isolation: .serializable) {
                attempts += 1
                if attempts == 4, fails { throw Failure() }
                if attempts == 4 { return }
                try stores[0].item(forKey: "k")?.setName("\(attempts)")
                try stores[1].update()
                try stores[1].item(forKey: "k")?.setValueInDollars(Int64(attempts))
                try stores[1].commit()
            }
            #expect(attempts == 4)
            #expect(try !isHeld())
            try expectEqual(stores)
        }
    }
}
