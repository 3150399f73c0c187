import Foundation
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "Which role may use which shared collection", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedRightsTests {
    private let cluster: PostgresServer
    private let owner: PostgresConnection

    init() throws {
        cluster = try .ofSuite
        owner = try cluster.connect()
    }

    private func role(_ name: String) throws {
        try owner.runScript("drop role if exists \"\(name)\"; create role \"\(name)\" login")
    }

    private func open(_ collection: String, _ user: String) throws -> ItemStore {
        try ItemStore.open(SharedPersistence(cluster.address(collection, user: user), hostName: user))
    }

    /// A collection with one item.
    private func filled(_ name: String) throws -> (store: ItemStore, address: SharedAddress) {
        let address = try cluster.newCollection(name)
        let store = try open(name, "owner")
        try store.createItem(ItemFields(name: name, itemKey: "k"))
        try store.commit()
        return (store, address)
    }

    /// The names of the collections of which a role sees a row in any table.
    private func visible(_ user: String) throws -> [String] {
        let connection = try cluster.connect(user: user)
        var names: Set<String> = []
        for table in ["item", "log", "host", "picture", "declaration", "member"] {
            let rows = try connection.run("select distinct collection from cubby.\(table)")
            for row in 0..<rows.rowCount {
                let found = try owner.run(
                    "select name from cubby.collection where id = $1", [.int4(Int32(rows.number(row, 0)))])
                names.insert(try found.text(0, 0))
            }
        }
        let rows = try connection.run("select name from cubby.collection")
        for row in 0..<rows.rowCount { names.insert(try rows.text(row, 0)) }
        return names.sorted()
    }

    private func message(_ body: () throws -> Void) -> String {
        do { try body() } catch { return "\(error)" }
        return ""
    }

    @Test("a role works with its collection, and sees no row of another one, also of one that is made later")
    func one() throws {
        try role("anna")
        let (store, address) = try filled("mine")
        let (other, otherAddress) = try filled("theirs")
        // Each table has a row of both.
        for name in ["mine", "theirs"] {
            try owner.runScript(
                "insert into cubby.picture select id, '', 0, '', '', null from cubby.collection where name = '\(name)'; "
                    + "insert into cubby.declaration select id, 0, '' from cubby.collection where name = '\(name)'")
        }
        #expect(try SharedRights.grant("anna", writes: true, address).isEmpty)
        #expect(try visible("anna") == ["mine"])
        let host = try open("mine", "anna")
        try host.item(forKey: "k")?.setName("Vase")
        try host.commit()
        try expectEqual([store, host])
        #expect(message { _ = try open("theirs", "anna") }.contains("cubby shared grant ROLE 'postgres://anna@"))
        _ = try filled("later")
        #expect(try visible("anna") == ["mine"])

        // What she knows of the other one is of no use.
        let known = try #require(other.shared.server.collection)
        let anna = try cluster.connect(user: "anna")
        let token = [UInt8](repeating: 9, count: 16)
        let keys: [PostgresValue] = (0..<4).map { _ in .byteArrays([]) }
        let denials: [(String, [PostgresValue])] = [
            (
                "select cubby.commit($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)",
                [.int4(known.number), .uuid(known.epoch), .int8(1), .uuid(token), .uuid(token), .byteArrays([])]
                    + keys + [.bytes(CommitCall.nothing)]
            ),
            ("select cubby.hold($1)", [.int4(known.number)]),
            ("select cubby.put_picture($1, '', 0, '', '')", [.int4(known.number)]),
            ("select cubby.set_pictures($1, '{}', '{}', '{}')", [.int4(known.number)]),
        ]
        for (sql, parameters) in denials {
            let error = #expect(throws: PostgresError.self, "\(sql)") { try anna.run(sql, parameters) }
            #expect(error?.kind == .server("42501"), "\(sql)")
        }
        let made = try owner.run(
            "select token from cubby.log where collection = $1 limit 1", [.int4(known.number)])
        let outcome = try anna.run("select cubby.outcome($1)", [.uuid(try #require(try made.bytes(0, 0)))])
        #expect(try outcome.bytes(0, 0) == nil)

        // The second one, too, and then only that.
        _ = try SharedRights.grant("anna", writes: true, otherAddress)
        #expect(try visible("anna") == ["mine", "theirs"])
        #expect(try SharedRights.revoke("anna", address).isEmpty)
        #expect(try visible("anna") == ["theirs"])
        #expect(message { try host.shared.poll() }.contains("there is no collection"))
        #expect(throws: StoreError.self) {
            try host.item(forKey: "k")?.setName("Jar")
            try host.commit()
        }
        try store.update()
        #expect(try store.item(forKey: "k")?.name == "Vase")
        #expect(try SharedRights.revoke("anna", otherAddress).isEmpty)
        #expect(message { _ = try visible("anna") }.contains("permission denied"))
        let error = #expect(throws: SharedError.self) { try SharedRights.revoke("anna", address) }
        #expect(error?.message.contains("is not open to the role") == true)
        try owner.runScript("drop role anna")
    }

    @Test("a role that only reads follows the others, and cannot write, lock or be listed; another grant lets it")
    func readers() throws {
        try role("reader")
        let (store, address) = try filled("read")
        _ = try SharedRights.grant("reader", writes: false, address)
        let host = try open("read", "reader")
        #expect(host.isReadOnly && host.loadReport.notices.contains { $0.contains("may only read the collection") })
        #expect(message { try host.createItem() }.contains("cubby shared grant ROLE"))
        try store.item(forKey: "k")?.setName("Vase")
        try store.commit()
        try host.update()
        #expect(try host.item(forKey: "k")?.name == "Vase" && host.isReadOnly)
        let listed = try SharedOwnership.hosts(address).map(\.name)
        #expect(listed == ["owner"])
        let feed = try SharedLog(cluster.address("read", user: "reader"), schema: .household)
        #expect(try feed.next().count == 2)
        let number = try #require(host.shared.server.collection).number
        let reader = try cluster.connect(user: "reader")
        for sql in [
            "select cubby.hold(\(number))", "select cubby.put_picture(\(number), '', 0, '', '')",
            "select cubby.set_pictures(\(number), '{}', '{}', '{}')", "select cubby.shorten_log(\(number), 9)",
            "select head from cubby.collection for update",
            "delete from cubby.host", "insert into cubby.log default values",
        ] {
            let error = #expect(throws: PostgresError.self, "\(sql)") { try reader.run(sql) }
            #expect(error?.kind == .server("42501"), "\(sql)")
        }
        #expect(throws: PostgresError.self) {
            try reader.runScript("begin; lock table cubby.item in row exclusive mode")
        }
        #expect(throws: StoreError.self) { try host.shared.hold() }
        #expect(try SharedStatus(address).lines.contains { $0.contains("its owner, reader (reads)") })

        _ = try SharedRights.grant("reader", writes: true, address)
        let writer = try open("read", "reader")
        try writer.item(forKey: "k")?.setName("Urn")
        try writer.commit()
        try expectEqual([store, writer])
        _ = try SharedRights.grant("reader", writes: false, address)
        #expect(throws: StoreError.self) {
            try writer.item(forKey: "k")?.setName("Jar")
            try writer.commit()
        }
    }

    @Test("members of a role have what it has; a new role does not get what a dropped one of its name had")
    func members() throws {
        try role("ben")
        try role("registrars")
        let (_, address) = try filled("grouped")
        let (_, other) = try filled("ungrouped")
        try owner.runScript("grant registrars to ben")
        _ = try SharedRights.grant("registrars", writes: true, address)
        let host = try open("grouped", "ben")
        try host.item(forKey: "k")?.setName("by ben")
        try host.commit()
        #expect(try visible("ben") == ["grouped"])
        _ = try SharedRights.grant("ben", writes: true, address)
        #expect(try SharedRights.revoke("ben", address) == ["registrars"])
        #expect(try visible("ben") == ["grouped"])

        _ = try SharedRights.grant("ben", writes: true, other)
        try owner.runScript("drop owned by ben; drop role ben; create role ben login")
        #expect(message { _ = try visible("ben") }.contains("permission denied"))
        // The hosts of other roles go on.
        try owner.runScript("create role cleo login in role registrars")
        #expect(try visible("cleo") == ["grouped"])
        _ = try SharedRights.grant("ben", writes: false, address)
        #expect(try visible("ben") == ["grouped"])
        for absent in ["nobody-here", "public", "PUBLIC"] {
            #expect(message { _ = try SharedRights.grant(absent, writes: true, address) }.contains("does not exist"))
        }
    }

    @Test("the first grant migrates an older program's tables: its roles keep all collections, and its hosts go on")
    func older() throws {
        try owner.runScript("create database older")
        defer { try? owner.runScript("drop database older with (force)") }
        func address(_ collection: String, _ user: String) throws -> SharedAddress {
            try SharedAddress(cluster.url(collection, user: user, database: "older"))
        }
        let older = try PostgresConnection(address("home", "owner"), waiter: BlockingWaiter())
        for file in ["Sources/SharedItems/Schema/schema.sql", "Tests/Fixtures/shared/functions-2.0.0.sql"] {
            try older.runScript(String(contentsOfFile: "\(Project.root)/\(file)", encoding: .utf8))
        }
        try older.runScript("insert into cubby.collection (name) values ('home'), ('second')")
        for name in ["desk", "feed", "new"] { try role(name) }
        try older.runScript(
            """
            grant usage on schema cubby to desk, feed;
            grant select on all tables in schema cubby to desk, feed;
            grant execute on all functions in schema cubby to desk;
            """)
        let before = try ItemStore.open(SharedPersistence(address("home", "desk"), hostName: "desk"))
        #expect(!before.isReadOnly)
        #expect(try SharedStatus(address("home", "owner")).advice.contains { $0.contains("uses all collections") })

        #expect(try SharedRights.grant("new", writes: true, address("second", "owner")) == ["desk", "feed"])
        // It is still connected.
        try before.createItem(ItemFields(name: "Vase", itemKey: "k"))
        try before.commit()
        let desk = try ItemStore.open(SharedPersistence(address("second", "desk"), hostName: "desk"))
        #expect(!desk.isReadOnly)
        // The role that an older program's owner let read, by hand, reads.
        let feed = try PostgresConnection(address("home", "feed"), waiter: BlockingWaiter())
        #expect(try feed.run("select count(*) from cubby.item").number(0, 0) == 1)
        #expect(throws: PostgresError.self) { try feed.run("select cubby.hold(id) from cubby.collection") }
        let new = try PostgresConnection(address("second", "new"), waiter: BlockingWaiter())
        #expect(try new.run("select name from cubby.collection").text(0, 0) == "second")
        #expect(try new.run("select count(*) from cubby.item").number(0, 0) == 0)
        // An older program's host.
        let hello = try feed.run(
            "select * from cubby.hello($1, $2, $3, 0)",
            [.text("home"), .uuid([UInt8](repeating: 7, count: 16)), .text("older")])
        #expect(try hello.number(0, 1) == 1)

        // Later collections are not theirs, and migrating again changes nothing.
        try SharedSchema.initialize(address("third", "owner"))
        try SharedSchema.migrate(address("third", "owner"))
        #expect(throws: StoreError.self) {
            try ItemStore.open(SharedPersistence(address("third", "desk"), hostName: "desk"))
        }
        #expect(try SharedRights.revoke("desk", address("home", "owner")).isEmpty)
        #expect(throws: StoreError.self) {
            try ItemStore.open(SharedPersistence(address("home", "desk"), hostName: "desk"))
        }
    }
}
