import Files
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items
@testable import SharedItems

@Suite("Messages of refused commits")
struct RefusedCommitTests {
    @Test("name the first of the items by the beginning of its key")
    func first() {
        let commits = [String(repeating: "k", count: 2000), "other"].map { key in
            var commit = EncodedCommit(removed: [], record: [])
            commit.keys = [CommitCall.item(key).key]
            return commit
        }
        let message = commits.named(in: StoreError(.invalidValue(field: ""), "no")).message
        #expect(message == "2 items, the first of them \(String(repeating: "k", count: 60))… (1,940 more bytes): no")
    }
}

/// A call of the server's function that makes a commit, with what a host sends.
struct CommitCall {
    var commit: EncodedCommit
    var collection: SharedCollection
    var seen: UInt64
    var digest: [UInt8]?
    var token = SharedPersistence.newIdentifier()

    /// A commit that changes nothing, for the log alone.
    static let nothing = RecordChecksum.sealed([])

    /// An item in the encoding of records that the server takes for one.
    static func item(_ name: String) -> (key: [UInt8], rank: [UInt8], record: [UInt8]) {
        var writer = RecordWriter()
        writer.key(name)
        return (writer.bytes, [128], RecordChecksum.sealed([1] + writer.bytes + [0], rank: [128]))
    }

    /// The commit that gave an item its state once more, as the tables have it.
    init(_ store: ItemStore, item key: String, _ connection: PostgresConnection) throws {
        collection = try #require(store.shared.server.collection)
        seen = store.revision.rawValue
        var writer = RecordWriter()
        writer.key(key)
        let rows = try connection.run(
            "select i.rank, i.record, l.record from cubby.item i join cubby.log l on l.collection = i.collection "
                + "and l.revision = i.version where i.collection = $1 and i.key = $2",
            [.int4(collection.number), .bytes(writer.bytes)])
        commit = EncodedCommit(removed: [], record: try #require(try rows.bytes(0, 2)))
        commit.keys = [writer.bytes]
        commit.ranks = [try #require(try rows.bytes(0, 0))]
        commit.records = [try #require(try rows.bytes(0, 1))]
        digest = commit.digest
    }

    /// Runs it, as an older program without the digest.
    ///
    /// - Returns: the status.
    @discardableResult
    func run(_ connection: PostgresConnection) throws(PostgresError) -> Int64 {
        let declarations: PostgresValue = commit.declarations.map { .bytes($0) } ?? .null
        return try connection.run(
            "select status from cubby.commit($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13\(digest == nil ? "" : ",$14"))",
            [
                .int4(collection.number), .uuid(collection.epoch), .int8(Int64(seen)), .uuid(token), .uuid(token),
                .byteArrays([]), .byteArrays(commit.removed), .byteArrays(commit.keys), .byteArrays(commit.ranks),
                .byteArrays(commit.records), .bytes(commit.record), .byteArrays(commit.claims), declarations,
            ] + (digest.map { [.bytes($0)] } ?? [])
        ).number(0, 0)
    }
}

@Suite(
    "Bytes that are not a record", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedRecordTests {
    private let cluster: PostgresServer
    private let owner: PostgresConnection

    init() throws {
        cluster = try .ofSuite
        owner = try cluster.connect()
    }

    /// A store with an item of many kinds of values.
    private func filled(_ collection: String) throws -> ItemStore {
        let store = try ItemStore.open(SharedPersistence(cluster.newCollection(collection), hostName: "desk"))
        try store.createItem(
            ItemFields(
                name: "vase", valueInDollars: 30, itemKey: "vase", custom: ["size": .integer(7), "note": .string("x")]))
        try store.commit()
        return store
    }

    private func head(_ store: ItemStore) throws -> Int64 {
        try owner.run(
            "select head from cubby.collection where id = $1", [.int4(#require(store.shared.server.collection).number)]
        ).number(0, 0)
    }

    private func expectRefused(
        _ call: CommitCall, _ words: String = "", _ note: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: PostgresError.self, "\(note)", sourceLocation: sourceLocation) {
            try call.run(owner)
        }
        #expect(error?.kind == .server("CB004"), "\(note): \(error?.message ?? "")", sourceLocation: sourceLocation)
        #expect(
            error?.message.contains(words) == true, "\(note): \(error?.message ?? "")", sourceLocation: sourceLocation)
    }

    // MARK: The server

    @Test("each byte of a commit altered, lost or added: refused, and nothing is committed")
    func eachByte() throws {
        let store = try filled("each-byte")
        let whole = try CommitCall(store, item: "vase", owner)
        let before = try head(store)
        let parts: [(String, WritableKeyPath<CommitCall, [UInt8]>)] = [
            ("record", \.commit.record), ("key", \.commit.keys[0]), ("rank", \.commit.ranks[0]),
            ("item", \.commit.records[0]),
        ]
        var altered = 0
        for (name, part) in parts {
            for place in whole[keyPath: part].indices {
                for change in 0..<4 {
                    var call = whole
                    switch change {
                    case 0: call[keyPath: part][place] ^= 1 << UInt8(place % 8)
                    case 1: call[keyPath: part].remove(at: place)
                    case 2: call[keyPath: part].insert(0, at: place)
                    default: call[keyPath: part].removeSubrange(place...)
                    }
                    expectRefused(call, "other bytes than its host sent", "\(name), byte \(place), change \(change)")
                    altered += 1
                }
            }
        }
        #expect(altered > 200)
        for place in 0..<SHA256.byteCount {
            var call = whole
            call.digest?[place] ^= 1
            expectRefused(call, "other bytes than its host sent", "digest, byte \(place)")
        }
        for change: (inout EncodedCommit) -> Void in [
            { $0.removed = $0.keys }, { $0.claims = $0.keys }, { $0.declarations = [] }, { $0.keys = [] },
            { $0.records += $0.records }, { ($0.records, $0.ranks) = ($0.ranks, $0.records) },
        ] {
            var call = whole
            change(&call.commit)
            expectRefused(call, "other bytes than its host sent", "another part")
        }
        #expect(try head(store) == before)
        #expect(try whole.run(owner) == 0)
        #expect(try head(store) == before + 1)
        // To a host that has the item it does not fit, and is what the server has all the same.
        try store.update()
        try expectEqual([store])
    }

    @Test("what does not begin as a record, or has not its length, is refused also from an older program")
    func shapes() throws {
        let store = try filled("shapes")
        var whole = try CommitCall(store, item: "vase", owner)
        whole.digest = nil
        let before = try head(store)
        let kinds: Set<UInt8> = [1, 3, 4, 6, 8, 9, 11]
        for kind in UInt8.min ... .max where !kinds.contains(kind) {
            var call = whole
            call.commit.record[0] = kind
            expectRefused(call, "what the commit has for the log is not a record", "kind \(kind) of a change")
        }
        for kind in UInt8.min ... .max where ![1, 6, 9].contains(kind) {
            var call = whole
            call.commit.records[0][0] = kind
            expectRefused(call, "for the item with the key \"01", "kind \(kind) of an item")
        }
        for count in 0..<6 where count != CommitCall.nothing.count {
            var call = whole
            call.commit.record = Array(call.commit.record.prefix(count))
            expectRefused(call, "is not a record: \(count) bytes", "\(count) bytes")
        }
        for key: [UInt8] in [
            [], [1], [1, 0], [1, 9, 65], [0], [0, 1, 2], [2] + .init(repeating: 0, count: 16), [0x20, 1, 65],
        ] {
            var call = whole
            call.commit.keys[0] = key
            expectRefused(call, "is not its record and its rank", "the key \(key)")
            call = whole
            call.commit.removed = [key]
            expectRefused(call, "removes an item whose key is none", "the removed key \(key)")
        }
        let changes: [(String, (inout EncodedCommit) -> Void)] = [
            ("no rank", { $0.ranks[0] = [] }), ("a long rank", { $0.ranks[0] = .init(repeating: 1, count: 4097) }),
            ("a rank too few", { $0.ranks = [] }), ("a record too few", { $0.records = [] }),
            ("a key too few", { $0.keys = [] }), ("another item's key", { $0.keys[0] = CommitCall.item("other").key }),
            ("an item that is cut", { $0.records[0].removeLast($0.records[0].count - $0.keys[0].count - 5) }),
        ]
        for (name, change) in changes {
            var call = whole
            change(&call.commit)
            expectRefused(call, "is not its record and its rank", name)
        }
        for declared: [UInt8] in [[9], Array("{\"fields\":[]}".utf8)] {
            var call = whole
            call.commit.declarations = declared
            expectRefused(call, "what the commit declares is not a record", "\(declared)")
        }
        #expect(try head(store) == before)
        #expect(try whole.run(owner) == 0)
    }

    @Test("what every kind of commit sends is taken: fields of all kinds, ranks, removals, long keys, none at all")
    func usual() throws {
        let store = try filled("usual")
        let long = String(repeating: "k", count: 300)
        for key in [
            long, "é", "6F9619FF-8B86-D011-B42D-00C04FC964FF", String(repeating: "k", count: 127),
            String(repeating: "k", count: 128), "\u{1}",
        ] {
            try store.createItem(ItemFields(itemKey: key, custom: ["list": .array([.integer(1), .null])]))
            try store.commit()
            try store.moveItem(from: store.count - 1, to: 0)
            try store.item(forKey: key)?.setValue(.real(1.5), forField: "size")
            try store.commit()
            try store.item(forKey: key)?.setValue(nil, forField: "list")
            try store.commit()
        }
        try #require(store.item(forKey: long)).remove()
        try store.commit()
        try store.createItem(ItemFields(itemKey: "gone"))
        try #require(store.item(forKey: "gone")).remove()
        try store.commit()
        try store.declare([FieldDeclaration("note", .string)])
        try store.commit()
        #expect(!store.hasUncommittedChanges && store.count == 6)
        #expect(try store.shared.server.collection?.checksDigests == true)
        try expectEqual([store])
    }

    @Test("a picture with other bytes than its digest's is refused")
    func picture() throws {
        let store = try filled("picture")
        let number = try #require(store.shared.server.collection).number
        let digest = SHA256.digest([1, 2, 3])
        for bytes: [UInt8] in [[1, 2, 4], [1, 2], [1, 2, 3, 0], []] {
            let error = #expect(throws: PostgresError.self) {
                try owner.run(
                    "select cubby.put_picture($1, $2, 0, $3, $4)",
                    [.int4(number), .bytes(CommitCall.item("vase").key), .bytes(digest), .bytes(bytes)])
            }
            #expect(error?.kind == .server("CB004"))
        }
        #expect(try owner.run("select count(*) from cubby.picture").number(0, 0) == 0)
    }

    @Test("a host whose commit is refused says so, keeps its changes, and can commit them again")
    func refusal() throws {
        let store = try filled("refused")
        try owner.runScript(
            """
            create function cubby.spoil() returns trigger language plpgsql as $$ begin
                raise exception 'the commit came with other bytes than its host sent' using errcode = 'CB004'; end $$;
            create trigger spoil before insert on cubby.log execute function cubby.spoil()
            """)
        try store.item(forKey: "vase")?.setName("urn")
        let error = #expect(throws: StoreError.self) { try store.commit() }
        try owner.runScript("drop trigger spoil on cubby.log; drop function cubby.spoil()")
        #expect(error?.message.contains("nothing was committed; commit again") == true, "\(error?.message ?? "")")
        #expect(store.hasUncommittedChanges && !store.isReadOnly)
        try store.commit()
        try expectEqual([store])
    }

    // MARK: Hosts

    /// Writes rows that somebody with rights on the tables could write.
    private func spoil(_ store: ItemStore) throws -> Int {
        let number = try #require(store.shared.server.collection).number
        let intact = try CommitCall(store, item: "vase", owner).commit
        func add(_ name: String, _ rank: [UInt8], _ record: [UInt8]) throws {
            try owner.run(
                "insert into cubby.item (collection, key, rank, version, record) values ($1, $2, $3, 1, $4)",
                [.int4(number), .bytes(CommitCall.item(name).key), .bytes(rank), .bytes(record)])
        }
        try add("text", [1], Array("{\"name\": \"by hand\"}".utf8))
        try add("empty", [2], [])
        try add("rankless", [], RecordChecksum.sealed(Array(intact.records[0].dropLast(4))))
        try add("copied", intact.ranks[0], intact.records[0])
        let two = Array(intact.records[0].dropLast(4))
        try add("two", [3], RecordChecksum.sealed(two + two, rank: [3]))
        try owner.run(
            "insert into cubby.item (collection, key, rank, version, record) values ($1, '\\xff00', '\\x04', 1, '\\x00')",
            [.int4(number)])
        return 6
    }

    @Test("items that are garbage are left out with a notice that names them; the host works on, as do its peers")
    func garbageItems() throws {
        let desk = try filled("garbage-items")
        let count = try spoil(desk)
        let address = try desk.shared.address
        let late = try ItemStore.open(SharedPersistence(address, hostName: "late"))
        let notices = late.loadReport.notices
        #expect(notices.count == count)
        for name in ["text", "empty", "rankless", "two"] {
            let expected =
                "the item \(name) of the collection garbage-items is damaged on the server (as of revision 1)"
            #expect(notices.contains { $0.hasPrefix(expected) && $0.contains("left out (") }, "\(name): \(notices)")
        }
        #expect(notices.contains { $0.contains("with the bytes ff00 as its key") })
        // One of the two with the same bytes.
        #expect(notices.contains { $0.contains("the item copied of") || $0.contains("the item vase of") })
        #expect(try late.count == 1 && late.item(forKey: "vase")?.name == "vase" && !late.isReadOnly)
        try late.item(forKey: "vase")?.setName("urn")
        try late.createItem(ItemFields(name: "new", itemKey: "text"))
        try late.commit()
        try expectEqual([desk, late])
        #expect(try desk.item(forKey: "text")?.name == "new")
        #expect(try ItemStore.open(SharedPersistence(address, hostName: "later")).loadReport.notices.count == count - 1)
    }

    @Test("of many damaged items ten are named, and the others counted")
    func manyItems() throws {
        let desk = try filled("many-items")
        for number in 0..<13 { try desk.createItem(ItemFields(itemKey: "item \(number)")) }
        try desk.commit()
        try owner.runScript(
            "update cubby.item i set record = '\\x0102' from cubby.collection c where c.id = i.collection and c.name = 'many-items' "
                + "and i.version = 2")
        let late = try ItemStore.open(SharedPersistence(desk.shared.address, hostName: "late"))
        #expect(late.loadReport.notices.count == 11 && late.count == 1)
        #expect(
            late.loadReport.notices.last?.hasPrefix("3 further items of the collection many-items are damaged") == true)
    }

    @Test("garbage in the log and among the items: a host that runs says so once, and goes on")
    func garbageWhileRunning() throws {
        let desk = try filled("garbage-running")
        let address = try desk.shared.address
        let host = try ItemStore.open(SharedPersistence(address, hostName: "host"))
        nonisolated(unsafe) var notices: [String] = []
        try host.shared.onNotice = { notices.append($0) }
        try desk.item(forKey: "vase")?.setName("urn")
        try desk.commit()
        _ = try spoil(desk)
        try owner.runScript(
            "update cubby.log l set record = 'by hand' from cubby.collection c where c.id = l.collection "
                + "and c.name = 'garbage-running' and l.revision = 2")
        for _ in 0..<3 { try host.update() }
        #expect(try host.shared.statistics.newSynchronizations == 1)
        #expect(try host.item(forKey: "vase")?.name == "urn" && host.count == 1 && !host.isReadOnly)
        #expect(
            notices.first?.hasPrefix("revision 2 in the log of the collection garbage-running is damaged, and left out")
                == true)
        #expect(
            notices.count == 7 && notices.contains { $0.contains("the item text of the collection garbage-running") })
        try desk.item(forKey: "vase")?.setName("jar")
        try desk.commit()
        try host.update()
        #expect(try host.item(forKey: "vase")?.name == "jar" && notices.count == 7)
        try expectEqual([desk, host])
    }

    @Test("a row of the log beyond the latest commit is nobody's: it is not read, and the next commit takes its place")
    func beyondTheHead() throws {
        let desk = try filled("beyond")
        let number = try #require(desk.shared.server.collection).number
        let host = try ItemStore.open(SharedPersistence(desk.shared.address, hostName: "host"))
        try owner.runScript(
            """
            insert into cubby.log (collection, revision, seen, host, token, lineage, keys, record)
                values (\(number), 2, 1, gen_random_uuid(), gen_random_uuid(), '', '{}', 'by hand');
            select pg_notify('\(#require(desk.shared.server.collection).channel)', '2')
            """)
        try host.update()
        #expect(host.revision.rawValue == 1 && !host.isReadOnly)
        #expect(try SharedLog(desk.shared.address, schema: .household).next().map(\.revision) == [1])
        try desk.item(forKey: "vase")?.setName("urn")
        try desk.commit()
        try expectEqual([desk, host])
        #expect(try host.item(forKey: "vase")?.name == "urn" && host.shared.statistics.newSynchronizations == 0)
    }

    @Test("commits that wait are sent, although the log and items are damaged meanwhile", arguments: [false, true])
    func queue(restarts: Bool) throws {
        let name = "garbage-queue-\(restarts)"
        let link = try CutLink()
        let desk = try filled(name)
        var laptop = try link.open(name)
        try laptop.saveChanges()
        try link.goAway(laptop)
        try laptop.item(forKey: "vase")?.setName("mine")
        try laptop.createItem(ItemFields(name: "new", itemKey: "new"))
        try laptop.commit()
        try desk.item(forKey: "vase")?.setValueInDollars(99)
        try desk.commit()
        _ = try spoil(desk)
        try owner.runScript(
            "update cubby.log l set record = '' from cubby.collection c where c.id = l.collection and c.name = '\(name)' "
                + "and l.revision = 2")
        if restarts { laptop = try link.open(name) }
        link.proxy.cut(after: nil)
        for _ in 0..<3 { try laptop.update() }
        #expect(laptop.waitingCommits == 0 && laptop.conflicts.isEmpty)
        #expect(try laptop.shared.statistics.newSynchronizations == 1)
        #expect(try laptop.item(forKey: "vase")?.name == "mine" && laptop.item(forKey: "new")?.name == "new")
        #expect(try laptop.item(forKey: "vase")?.value(forField: "valueInDollars") == .integer(99))
        try expectEqual([laptop, desk])
    }

    @Test("an item that was left out and is restored by hand is there at the next start, with a copy, too")
    func restored() throws {
        let link = try CutLink()
        let desk = try filled("restored")
        try desk.createItem(ItemFields(name: "jar", itemKey: "jar"))
        try desk.commit()
        let intact = try CommitCall(desk, item: "jar", owner).commit.records[0]
        let number = try #require(desk.shared.server.collection).number
        func write(_ record: [UInt8]) throws {
            try owner.run(
                "update cubby.item set record = $1 where collection = $2 and version = 2",
                [.bytes(record), .int4(number)])
        }
        try write([1, 2, 3])
        let laptop = try link.open("restored")
        #expect(laptop.count == 1 && laptop.loadReport.notices.count == 1)
        try laptop.saveChanges()
        // The copy serves without the server.
        link.proxy.cut(after: 0)
        #expect(try link.open("restored").count == 1)
        link.proxy.cut(after: nil)
        #expect(try link.open("restored").loadReport.notices.count == 1)
        try write(intact)
        let whole = try link.open("restored")
        #expect(whole.count == 2 && whole.loadReport.notices.isEmpty)
        try whole.saveChanges()
        #expect(try link.open("restored").loadReport.archivedItems == 2)
        try expectEqual([desk, whole])
    }
}
