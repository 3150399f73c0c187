import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

/// What a database, a role or its people have otherwise than usual works, or is said with what to do.
@Suite(
    "A shared collection in odd surroundings", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedSurroundingsTests {
    private let cluster: PostgresServer

    init() throws { cluster = try .ofSuite }

    private func message(_ body: () throws -> Void) -> String {
        do { try body() } catch { return "\(error)" }
        return "nothing thrown"
    }

    @Test("a database of another encoding gets no collection", arguments: ["LATIN1", "EUC_JP", "SQL_ASCII"])
    func encoding(name: String) throws {
        let database = "db_\(name.lowercased())"
        try cluster.sql("create database \(database) encoding '\(name)' template template0 lc_collate 'C' lc_ctype 'C'")
        let address = try SharedAddress(cluster.url("home", database: database))
        let text = message { try SharedSchema.initialize(address) }
        #expect(text == "the database has the encoding \(name): shared collections need UTF8")
        let tables = try PostgresConnection(address, waiter: BlockingWaiter())
        #expect(try tables.run("select from pg_namespace where nspname = 'cubby'").rowCount == 0)
    }

    @Test("settings of a role for its sessions do not reach those of hosts")
    func settings() throws {
        let address = try cluster.newCollection("settings")
        let settings = [
            "default_transaction_read_only = on", "row_security = off", "standard_conforming_strings = off",
            "idle_session_timeout = '300ms'",
        ]
        try cluster.sql("create role odd login")
        for setting in settings where try cluster.connect().serverVersion >= 140_000 || !setting.hasPrefix("idle") {
            try cluster.sql("alter role odd set \(setting)")
        }
        _ = try SharedRights.grant("odd", writes: true, address)
        let odd = try ItemStore.open(SharedPersistence(cluster.address("settings", user: "odd"), hostName: "odd"))
        let descriptor = try odd.shared.descriptor
        for number in 0..<3 {
            try odd.createItem(ItemFields(name: "a\\'b \(number)", itemKey: "k\\\(number)"))
            try odd.commit()
            try odd.update()
        }
        // Longer than the role's sessions may idle.
        _ = try? PostgresConnection(cluster.address(), waiter: BlockingWaiter()).run("select pg_sleep(0.6)")
        try odd.item(forKey: "k\\0")?.setName("changed")
        try odd.commit()
        #expect(try odd.shared.descriptor == descriptor && odd.shared.statistics.disconnections == 0)
        let desk = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        try expectEqual([odd, desk])
        #expect(desk.count == 3)
    }

    @Test("a published table that somebody removed or changed is said, with what helps")
    func missingTable() throws {
        let address = try cluster.newCollection("shown")
        let desk = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        for (number, change) in ["drop table shown.items", "alter table shown.items drop column room"].enumerated() {
            try desk.createItem(ItemFields(name: "n", itemKey: "before \(number)"))
            try desk.declare([FieldDeclaration("room", .string)])
            try desk.commit()
            _ = try SharedPublication.publish(address, household: .household)
            try cluster.sql(change)
            let commit = message {
                try desk.createItem(ItemFields(name: "n", itemKey: "k\(number)"))
                try desk.commit()
            }
            #expect(commit.contains("the table of the published items is missing, or not as it was made"))
            #expect(commit.contains("cubby shared publish --end"))
            if number == 0 {
                let publish = message { _ = try SharedPublication.publish(address, household: .household) }
                #expect(publish.contains("cubby shared publish --end"))
                #expect(try SharedStatus(address).advice.contains { $0.contains("published items is missing") })
            }
            #expect(try SharedPublication.end(address) == "shown")
            try desk.commit()
            #expect(desk.item(forKey: "k\(number)") != nil)
        }
        try expectEqual([desk])
    }

    @Test("a collection with a view on its rows is not removed, and the reason is said")
    func view() throws {
        let address = try cluster.newCollection("viewed")
        let desk = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        try desk.createItem(ItemFields(name: "n"))
        try desk.commit()
        _ = try SharedPublication.publish(address, household: .household)
        try cluster.sql("create view public.seen as select name from viewed.items")
        let text = message { try SharedOwnership.drop(address) }
        #expect(text.contains("such as a view: remove those before; nothing was changed"))
        #expect(try SharedOwnership.contents(address).items == 1)
        try cluster.sql("drop view public.seen")
        try SharedOwnership.drop(address)
    }

    @Test(
        "a collection gets no name that an address cannot have",
        arguments: ["", String(repeating: "n", count: 201), "a\nb", "a\u{7F}"])
    func names(name: String) throws {
        let address = try cluster.newCollection("named")
        let error = #expect(throws: SharedError.self) { try SharedOwnership.rename(address, to: name) }
        #expect(error?.code == .badAddress && error?.message.contains("1 to 200 bytes") == true)
        #expect(try SharedOwnership.contents(address).items == 0)
    }
}
