import Files
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "Items as rows for any program", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedPublicationTests {
    private let cluster: PostgresServer
    private let owner: PostgresConnection

    init() throws {
        cluster = try .ofSuite
        owner = try cluster.connect()
    }

    private func open(_ collection: String, _ name: String, user: String = "owner") throws -> ItemStore {
        try ItemStore.open(
            SharedPersistence(cluster.address(collection, user: user), hostName: name, timeLimit: .seconds(10)))
    }

    private func table(_ schema: String, user: String? = nil) throws -> PublishedItems {
        PublishedItems(
            connection: try user.map { try cluster.connect(user: $0) } ?? owner, table: "\"\(schema)\".items")
    }

    @discardableResult
    private func publish(_ collection: String, schema: String? = nil) throws -> SharedPublication {
        try SharedPublication.publish(cluster.address(collection), schema: schema, household: .household)
    }

    private func head(_ collection: String) throws -> Int64 {
        try owner.run("select head from cubby.collection where name = $1", [.text(collection)]).number(0, 0)
    }

    private func message(_ body: () throws -> Void) -> String {
        do { try body() } catch { return "\(error)" }
        return "nothing thrown"
    }

    @Test("after each of many commits of two hosts the table has what they have", arguments: [1, 2, 3])
    func exact(seed: UInt64) throws {
        let name = "exact-\(seed)"
        _ = try cluster.newCollection(name)
        let stores = [try open(name, "desk-1"), try open(name, "desk-2")]
        for number in 0..<20 { try stores[0].createItem(ItemFields(name: "item \(number)")) }
        try stores[0].commit()
        try publish(name)
        let table = try table(name)
        try table.expectEqual(stores[0], "published")
        var random = TestGenerator(seed: seed)
        let values: [PropertyListValue] = [
            .string("plain"), .string("it's \"quoted\" \\ and ünïcode 🏺"), .integer(-7), .real(2.5), .real(1e-7),
            .boolean(true),
            .date(PropertyListDate(secondsSinceReferenceDate: 700_000_000.25)), .data([0, 1, 255]), .real(.nan),
            .array([.integer(1), .fields(["a": .string("b"), "$date": .integer(1)])]), .wideInteger(1 << 70),
        ]
        for round in 0..<60 {
            let store = stores[random.number(2)]
            try store.update()
            for _ in 0..<(1 + random.number(3)) {
                let count = store.count
                switch count < 5 ? 0 : random.number(8) {
                case 0, 1: try store.createItem(ItemFields(name: "new \(round)", valueInDollars: Int64(round)))
                case 2: try store[random.number(count)]?.remove()
                case 3: try store.moveItem(from: random.number(count), to: random.number(count))
                case 4: try store[random.number(count)]?.setValueInDollars(Int64(random.number(1000)))
                case 5: try store[random.number(count)]?.setValue(nil, forField: "room")
                default:
                    try store[random.number(count)]?.setValue(
                        values[random.number(values.count)], forField: random.number(2) == 0 ? "room" : "shelf")
                }
            }
            try store.commit()
            if random.number(4) == 0 {
                _ = try store.undo()
                try store.commit()
            }
            try table.expectEqual(store, "round \(round)")
        }
        try expectEqual(stores)
        #expect(stores.allSatisfy { $0.conflicts.isEmpty })
    }

    @Test("hosts that are connected go on while it begins, changes and ends; what they change meanwhile is not lost")
    func whileHostsCommit() throws {
        let address = try cluster.newCollection("busy")
        let store = try open("busy", "desk")
        for number in 0..<1200 { try store.createItem(ItemFields(name: "item \(number)", itemKey: "k\(number)")) }
        try store.commit()
        var pieces = 0
        let made = try SharedPublication.publish(address, household: .household) { done, total in
            pieces += 1
            #expect(total == 1200 && done <= total)
            // This host does not know yet.
            do {
                for number in [3, 700, 1100] {
                    try store.item(forKey: "k\(number)")?.setName("changed in piece \(pieces)")
                }
                try store.item(forKey: "k\(pieces)")?.remove()
                try store.item(forKey: "k\(1200 - pieces)")?.remove()
                if pieces < 3 { try store.createItem(ItemFields(name: "came", itemKey: "new \(pieces)")) }
                try store.commit()
            } catch { Issue.record("\(error)") }
        }
        #expect(pieces == 3 && made.schema == "busy" && made.items == 1196)
        let busy = try table("busy")
        try busy.expectEqual(store, "published")
        // Many at once, as an import makes them.
        for number in 0..<1500 { try store.createItem(ItemFields(name: "imported \(number)")) }
        try store.commit()
        try busy.expectEqual(store, "imported")

        // What is declared later has no column until it is published again.
        try store.declare([FieldDeclaration("price", .real), FieldDeclaration("key", .integer)])
        try store.item(forKey: "k10")?.setValue(.real(2.5), forField: "price")
        try store.commit()
        #expect(
            try SharedStatus(address).advice.contains { $0.contains("no column for price, key: cubby shared publish") })
        let again = try publish("busy")
        #expect(again.columns.suffix(2).map(\.name) == ["price", "key_2"])
        #expect(try busy.text("price", "k10") == "2.5")
        try store.item(forKey: "k10")?.setValue(.integer(4), forField: "key")
        try store.commit()
        #expect(try busy.text("key_2", "k10") == "4")
        #expect(
            try SharedStatus(address).lines.contains {
                $0.contains("as busy.items, with columns for name, serialNumber")
            })

        // Declared as something else.
        try store.declare([FieldDeclaration("price", .any)])
        try store.item(forKey: "k10")?.setValue(.string("dear"), forField: "price")
        try store.item(forKey: "k12")?.setValue(.real(.infinity), forField: "price")
        try store.commit()
        #expect(try busy.text("price", "k10") == nil && busy.text("price", "k12") == "Infinity")
        #expect(try busy.text("fields->>'price'", "k10") == "dear")
        #expect(try publish("busy", schema: "renamed").columns.suffix(2).map(\.name) == ["price", "key_2"])
        let renamed = try table("renamed")
        #expect(try renamed.text("price", "k10") == "\"dear\"")
        try renamed.expectEqual(store, "published again")
        try store.item(forKey: "k11")?.setName("after")
        try store.commit()
        #expect(try renamed.text("name", "k11") == "after")

        // It ends, and the host goes on.
        #expect(try SharedPublication.end(address) == "renamed")
        #expect(try SharedPublication.end(address) == nil)
        try store.item(forKey: "k11")?.setName("without rows")
        try store.commit()
        let rest = try owner.run(
            "select to_regnamespace('renamed') is null and to_regproc('cubby.rows_\(try #require(store.shared.server.collection).number)') is null"
        )
        #expect(try rest.bytes(0, 0) == [1])
        #expect(!store.isReadOnly)
        try expectEqual([store])
    }

    @Test("a host of an older program is refused with a reason, and the table stays exact")
    func older() throws {
        let address = try cluster.newCollection("older")
        let store = try open("older", "desk")
        try store.createItem(ItemFields(name: "A", itemKey: "a"))
        try store.commit()
        try publish("older")
        let known = try #require(store.shared.server.collection)
        let before = try head("older")
        let call = "select status from cubby.commit($1,$2,$3,$4,$4,'{}','{}','{}','{}','{}','\\x00000000'"
        for arguments in [")", ",'{}',null)"] {
            let error = #expect(throws: PostgresError.self) {
                try owner.run(
                    call + arguments,
                    [
                        .int4(known.number), .uuid(known.epoch), .int8(before),
                        .uuid(SharedPersistence.newIdentifier()),
                    ])
            }
            #expect(error?.message.contains("install a newer cubby") == true)
        }
        #expect(try head("older") == before)
        // Nor does anybody write a row without a commit.
        let error = #expect(throws: PostgresError.self) {
            try owner.run("select cubby.rows_\(known.number)(1, \(before), '{a}', '{}', '{}')")
        }
        #expect(error?.kind == .server("CB005"))
        // Another collection of the database is not concerned.
        _ = try cluster.newCollection("unpublished")
        let other = try open("unpublished", "desk")
        try other.createItem(ItemFields(name: "B"))
        try other.commit()
        try table("older").expectEqual(store, "refused")
        #expect(try SharedPublication.end(address) == "older")
    }

    @Test("values have the types of what is declared, and none is lost")
    func values() throws {
        _ = try cluster.newCollection("values")
        let store = try open("values", "desk")
        var day = FieldDeclaration("bought", .date)
        day.format = .day
        var money = FieldDeclaration("paid", .real)
        money.format = .money
        let long = String(repeating: "ä", count: 40)
        try store.declare([
            day, money, FieldDeclaration("weight", .real), FieldDeclaration("any", .number),
            FieldDeclaration("seen", .boolean),
            FieldDeclaration("at", .date), FieldDeclaration("bytes", .data), FieldDeclaration("tags", .array),
            FieldDeclaration("count", .integer), FieldDeclaration(long, .string), FieldDeclaration("n\0l", .string),
            FieldDeclaration("a$rows$\"b", .string), FieldDeclaration("free"), FieldDeclaration("fields", .string),
        ])
        let null = "a\0b\\c"
        try store.createItem(
            ItemFields(
                name: "plain \\0", itemKey: "k",
                custom: [
                    "bought": .date(PropertyListDate(secondsSinceReferenceDate: -86400)), "paid": .real(12.5),
                    "weight": .real(-.infinity), "any": .integer(.max), "seen": .boolean(true),
                    "at": .date(PropertyListDate(secondsSinceReferenceDate: 0.25)), "bytes": .data([0, 0x5C, 255]),
                    "tags": .array([.string("x"), .real(.nan)]), "count": .integer(.min), long: .string("long"),
                    "n\0l": .string("named"), "a$rows$\"b": .string("it's"), "fields": .string("f"),
                    "free": .string(null),
                ]))
        try store.createItem(
            ItemFields(
                name: null, itemKey: "k\0",
                custom: [
                    "weight": .real(.nan), "any": .real(.infinity), "paid": .real(.nan),
                    "at": .date(PropertyListDate(secondsSinceReferenceDate: -64_000_000_000)),
                    "tags": .array([.fields(["k\0": .string("\\")]), .utf16([0x61, 0xD83D])]),
                ]))
        try store.createItem(ItemFields(name: "key", itemKey: "\\k\\0"))
        try store.commit()
        let made = try publish("values")
        let values = try table("values")
        func check(_ note: String) throws {
            let expected: [(String, String, String?)] = [
                ("k", "bought", "2000-12-31"), ("k", "paid", "12.5"), ("k", "weight", "-Infinity"),
                ("k", "\"any\"", "9223372036854775807"), ("k", "seen", "true"),
                ("k", "\"at\" at time zone 'UTC'", "2001-01-01 00:00:00.25"), ("k", "bytes", "\\x005cff"),
                ("k", "tags", "[\"x\", {\"$real\": \"nan\"}]"), ("k", "count", "-9223372036854775808"),
                ("k", "\"\(String(repeating: "ä", count: 31))\"", "long"), ("k", "\"\\n\\0l\"", "named"),
                ("k", "\"a$rows$\"\"b\"", "it's"), ("k", "fields_2", "f"), ("k", "name", "plain \\0"),
                ("k", "free", "\"a\\\\0b\\\\\\\\c\""), ("k", "fields->>'free'", "a\\0b\\\\c"),
                ("k", "fields->'weight'", "{\"$real\": \"-inf\"}"),
                ("k", "escaped", "{\"\\\\n\\\\0l\",free}"), ("k", "fields->>'\\n\\0l'", "named"),
                ("\\k\\0", "name", "a\\0b\\\\c"), ("\\k\\0", "weight", "NaN"), ("\\k\\0", "\"any\"", nil),
                ("\\k\\0", "fields->'any'", "{\"$real\": \"inf\"}"), ("\\k\\0", "paid", "NaN"),
                ("\\k\\0", "\"at\" at time zone 'UTC'", "0029-12-03 06:13:20 BC"),
                ("\\k\\0", "tags", "[{\"k\\\\0\": \"\\\\\\\\\"}, \"a\\\\ud83d\"]"),
                ("\\k\\0", "escaped", "{itemKey,name,tags}"), ("\\k\\0", "seen", nil), ("\\\\\\k\\\\0", "name", "key"),
                ("\\\\\\k\\\\0", "escaped", "{itemKey}"), ("k", "fields->'bytes'", "{\"$data\": \"AFz/\"}"),
            ]
            for (key, column, text) in expected {
                #expect(try values.text(column, key) == text, "\(note): \(column) of \(key)")
            }
        }
        try check("written at once")
        // The same by commits.
        for item in store.allItems { try item.setValueInDollars(5) }
        try store.commit()
        try check("written by a commit")
        #expect(made.columns.count == 4 + 14 && made.items == 3)
        let types = try owner.run(
            "select string_agg(format_type(atttypid, null), ', ' order by attnum) from pg_attribute where attrelid = 'values.items'::regclass and attnum > 0"
        )
        #expect(
            try types.text(0, 0)
                == "text, text, text, bigint, timestamp with time zone, date, numeric, double precision, numeric, boolean, timestamp with time zone, bytea, jsonb, bigint, text, text, text, jsonb, text, jsonb, text[], bytea, bigint"
        )
        // Names read back.
        for name in ["n\0l", "\\k\\0", "\\", "plain", "\0"] {
            #expect(PublishedText.field(named: PublishedText.name(name)) == name)
        }
    }

    @Test("who reads the collection reads the table, and nobody but its owner writes it")
    func rights() throws {
        for role in ["early", "late", "writer", "stranger"] {
            try owner.runScript("drop role if exists \(role); create role \(role) login")
        }
        let address = try cluster.newCollection("rights")
        _ = try SharedRights.grant("early", writes: false, address)
        _ = try SharedRights.grant("writer", writes: true, address)
        let store = try open("rights", "desk", user: "writer")
        try store.createItem(ItemFields(name: "A", itemKey: "a"))
        try store.commit()
        try publish("rights")
        _ = try SharedRights.grant("late", writes: false, address)
        try store.item(forKey: "a")?.setName("B")
        try store.commit()
        for role in ["early", "late", "writer"] {
            let table = try table("rights", user: role)
            #expect(try table.text("name", "a") == "B", "\(role)")
            for sql in ["delete from rights.items", "update rights.items set name = ''", "truncate rights.items"] {
                let error = #expect(throws: PostgresError.self) { try table.connection.run(sql) }
                #expect(error?.kind == .server("42501"), "\(role): \(sql)")
            }
            let number = try #require(store.shared.server.collection).number
            #expect(throws: PostgresError.self) {
                try table.connection.run("select cubby.rows_\(number)(1, \(head("rights")), '{a}', '{}', '{}')")
            }
        }
        #expect(message { _ = try table("rights", user: "stranger").rows() }.contains("permission denied"))
        let (late, reader) = (try table("rights", user: "late"), try open("rights", "reader", user: "early"))
        _ = try SharedRights.revoke("late", address)
        #expect(message { _ = try late.rows() }.contains("permission denied"))
        #expect(try reader.contents == store.contents)
        try table("rights").expectEqual(store, "rights")
    }

    @Test("a collection takes its table along when it is renamed, and when it is removed")
    func ownership() throws {
        var address = try cluster.newCollection("before")
        var store = try open("before", "desk")
        try store.createItem(ItemFields(name: "A", itemKey: "a"))
        try store.commit()
        try publish("before", schema: "Shown here")
        try SharedOwnership.rename(address, to: "behind")
        address = try cluster.address("behind")
        store = try open("behind", "desk")
        try store.item(forKey: "a")?.setName("B")
        try store.commit()
        let shown = try table("Shown here")
        #expect(try shown.text("name", "a") == "B")
        #expect(try publish("behind").schema == "Shown here")
        // A view of a reader is not taken away.
        try owner.runScript("create view public.of_items as select name from \"Shown here\".items")
        #expect(message { _ = try SharedPublication.end(address) }.contains("such as a view"))
        #expect(message { try SharedOwnership.drop(address) }.contains("depend"))
        #expect(try shown.text("name", "a") == "B")
        try owner.runScript("drop view public.of_items")
        try SharedOwnership.drop(address)
        let rest = try owner.run(
            "select (select count(*) from cubby.publication where schema = 'Shown here'), "
                + "(select count(*) from pg_namespace where nspname = 'Shown here')")
        #expect(try rest.number(0, 0) == 0 && rest.number(0, 1) == 0)
        // A schema that is there is not used.
        _ = try cluster.newCollection("public")
        #expect(message { try publish("public") }.contains("name another one with --schema"))
        #expect(message { try publish("public", schema: "pg_mine") }.contains("name another one with --schema"))
        #expect(try publish("public", schema: "of public").items == 0)
    }

    @Test("commits that waited for the server, and a commit that was overtaken, bring their rows")
    func queued() throws {
        let link = try CutLink()
        let address = try link.cluster.newCollection("queued")
        let laptop = try link.open("queued")
        for key in ["a", "b", "c"] { try laptop.createItem(ItemFields(name: key, itemKey: key)) }
        try laptop.commit()
        try laptop.saveChanges()
        let desk = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        try link.goAway(laptop)
        for number in 0..<300 {
            try laptop.item(forKey: number % 2 == 0 ? "a" : "b")?.setName("\(number)")
            if number == 100 { try laptop.item(forKey: "c")?.remove() }
            if number % 50 == 0 { try laptop.createItem(ItemFields(name: "new", itemKey: "n\(number)")) }
            try laptop.commit()
        }
        try publish("queued")
        try desk.item(forKey: "a")?.setValue(.string("Hall"), forField: "room")
        try desk.commit()
        try link.comeBack(laptop)
        let table = try table("queued")
        try table.expectEqual(laptop, "queue")
        // Neither knows of the other's commit.
        try desk.item(forKey: "b")?.setValue(.string("Attic"), forField: "room")
        try desk.commit()
        try laptop.item(forKey: "b")?.setValueInDollars(9)
        try laptop.commit()
        try table.expectEqual(laptop, "overtaken")
        // It ends, and begins again when the laptop has connected, before it sends its queue.
        _ = try SharedPublication.end(address)
        try link.goAway(laptop)
        try laptop.item(forKey: "a")?.setName("from the queue")
        try laptop.commit()
        try desk.update()
        try desk.item(forKey: "b")?.setName("B")
        try desk.commit()
        let remote = try laptop.shared
        let onConnectionChange = remote.onConnectionChange
        remote.onConnectionChange = { [owner = cluster] isConnected in
            guard isConnected else { return }
            #expect(throws: Never.self) {
                _ = try SharedPublication.publish(owner.address("queued"), household: .household)
            }
        }
        link.proxy.cut(after: nil)
        #expect(message { try laptop.update() }.contains("published otherwise"))
        remote.onConnectionChange = onConnectionChange
        try link.comeBack(laptop)
        try table.expectEqual(laptop, "begun before the queue")
        #expect(try table.text("name", "a") == "from the queue")
        try expectEqual([laptop, desk])
    }

    @Test("a commit with pictures brings its rows, also one that finds that the publication has begun")
    func pictures() throws {
        let host = try PictureHost(cluster.newCollection("pictures"), "desk")
        try host.store.createItem(ItemFields(name: "A", itemKey: "a"))
        try host.store.commit()
        try publish("pictures")
        let table = try table("pictures")
        for bytes: [UInt8] in [[1, 2, 3], [4, 5]] {
            try host.set(bytes, "a")
            try host.store.item(forKey: "a")?.setName("\(bytes)")
            try host.store.commit()
            #expect(try table.text("name", "a") == "\(bytes)")
            let digest = try owner.run("select encode($1, 'base64')", [.bytes(SHA256.digest(bytes))])
            #expect(try table.text("fields->'$image'->>'$data'", "a") == digest.text(0, 0))
        }
        #expect(try host.bytes("a") == [4, 5] && !host.store.isReadOnly)
    }

    @Test("an item whose record is damaged on the server is named, and the others have rows")
    func damaged() throws {
        _ = try cluster.newCollection("damaged")
        let store = try open("damaged", "desk")
        for key in ["a", "b", "c"] { try store.createItem(ItemFields(name: key, itemKey: key)) }
        try store.commit()
        let number = try #require(store.shared.server.collection).number
        try owner.runScript(
            "update cubby.item set record = set_byte(record, 5, 255 - get_byte(record, 5)) "
                + "where collection = \(number) and key = '\\x010162'")
        let made = try publish("damaged")
        #expect(made.damaged == ["b"] && made.items == 2)
        // The next commit of the item writes a whole one.
        try store.item(forKey: "b")?.setName("whole")
        try store.commit()
        try table("damaged").expectEqual(store, "whole")
        #expect(try publish("damaged").damaged.isEmpty)
    }

    @Test("readers by logical decoding see each row that changes")
    func decoding() throws {
        let server = try PostgresServer()
        defer { server.stop() }
        try server.configure("postgresql.conf", "wal_level = logical")
        server.stop()
        try server.start()
        let address = try SharedAddress(server.url("home"))
        try SharedSchema.initialize(address)
        let store = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        try store.createItem(ItemFields(name: "Vase", itemKey: "v"))
        try store.commit()
        _ = try SharedPublication.publish(address, schema: "shown", household: .household)
        let reader = try PostgresConnection(address, waiter: BlockingWaiter())
        try reader.run("select pg_create_logical_replication_slot('s', 'test_decoding')")
        try store.item(forKey: "v")?.setName("Urn")
        try store.createItem(ItemFields(name: "Jar", itemKey: "j"))
        try store.commit()
        try store.item(forKey: "v")?.remove()
        try store.commit()
        let rows = try reader.run(
            "select data from pg_logical_slot_get_changes('s', null, null) where data like 'table shown.items:%'")
        let changes = try (0..<rows.rowCount).map { try rows.text($0, 0) }
        try reader.run("select pg_drop_replication_slot('s')")
        #expect(changes.count == 3, "\(changes)")
        #expect(changes.contains { $0.contains("UPDATE: key[text]:'v' name[text]:'Urn'") }, "\(changes)")
        #expect(changes.contains { $0.contains("INSERT: key[text]:'j' name[text]:'Jar'") }, "\(changes)")
        #expect(changes.last == "table shown.items: DELETE: key[text]:'v'", "\(changes)")
    }
}
