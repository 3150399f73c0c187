import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "What the status of a shared collection says", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedStatusTests {
    private let cluster: PostgresServer
    private let owner: PostgresConnection

    init() throws {
        cluster = try .ofSuite
        owner = try cluster.connect()
    }

    private func filled(_ name: String) throws -> (store: ItemStore, address: SharedAddress) {
        let address = try cluster.newCollection(name)
        let store = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        try commit(store, 3)
        return (store, address)
    }

    private func commit(_ store: ItemStore, _ count: Int) throws {
        for _ in 0..<count {
            try store.createItem(ItemFields(name: "vase"))
            try store.commit()
        }
    }

    /// The value of a line.
    private func value(_ name: String, _ address: SharedAddress) throws -> String {
        try #require(SharedStatus(address).pairs.first { $0.0 == name }?.1)
    }

    @Test("sizes, copies, and what came in the last day")
    func growth() throws {
        let (store, address) = try filled("grown")
        #expect(try value("disk", address).contains(/items \d+ kB, log \d+ kB, pictures \d+ kB, of all/))
        #expect(try value("copies", address).contains(/1 host, to each of which \d+ bytes went/))
        #expect(try value("growth", address).contains(/3 commits, \d+ bytes in the log in the last day/))
        let number = try #require(store.shared.server.collection).number
        try owner.runScript("update cubby.log set at = at - interval '3 days' where collection = \(number)")
        try commit(store, 1)
        #expect(try value("growth", address).hasPrefix("1 commit, "))
        _ = try SharedRetention.trim(address, keeping: .days(2))
        #expect(!(try value("copies", address).contains("before the log begins")))
        try owner.runScript(
            "update cubby.host set connected_at = now() - interval '9 days' where collection = \(number)")
        #expect(try value("copies", address).contains("; 1 of them connected last before the log begins"))
    }

    @Test("dead rows, by table")
    func deadRows() throws {
        let (_, address) = try filled("dead")
        // Earlier servers tell of them later.
        guard owner.serverVersion >= 150_000 else { return }
        try owner.runScript("update cubby.item set version = version; select pg_stat_force_next_flush()")
        #expect(try value("dead rows", address).contains(/item \d+ beside \d+/))
    }

    @Test("a transaction that holds a snapshot, and sessions that the role cannot see")
    func snapshots() throws {
        let (store, address) = try filled("held")
        let holder = try cluster.connect()
        try holder.runScript("begin isolation level repeatable read")
        let process = try holder.run("select pg_backend_pid()").number(0, 0)
        try commit(store, 2)
        let held = try value("snapshots", address)
        #expect(held.hasPrefix("the oldest is held by process \(process), cubby, "), "\(held)")
        try holder.runScript("commit")
        #expect(!(try value("snapshots", address).contains("process \(process)")))
        try owner.runScript("create role visitor login")
        _ = try SharedRights.grant("visitor", writes: false, address)
        #expect(try value("snapshots", cluster.address("held", user: "visitor")).contains("pg_read_all_stats"))
    }

    @Test("notifications that a connection does not take")
    func notifications() throws {
        let (_, address) = try filled("notified")
        #expect(try value("notify", address) == "none waits")
        let sleeper = try cluster.connect()
        try sleeper.runScript("listen whatever")
        try sleeper.runScript("begin; select 1")
        try owner.runScript("select pg_notify('whatever', n || repeat('x', 7000)) from generate_series(1, 5) n")
        #expect(try value("notify", address) == "1 % of the server's queue")
        try sleeper.runScript("commit")
    }
}
