import Files
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items
@testable import SharedItems

@Suite(
    "Collections that are damaged or another's", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedDamageTests {
    private let cluster: PostgresServer
    private let owner: PostgresConnection

    init() throws {
        cluster = try .ofSuite
        owner = try cluster.connect()
    }

    @Test("two servers that went on separately are told apart, however many commits each has")
    func lineage() throws {
        let (store, number) = try follower("lineage")
        try store.update()
        let (known, name) = (store.revision.rawValue, "lineage")
        // The same revisions, made once more with other tokens, as a standby without the last two commits would.
        try owner.runScript(
            """
            delete from cubby.log where collection = \(number) and revision > \(known - 2);
            update cubby.collection c set head = \(known - 2), lineage = l.lineage
                from cubby.log l where l.collection = c.id and c.id = \(number) and l.revision = \(known - 2)
            """)
        for _ in 0..<3 {
            try owner.run(
                "select cubby.commit(id, epoch, head, gen_random_uuid(), gen_random_uuid(), '{}', '{}', '{}', '{}', '{}', $2) "
                    + "from cubby.collection where name = $1", [.text(name), .bytes(CommitCall.nothing)])
        }
        try store.shared.server.connection?.close()
        let contents = try store.contents
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { try store.update() }
            #expect(error?.message.contains("another history") == true)
        }
        let refused = #expect(throws: StoreError.self) { try store.createItem() }
        #expect(refused?.message.contains("another history") == true)
        #expect(try store.isReadOnly && store.contents == contents)
    }

    @Test("a former primary is told by its timeline; another server's timeline says nothing")
    func formerPrimary() {
        func collection(system: Int64, timeline: Int64, head: UInt64 = 5) -> SharedCollection {
            SharedCollection(
                number: 1, head: head, floor: 0, epoch: [1], lineage: [5],
                server: ServerIdentity(system: system, timeline: timeline))
        }
        let known = collection(system: 7, timeline: 2)
        let latest = Lineage(revision: 5, identifier: [5])
        #expect(collection(system: 7, timeline: 2).error(knowing: known, latest) == nil)
        #expect(collection(system: 7, timeline: 3, head: 9).error(knowing: known, latest) == nil)
        #expect(collection(system: 8, timeline: 1).error(knowing: known, latest) == nil)
        #expect(collection(system: 7, timeline: 1).error(knowing: known, latest)?.kind == .formerPrimary)
        #expect(collection(system: 7, timeline: 1, head: 4).error(knowing: known, latest)?.kind == .formerPrimary)
        #expect(collection(system: 7, timeline: 3, head: 4).error(knowing: known, latest)?.kind == .otherHistory)
        let other = Lineage(revision: 5, identifier: [6])
        #expect(collection(system: 7, timeline: 3).error(knowing: known, other)?.kind == .otherHistory)
    }

    /// A store that has an item, and commits of another host that it has still to apply.
    private func follower(_ collection: String) throws -> (store: ItemStore, number: Int32) {
        let address = try cluster.newCollection(collection)
        let writer = try ItemStore.open(SharedPersistence(address, hostName: "writer"))
        try writer.createItem(ItemFields(name: "vase", itemKey: "k"))
        try writer.commit()
        let store = try ItemStore.open(SharedPersistence(address, hostName: "follower"))
        for number in 0..<3 {
            try writer.item(forKey: "k")?.setName("name \(number)")
            try writer.createItem(ItemFields(name: "new", custom: ["note": .string("text"), "size": .integer(7)]))
            try writer.moveItem(from: writer.count - 1, to: 0)
            try writer.commit()
        }
        return (store, try #require(store.shared.server.collection).number)
    }

    private func expectStopped(_ store: ItemStore, _ words: String, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try store.update() }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")", sourceLocation: sourceLocation)
        #expect(error?.message.contains("start again") == true, sourceLocation: sourceLocation)
        store.connectionWasLost()
        #expect(store.isReadOnly, sourceLocation: sourceLocation)
        #expect(try store[0]?.name == "vase" && store.count == 1, sourceLocation: sourceLocation)
        #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try store.createItem() }
    }

    /// Expects that a store has the server's items although the log does not lead to them, and goes on with the log.
    private func expectAnew(_ store: ItemStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try store.update()
        #expect(try store.shared.statistics.newSynchronizations == 1, sourceLocation: sourceLocation)
        #expect(store.count == 4 && !store.isReadOnly, sourceLocation: sourceLocation)
        #expect(try store.item(forKey: "k")?.name == "name 2", sourceLocation: sourceLocation)
        try expectRanked(store, "anew", sourceLocation: sourceLocation)
        try expectEqual([store], sourceLocation: sourceLocation)
        let other = try ItemStore.open(SharedPersistence(store.shared.address, hostName: "other"))
        try other.item(forKey: "k")?.setName("later")
        try other.commit()
        try store.item(forKey: "k")?.setValueInDollars(7)
        try store.commit()
        #expect(try store.item(forKey: "k")?.name == "later", sourceLocation: sourceLocation)
        try expectEqual([store, other], sourceLocation: sourceLocation)
        #expect(try store.shared.statistics.newSynchronizations == 1, sourceLocation: sourceLocation)
    }

    @Test("another epoch and an older head are another history, whether connected or not", arguments: [false, true])
    func history(isConnected: Bool) throws {
        for change in ["epoch = gen_random_uuid()", "head = 0"] {
            let (store, number) = try follower("history-\(isConnected)-\(change.prefix(4))")
            try owner.runScript("update cubby.collection set \(change) where id = \(number)")
            if isConnected {
                try store.createItem()
                let error = #expect(throws: StoreError.self) { try store.commit() }
                #expect(error?.message.contains("another history") == true)
                #expect(store.isReadOnly && store.hasUncommittedChanges && store.count == 2)
            } else {
                try store.shared.server.connection?.close()
                try expectStopped(store, "another history")
            }
        }
    }

    @Test("a gap in the log, at its end too", arguments: ["revision = 2", "revision = 3", "revision > 1"])
    func gap(rows: String) throws {
        let (store, number) = try follower("gap-\(rows.filter(\.isNumber))-\(rows.contains(">"))")
        try owner.runScript("delete from cubby.log where \(rows) and collection = \(number)")
        try expectAnew(store)
    }

    @Test("a change that meets a gap in the log is a conflict, and can be made on the new items")
    func gapBeforeCommit() throws {
        let (store, number) = try follower("gap-before-commit")
        try owner.runScript("delete from cubby.log where revision = 2 and collection = \(number)")
        try store.item(forKey: "k")?.setName("mine")
        let error = #expect(throws: StoreError.self) { try store.commit() }
        #expect(error?.code == .conflict && error?.message.contains("fetched anew") == true)
        #expect(!store.hasUncommittedChanges)
        try expectAnew(store)
    }

    @Test("commits that wait follow the items that are fetched anew, or conflict with them", arguments: [false, true])
    func gapBeforeQueue(restarts: Bool) throws {
        let link = try CutLink()
        let address = try cluster.newCollection("gap-before-queue-\(restarts)")
        let desk = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        for key in ["a", "b", "c", "d"] { try desk.createItem(ItemFields(name: key, valueInDollars: 1, itemKey: key)) }
        try desk.commit()
        var laptop = try link.open("gap-before-queue-\(restarts)")
        try laptop.saveChanges()
        try link.goAway(laptop)
        for (key, name) in [("a", "mine"), ("b", "mine, too")] {
            try laptop.item(forKey: key)?.setName(name)
            try laptop.commit()
        }
        try laptop.item(forKey: "c")?.increment("valueInDollars", by: 5)
        try laptop.createItem(ItemFields(itemKey: "new"))
        try laptop.commit()
        try desk.item(forKey: "a")?.setName("theirs")
        try desk.item(forKey: "c")?.setValueInDollars(100)
        try #require(desk.item(forKey: "d")).remove()
        try desk.moveItem(from: 2, to: 0)
        try desk.commit()
        try owner.runScript(
            "delete from cubby.log l using cubby.collection c where c.id = l.collection and c.name = '\(address.collection)'"
        )
        if restarts { laptop = try link.open("gap-before-queue-\(restarts)") }
        link.proxy.cut(after: nil)
        try laptop.update()
        #expect(try laptop.shared.statistics.newSynchronizations == 1)
        try laptop.update()
        #expect(laptop.conflicts.map(\.changes.first?.itemKey) == ["a"] && laptop.waitingCommits == 0)
        #expect(try laptop.item(forKey: "a")?.name == "theirs" && laptop.item(forKey: "b")?.name == "mine, too")
        #expect(try laptop.item(forKey: "c")?.value(forField: "valueInDollars") == .integer(105))
        #expect(laptop.item(forKey: "d") == nil && laptop.item(forKey: "new") != nil)
        try expectEqual([laptop, desk])
    }

    @Test("a record of the log that does not fit the items")
    func unfit() throws {
        let (store, number) = try follower("unfit")
        let record = RecordChecksum.sealed([2, 1, 8] + Array("none-uss".utf8))
        try owner.run(
            "update cubby.log set record = $1 where revision = 2 and collection = $2", [.bytes(record), .int4(number)])
        try expectAnew(store)
    }

    @Test(
        "each byte of an item's record and rank, and of a record of the log, changed: always left out or an error, never another value"
    )
    func eachByte() throws {
        let (store, number) = try follower("each-byte")
        let address = try store.shared.address
        let item = "cubby.item where collection = \(number)"
        for (table, column) in [(item, "record"), (item, "rank"), ("cubby.log where collection = \(number)", "record")]
        {
            let rows = try owner.run("select \(column) from \(table) order by \(column) limit 1")
            let bytes = try #require(try rows.bytes(0, 0))
            let place = table.split(separator: " ", maxSplits: 1).map(String.init)
            for position in bytes.indices {
                var damaged = bytes
                damaged[position] ^= 1 << UInt8(position % 8)
                let change = "update \(place[0]) set \(column) = $1 \(place[1]) and \(column) = $2"
                try owner.run(change, [.bytes(damaged), .bytes(bytes)])
                if place[0] == "cubby.item" {
                    let store = try ItemStore.open(SharedPersistence(address, hostName: "x"))
                    #expect(store.count == 3, "\(column), byte \(position)")
                    #expect(store.loadReport.notices.map { $0.contains("damaged on the server") } == [true])
                } else {
                    #expect(throws: StoreError.self, "byte \(position)") {
                        try damaged.withBytes { (bytes) throws(StoreError) in _ = try RecordChecksum.opened(bytes) }
                    }
                }
                try owner.run(change, [.bytes(bytes), .bytes(damaged)])
            }
        }
        #expect(try ItemStore.open(SharedPersistence(address, hostName: "x")).count == 4)
    }

    @Test("random damage of a record of the log: the items are those of the server")
    func damagedLog() throws {
        var random = TestGenerator(seed: 3)
        let (_, number) = try follower("damaged-log")
        let store = try ItemStore.open(SharedPersistence(cluster.address("damaged-log"), hostName: "x"))
        var refused = 0
        let record = try #require(
            try owner.run("select record from cubby.log where revision = 3 and collection = $1", [.int4(number)])
                .bytes(0, 0))
        for _ in 0..<20_000 {
            let damaged = Self.damage(record, &random)
            do throws(StoreError) {
                try damaged.withBytes { bytes throws(StoreError) in _ = try RecordChange.changes(of: bytes, .household)
                }
            } catch {
                #expect(error.code == .corruptJournal)
                refused += 1
            }
        }
        #expect(refused > 5000)
        for _ in 0..<60 {
            let (store, number) = try follower("damaged-log-\(random.next())")
            try owner.run(
                "update cubby.log set record = $1 where revision = 2 and collection = $2",
                [.bytes(Self.damage(record, &random)), .int4(number)])
            // Unless a bit was changed twice, the items are fetched anew.
            try store.update()
            #expect(store.count == 4 && !store.isReadOnly)
            #expect(try store.item(forKey: "k")?.name == "name 2")
        }
        #expect(store.count == 4)
    }

    @Test("random damage of an item: it is left out, and opening says so")
    func damagedItem() throws {
        var random = TestGenerator(seed: 4)
        let (follower, number) = try follower("damaged-item")
        let address = try follower.shared.address
        let chosen = "key = (select key from cubby.item where collection = \(number) order by key limit 1)"
        let record = try #require(
            try owner.run("select record from cubby.item where \(chosen) and collection = \(number)").bytes(0, 0))
        var leftOut = 0
        for _ in 0..<100 {
            try owner.run(
                "update cubby.item set record = $1 where \(chosen) and collection = \(number)",
                [.bytes(Self.damage(record, &random))])
            let store = try ItemStore.open(SharedPersistence(address, hostName: "x"))
            if store.count == 4 {
                #expect(store.loadReport.notices.isEmpty)
            } else {
                #expect(store.count == 3 && store.loadReport.notices.count == 1)
                #expect(store.loadReport.notices.first?.contains("damaged on the server") == true)
                leftOut += 1
            }
        }
        #expect(leftOut > 90)
    }

    private static func damage(_ record: [UInt8], _ random: inout TestGenerator) -> [UInt8] {
        var damaged = record
        for _ in 0..<1 + random.number(3) where !damaged.isEmpty {
            let place = random.number(damaged.count)
            switch random.number(4) {
            case 0: damaged.removeSubrange(place...)
            case 1: damaged.remove(at: place)
            case 2: damaged[place] ^= 1 << UInt8(random.number(8))
            default: damaged[place] = UInt8(truncatingIfNeeded: random.next())
            }
        }
        return damaged
    }

    // MARK: Refusals

    @Test("a server that refuses says what to do")
    func refusals() throws {
        _ = try cluster.newCollection("refusals")
        try owner.runScript("create role stranger login")
        try owner.runScript("create database other")
        defer { try? owner.runScript("drop database other with (force)") }
        func message(_ url: String) throws -> String {
            let error = #expect(throws: StoreError.self) {
                try ItemStore.open(SharedPersistence(SharedAddress(url), hostName: "x"))
            }
            return try #require(error).message
        }
        #expect(try message(cluster.url("refusals", user: "stranger")).contains("cubby shared grant ROLE 'postgres://"))
        #expect(try message(cluster.url("unknown")).contains("its owner makes it with cubby shared init"))
        #expect(try message(cluster.url(database: "nowhere")).contains("check the address"))
        #expect(try message(cluster.url(user: "nobody-here")).contains("check the address"))
        let other = cluster.url(database: "other")
        #expect(try message(other).contains("its owner makes them with cubby shared init"))
        let connection = try PostgresConnection(SharedAddress(other), waiter: BlockingWaiter())
        for sql in [
            "create schema cubby", "create table cubby.format (name text); create table cubby.log (line text)",
            "alter table cubby.format add version text",
        ] {
            try connection.runScript(sql)
            #expect(try message(other).contains("another"), "\(sql)")
            let error = #expect(throws: SharedError.self) { try SharedSchema.initialize(SharedAddress(other)) }
            #expect(error?.code == .unusable)
        }
    }
}
