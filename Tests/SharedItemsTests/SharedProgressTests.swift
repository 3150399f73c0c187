import Files
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "Hosts that meet others all the time", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedProgressTests {
    private let link: CutLink

    init() throws { link = try CutLink() }

    private func desk(_ collection: String) throws -> (ItemStore, SharedAddress) {
        let address = try link.cluster.newCollection(collection)
        let desk = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        try desk.createItem(ItemFields(name: "busy", valueInDollars: 0, itemKey: "busy"))
        try desk.createItem(ItemFields(name: "quiet", itemKey: "quiet"))
        try desk.commit()
        // It is kept out for moments, and then goes on.
        try desk.shared.server.connection?.runScript("set lock_timeout = 5")
        return (desk, address)
    }

    @Test("a commit to an item that another host changes in each round trip ends after a few")
    func busyItem() throws {
        let (desk, address) = try desk("busy-item")
        let neighbour = Neighbour(desk)
        let host = try ItemStore.open(SharedPersistence(address, hostName: "host", waiter: neighbour))
        neighbour.isBusy = true
        for number in 1...5 {
            neighbour.waits = 0
            try host.item(forKey: "busy")?.setValue(.integer(Int64(number)), forField: "room")
            try host.commit()
            #expect(neighbour.waits <= 16, "\(neighbour.waits) waits")
        }
        neighbour.isBusy = false
        #expect(neighbour.commits > 10)
        try expectEqual([host, desk])
    }

    @Test(
        "an import comes through beside a host that commits all the time, and runs again if it depends on the items",
        arguments: [[], ["sku"]])
    func imports(key: [String]) throws {
        let (desk, address) = try desk("imports-\(key.count)")
        let host = try ItemStore.open(SharedPersistence(address, hostName: "host"))
        try host.createItem(ItemFields(name: "old", custom: ["sku": .string("s0")]))
        try host.commit()
        try desk.update()
        var (attempts, commits) = (0, 0)
        var options = ItemFileOptions(format: .csv)
        (options.key, options.updates) = (key, !key.isEmpty)
        if !key.isEmpty { options.afterRows = { _, _ in attempts += 1 } }
        options.progress = { _, _ in
            // It is kept out, and goes on afterwards.
            _ = try desk.item(forKey: "busy")?.increment("valueInDollars", by: Int64(1))
            if (try? desk.commit()) != nil { commits += 1 }
        }
        let rows = (0..<3_000).map { "n\($0),s\($0)\n" }.joined()
        let report = try host.importReport(Array("name,sku\n\(rows)".utf8), path: "rows.csv", options)
        #expect((report.created, report.updated) == (key.isEmpty ? (3_000, 0) : (2_999, 1)))
        #expect(key.isEmpty || (2...4).contains(attempts), "\(attempts) attempts")
        #expect(commits > 1)
        try desk.commit()
        try expectEqual([host, desk])
        #expect(host.count == (key.isEmpty ? 3_003 : 3_002))
    }

    @Test("the answer to a commit brings those that came in between: the log is not read for them")
    func commitsInBetween() throws {
        let (desk, address) = try desk("in-between")
        let host = try ItemStore.open(SharedPersistence(address, hostName: "host"))
        let owner = try link.cluster.connect()
        func changeMeanwhile(_ number: Int64) throws {
            for step in 0..<3 {
                try desk.item(forKey: "quiet")?.setValue(.integer(number + Int64(step)), forField: "room")
                try desk.commit()
            }
        }
        try host.createItem(ItemFields(name: "mine", itemKey: "mine"))
        try host.commit()
        try desk.update()
        try changeMeanwhile(0)
        // It reads who is there.
        try host.update()
        try changeMeanwhile(10)
        let seen = host.revision
        try host.item(forKey: "mine")?.setValueInDollars(1)
        try host.commit()
        #expect(host.revision == seen)
        try owner.runScript("alter table cubby.log rename to hidden")
        do {
            defer { try? owner.runScript("alter table cubby.hidden rename to log") }
            try host.applyRemoteCommits()
        }
        #expect(host.revision.rawValue == seen.rawValue + 4)
        #expect(try host.item(forKey: "quiet")?.value(forField: "room") == .integer(12))
        // A conflict brings them, too.
        try changeMeanwhile(20)
        try host.item(forKey: "quiet")?.setValue(.integer(0), forField: "room")
        #expect(throws: StoreError.self) { try host.commit() }
        #expect(try host.item(forKey: "quiet")?.value(forField: "room") == .integer(22))
        try expectEqual([host, desk])
    }

    @Test("an answer's array is read as it is, and refused if it is none")
    func arrays() throws {
        let rows = try link.cluster.connect().run(
            "select array['\\x0102', null, '']::bytea[], '{}'::bytea[], null::bytea[], array[array['\\x01']]::bytea[], "
                + "'\\x000000'::bytea, '\\x0000000100000000000000117fffffff00000001'::bytea, "
                + "'\\x000000010000000000000011000000010000000100000005aa'::bytea")
        #expect(try rows.byteArrays(0, 0) == [[1, 2], nil, []])
        #expect(try rows.byteArrays(0, 1) == [])
        #expect(try rows.byteArrays(0, 2) == [])
        for column in 3...6 { #expect(throws: PostgresError.self) { try rows.byteArrays(0, column) } }
    }

    @Test("a queue is sent although another host commits in each round trip, in parts that leave it a gap")
    func busyQueue() throws {
        let (desk, address) = try desk("busy-queue")
        let neighbour = Neighbour(desk)
        let folder = try TemporaryDirectory()
        let host = try ItemStore.open(
            SharedPersistence(
                SharedAddress(link.cluster.url(address.collection, folder: link.proxy.folder.path)), hostName: "host",
                folder: folder.path, keepsCommits: true, waiter: neighbour))
        try host.saveChanges()
        try link.goAway(host)
        for number in 0..<1000 {
            try host.createItem(ItemFields(name: "\(number)", itemKey: "new \(number % 300) \(number / 300)"))
            try host.item(forKey: "new \(number % 300) 0")?.setValueInDollars(Int64(number))
            try host.item(forKey: "quiet")?.increment("count")
            try host.commit()
        }
        #expect(host.waitingCommits == 1000)
        link.proxy.cut(after: nil)
        neighbour.isBusy = true
        try host.shared.poll()
        neighbour.waits = 0
        try host.applyRemoteCommits()
        neighbour.isBusy = false
        #expect(host.waitingCommits == 0 && host.conflicts.isEmpty)
        #expect(neighbour.waits < 200, "\(neighbour.waits) waits")
        #expect(neighbour.commits > 3)
        try expectEqual([host, desk])
        #expect(try desk.item(forKey: "quiet")?.value(forField: "count") == .integer(1000))
        // Replicas that follow the log have the same as the tables.
        let gaps = try link.cluster.connect().run(
            "select count(*) from cubby.log l join cubby.host h on h.collection = l.collection and h.id = l.host "
                + "where h.name = 'desk' and l.collection = $1 and l.revision > "
                + "(select min(m.revision) from cubby.log m where m.collection = l.collection and m.host <> l.host) "
                + "and l.revision < (select max(m.revision) from cubby.log m where m.collection = l.collection and m.host <> l.host)",
            [.int4(#require(host.shared.server.collection).number)])
        #expect(try gaps.number(0, 0) > 0)
    }

    @Test("parts of a queue have the items as of their commits: what cannot follow in between is taken back alone")
    func parts() throws {
        let (desk, address) = try desk("parts")
        let laptop = try link.open(address.collection)
        try laptop.saveChanges()
        try link.goAway(laptop)
        for number in 1...600 {
            switch number {
            case 10: try laptop.createItem(ItemFields(itemKey: "short"))
            case 400: try laptop.item(forKey: "short")?.setName("last")
            case 500: try laptop.item(forKey: "short")?.remove()
            case 550: try laptop.moveItem(from: 1, to: 0)
            default: try laptop.item(forKey: "quiet")?.setValueInDollars(Int64(number))
            }
            try laptop.commit()
        }
        link.proxy.cut(after: nil)
        // Once a part is sent, a host that comes then has the state as of it.
        try laptop.shared.poll()
        let prepared = try laptop.shared.preparePendingCommits(atMost: .max)
        #expect(prepared.count < 600)
        try laptop.shared.hold()
        laptop.replica.revision = try laptop.shared.sendPendingCommits(prepared, after: laptop.revision)
        let late = try ItemStore.open(SharedPersistence(address, hostName: "late"))
        try desk.update()
        #expect(try late.contents == desk.contents)
        #expect(try late.item(forKey: "quiet")?.valueInDollars == Int64(prepared.count))
        #expect(late.item(forKey: "short") != nil)
        try expectRanked(late, "late")
        // Now it changes what a later commit changes.
        try desk.item(forKey: "short")?.setName("theirs")
        try desk.commit()
        try laptop.update()
        #expect(laptop.conflicts.count == 2 && laptop.waitingCommits == 0)
        try expectEqual([laptop, desk, late])
        #expect(try desk.item(forKey: "quiet")?.valueInDollars == 600)
    }

    @Test("a notification that comes with the answer to another request wakes the host")
    func wake() throws {
        let (desk, address) = try desk("wake")
        let host = try ItemStore.open(SharedPersistence(address, hostName: "host"))
        var calls = 0
        try host.shared.onNotification = { calls += 1 }
        for number in 1...20 {
            try desk.item(forKey: "busy")?.setValueInDollars(Int64(number))
            try desk.commit()
            // Another request reads the socket before anybody watches it.
            while try !host.shared.mayHaveCommits(after: host.revision) {
                let server = try host.shared.server
                _ = try server.asking { () throws(PostgresError) in try server.connection?.run("select 1") }
            }
            #expect(calls >= number)
            try host.applyRemoteCommits()
            #expect(try host.item(forKey: "busy")?.valueInDollars == Int64(number))
        }
    }

    @Test("the server's own setting of isolation does not matter", arguments: ["serializable", "repeatable read"])
    func isolation(level: String) throws {
        let owner = try link.cluster.connect()
        try owner.runScript("alter role owner set default_transaction_isolation = '\(level)'")
        defer { try? owner.runScript("alter role owner reset default_transaction_isolation") }
        let (desk, address) = try desk("isolation-\(level)")
        let other = try ItemStore.open(SharedPersistence(address, hostName: "other"))
        let threads = [desk, other].enumerated().map { index, store in
            let host = Sending(store)
            return WorkerThread { () -> [String] in
                var errors: [String] = []
                for number in 0..<100 {
                    do {
                        try host.store.item(forKey: index == 0 ? "busy" : "quiet")?.setValueInDollars(Int64(number))
                        try host.store.commit()
                    } catch { errors.append("\(error)") }
                }
                return errors
            }
        }
        // The desk is impatient: it may be kept out.
        #expect(threads[1].join() == [])
        let refusals = threads[0].join() ?? ["did not end"]
        #expect(refusals.allSatisfy { $0.contains("another host's commit keeps the collection") })
        try desk.commit()
        try expectEqual([desk, other])
    }

    @Test("a success after which the server gave up to wait for its standbys is an answer that is unknown")
    func unreplicated() throws {
        let (desk, _) = try desk("unreplicated")
        let owner = try link.cluster.connect()
        try owner.runScript("alter system set synchronous_standby_names = 'nobody'")
        try owner.runScript("select pg_reload_conf()")
        defer {
            try? owner.runScript("alter system reset synchronous_standby_names")
            try? owner.runScript("select pg_reload_conf()")
        }
        #expect(try SharedStatus(desk.shared.address).advice.contains { $0.contains("no standby that is connected") })
        let watcher = Sending(owner)
        let canceller = WorkerThread {
            while true {
                let rows = try? watcher.store.run(
                    "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'")
                if rows == nil || rows?.rowCount ?? 0 > 0 { return }
            }
        }
        try desk.item(forKey: "busy")?.setName("unknown")
        let error = #expect(throws: StoreError.self) { try desk.commit() }
        _ = canceller.join()
        #expect(error?.code == .disconnected && error?.message.contains("gave up to wait for its standbys") == true)
        #expect(desk.isReadOnly && desk.hasUncommittedChanges)
        try owner.runScript("alter system reset synchronous_standby_names")
        try owner.runScript("select pg_reload_conf()")
        try desk.applyRemoteCommits()
        #expect(!desk.hasUncommittedChanges)
        #expect(try desk.shared.statistics.settledInDoubt == 1)
        try expectEqual([desk])
    }
}

/// A host that commits in each wait of another one: as often as there are round trips.
private final class Neighbour: PostgresWaiter {
    private let store: ItemStore
    private let waiter = BlockingWaiter()
    var isBusy = false
    var waits = 0
    var commits = 0

    init(_ store: ItemStore) { self.store = store }

    func wait(for descriptor: Int32, isWriting: Bool, seconds: Double) throws(PostgresError) -> Bool {
        waits += 1
        if isBusy {
            _ = try? store.item(forKey: "busy")?.setValueInDollars(Int64(waits))
            if (try? store.commit()) != nil { commits += 1 }
        }
        return try waiter.wait(for: descriptor, isWriting: isWriting, seconds: seconds)
    }
}

/// A value that one thread at a time uses.
private struct Sending<Value>: @unchecked Sendable {
    // Guard: the test uses the value before the thread begins and after it has ended.
    let store: Value

    init(_ value: Value) { store = value }
}
