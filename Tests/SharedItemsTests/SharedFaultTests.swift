import Files
import Glibc
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "Links that break and servers that stop", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedFaultTests {
    private let cluster: PostgresServer
    private let proxy: CuttingProxy

    init() throws {
        cluster = try .ofSuite
        proxy = try CuttingProxy(to: cluster.folder.path)
    }

    /// A store whose link can be cut, and one whose link cannot.
    private func stores(_ collection: String) throws -> [ItemStore] {
        let address = try cluster.newCollection(collection)
        let cuttable = try SharedAddress(cluster.url(collection, folder: proxy.folder.path))
        return try [(cuttable, "cut"), (address, "whole")].map {
            try ItemStore.open(SharedPersistence($0, hostName: $1, timeLimit: .seconds(5)))
        }
    }

    @Test(
        "cut anywhere, a commit happens once, as it was, and nothing else before it",
        arguments: CuttingProxy.Direction.allCases, [false, true])
    func cuts(direction: CuttingProxy.Direction, othersCommit: Bool) throws {
        let stores = try stores("cuts-\(direction)-\(othersCommit)")
        let (store, other) = (stores[0], stores[1])
        // `CUBBY_EVERY_BYTE` has the long form, a minute.
        let step = getenv("CUBBY_EVERY_BYTE") == nil ? 7 : 1
        try store.createItem(ItemFields(name: "0", itemKey: "0"))
        try store.commit()
        var made = 1
        for cut in stride(from: 0, to: 5000, by: step) {
            try store.createItem(ItemFields(name: "item", itemKey: "key \(made)"))
            try #require(store[0]).setName("\(made)")
            let before = try store.contents
            proxy.cut(after: cut, direction)
            let isCommitted = (try? store.commit()) ?? false
            made += 1
            if isCommitted, !proxy.wasCut { break }
            if !isCommitted {
                #expect(store.isReadOnly && store.hasUncommittedChanges)
                #expect(try store.contents == before)
                let refused = #expect(throws: StoreError.self) { try store.createItem() }
                #expect(refused?.code == .readOnly)
                #expect(throws: StoreError.self) { try store.applyRemoteCommits() }
            }
            proxy.cut(after: nil)
            if othersCommit {
                try other.createItem(ItemFields(itemKey: "other \(made)"))
                try other.commit()
            }
            try store.applyRemoteCommits()
            #expect(!store.hasUncommittedChanges)
        }
        proxy.cut(after: nil)
        try #require(made > 20)
        try expectEqual(stores)
        #expect(store.count == made + (othersCommit ? made - 2 : 0))
        #expect(store.item(forKey: "key \(made - 1)") != nil)
        #expect(try store[0]?.name == "\(made - 1)")
        let statistics = try store.shared.statistics
        #expect(statistics.disconnections > 20)
        // While others commit, the server may have a commit, and not the request for its flush.
        if direction == .toHost || !othersCommit {
            #expect((statistics.settledInDoubt > 0) == (direction == .toHost))
        }
        #expect(
            try cluster.connect().run(
                "select count(*) from cubby.log l where exists (select from cubby.host h "
                    + "where h.id = l.host and h.name = 'cut' and h.collection = l.collection) and l.collection = $1",
                [.int4(#require(store.shared.server.collection).number)]
            ).number(0, 0) == made)
        #expect(try store.undo())
        try expectEqual(stores)
        #expect(try store[0]?.name == "\(made - 2)")
    }

    @Test(
        "a transaction whose answer is lost is rolled back; if it happened, it comes as a commit",
        arguments: [CuttingProxy.Direction.toServer, .toHost])
    func transaction(direction: CuttingProxy.Direction) throws {
        let happens = direction == .toHost
        let stores = try stores("transaction-\(direction)")
        let store = stores[0]
        try store.createItem(ItemFields(name: "vase", itemKey: "k"))
        try store.commit()
        proxy.cut(after: 1, direction)
        let error = #expect(throws: StoreError.self) {
            try store.transaction { try store.item(forKey: "k")?.setName("urn") }
        }
        #expect(error?.code == .disconnected)
        #expect(error?.message.contains("may have been committed") == true)
        #expect(try store.item(forKey: "k")?.name == "vase")
        #expect(store.isReadOnly && !store.hasUncommittedChanges)
        proxy.cut(after: nil)
        try store.applyRemoteCommits()
        try expectEqual(stores)
        #expect(try store.item(forKey: "k")?.name == (happens ? "urn" : "vase"))
        // What follows is not a repetition of it.
        try store.createItem(ItemFields(name: "next", itemKey: "n"))
        try store.commit()
        try expectEqual(stores)
        #expect(store.count == 2)
    }

    @Test(
        "an undo whose answer is lost is taken back, and may be asked for again",
        arguments: CuttingProxy.Direction.allCases)
    func undo(direction: CuttingProxy.Direction) throws {
        let stores = try stores("undo-\(direction)")
        let store = stores[0]
        try store.createItem(ItemFields(name: "vase", itemKey: "k"))
        try store.commit()
        try store.item(forKey: "k")?.setName("urn")
        try store.commit()
        proxy.cut(after: 1, direction)
        let error = #expect(throws: StoreError.self) { try store.undo() }
        #expect(error?.code == .disconnected)
        #expect(try store.item(forKey: "k")?.name == "urn")
        proxy.cut(after: nil)
        try store.applyRemoteCommits()
        if direction == .toServer {
            #expect(try store.undo())
        } else {
            #expect(throws: StoreError.self) { try store.undo() }
        }
        #expect(try store.item(forKey: "k")?.name == "vase")
        try expectEqual(stores)
    }

    @Test("a refusal is no doubt: the changes stay, and may be changed", arguments: [false, true])
    func refusal(wasInDoubt: Bool) throws {
        let stores = try stores("refusal-\(wasInDoubt)")
        let (store, owner) = (stores[0], try cluster.connect())
        try store.createItem(ItemFields(name: "vase", itemKey: "k"))
        try store.commit()
        try store.item(forKey: "k")?.setName("urn")
        if wasInDoubt {
            proxy.cut(after: 1, .toHost)
            #expect(throws: StoreError.self) { try store.commit() }
            proxy.cut(after: nil)
        }
        let types =
            "(int, uuid, bigint, uuid, uuid, bytea[], bytea[], bytea[], bytea[], bytea[], bytea, bytea[], bytea, bytea, int)"
        try owner.runScript("alter function cubby.commit\(types) rename to other")
        #expect(throws: StoreError.self) { try store.commit() }
        // After an answer that was lost it is still not known whether the first try happened.
        #expect(store.isReadOnly == wasInDoubt)
        if !wasInDoubt { try store.item(forKey: "k")?.setName("jar") }
        try owner.runScript("alter function cubby.other rename to commit")
        try store.applyRemoteCommits()
        try store.commit()
        try expectEqual(stores)
        #expect(try stores[1].item(forKey: "k")?.name == (wasInDoubt ? "urn" : "jar"))
    }

    @Test("what is committed while an answer is waited for is refused, stays, and is sent afterwards")
    func whileWaiting() throws {
        let waiter = EagerWaiter()
        let address = try cluster.newCollection("while-waiting")
        let store = try ItemStore.open(SharedPersistence(address, hostName: "eager", waiter: waiter))
        try store.createItem(ItemFields(name: "vase", itemKey: "k"))
        try store.commit()
        var errors: [StoreError] = []
        waiter.body = {
            do throws(StoreError) {
                try store.item(forKey: "k")?.setName("urn")
                try store.commit()
            } catch { errors.append(error) }
            do {
                try store.transaction { _ = try store.createItem() }
            } catch { if let error = error as? StoreError { errors.append(error) } }
        }
        try store.shared.poll()
        #expect(errors.map(\.code) == [.disconnected, .disconnected])
        #expect(store.hasUncommittedChanges && !store.isReadOnly)
        try store.commit()
        try expectEqual([store])
        #expect(try store.count == 1 && store[0]?.name == "urn")
    }

    @Test(
        "whoever holds a collection and says no more loses it by the server's deadline, and the next one has it",
        arguments: [true, false])
    func holdEnds(commits: Bool) throws {
        let store = try stores("hold-ends-\(commits)")[1]
        try store.createItem(ItemFields(name: "vase", itemKey: "k"))
        try store.commit()
        let number = try #require(store.shared.server.collection).number
        let silent = try cluster.connect()
        try silent.runScript("set idle_in_transaction_session_timeout = 0; begin")
        if commits {
            var call = try CommitCall(store, item: "k", silent)
            call.seen = store.revision.rawValue
            #expect(try call.run(silent) == 0)
        } else {
            try silent.run("select cubby.hold($1)", [.int4(number)])
        }
        let settings = try silent.run(
            "select current_setting('idle_in_transaction_session_timeout'), coalesce(current_setting('transaction_timeout', true), '')"
        )
        #expect(try settings.text(0, 0) == "5s")
        if !commits { #expect(try ["", "1min"].contains(settings.text(0, 1))) }
        // It waits for as long as the other one has the collection.
        let next = try cluster.connect()
        next.timeLimit = 60
        #expect(try next.run("select cubby.hold($1)", [.int4(number)]).number(0, 0) == 1)
        #expect(throws: PostgresError.self) { try silent.run("select 1") }
        #expect(!silent.isOpen)
        try store.item(forKey: "k")?.setName("urn")
        try store.commit()
        try expectEqual([store])
        // What was held alone is the transaction's: the session's own settings are as they were.
        #expect(try next.run("select current_setting('idle_in_transaction_session_timeout')").text(0, 0) == "0")
    }

    @Test("a server that stops between commits: read-only meanwhile, and all catch up afterwards")
    func stopped() throws {
        let stores = try stores("stopped")
        try stores[0].createItem(ItemFields(name: "vase", itemKey: "k"))
        try stores[0].commit()
        try expectEqual(stores)
        try stores[0].createItem(ItemFields(name: "loose", itemKey: "l"))
        cluster.stop()
        for store in stores {
            let error = #expect(throws: StoreError.self) { try store.update() }
            #expect(error?.code == .disconnected)
            #expect(store.isReadOnly)
            #expect(try store.item(forKey: "k")?.name == "vase")
        }
        let refused = #expect(throws: StoreError.self) { try stores[1].createItem() }
        #expect(refused?.message.contains("does not answer") == true)
        #expect(stores[0].hasUncommittedChanges)
        try cluster.start()
        try stores[0].commit()
        #expect(!stores[0].hasUncommittedChanges && !stores[0].isReadOnly)
        try expectEqual(stores)
        #expect(stores[1].count == 2)
    }

    @Test("a server that stops within commits: each happens once")
    func stoppedWithin() throws {
        let stores = try stores("stopped-within")
        var random = TestGenerator(seed: 7)
        var made = 0
        for _ in 0..<3 {
            let microseconds = useconds_t(random.number(20_000))
            let server = cluster
            let isDown = Monitor(false)
            _ = WorkerThread {
                usleep(microseconds)
                server.stop()
                isDown.change { $0 = true }
            }
            while !stores[1].isReadOnly {
                try stores[1].createItem(ItemFields(itemKey: "key \(made)"))
                made += 1
                _ = try? stores[1].commit()
            }
            isDown.wait(until: { $0 }) { _ in }
            try cluster.start()
            try stores[1].applyRemoteCommits()
            #expect(!stores[1].hasUncommittedChanges)
            try expectEqual(stores)
            #expect(stores[0].count == made)
        }
    }
}

/// Does something of the caller's in the next wait, as a host's loop may.
private final class EagerWaiter: PostgresWaiter {
    var body: (() -> Void)?
    private let waiter = BlockingWaiter()

    func wait(for descriptor: Int32, isWriting: Bool, seconds: Double) throws(PostgresError) -> Bool {
        let body = self.body
        self.body = nil
        body?()
        return try waiter.wait(for: descriptor, isWriting: isWriting, seconds: seconds)
    }
}
