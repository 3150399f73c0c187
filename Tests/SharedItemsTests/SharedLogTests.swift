import Files
import Foundation
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "The log of a shared collection, followed", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedLogTests {
    private let cluster: PostgresServer

    init() throws { cluster = try .ofSuite }

    private func line(_ commit: SharedLog.Commit) throws -> NSDictionary {
        try #require(JSONSerialization.jsonObject(with: Data(commit.line)) as? NSDictionary)
    }

    @Test("each commit comes once, in order, with all of its changes")
    func commits() throws {
        let address = try cluster.newCollection("follow")
        let log = try SharedLog(address, schema: .household)
        #expect(try log.next().isEmpty)
        let store = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        try store.createItem(ItemFields(name: "vase", itemKey: "k", custom: ["height": .integer(3)]))
        try store.createItem(ItemFields(name: "urn", itemKey: "l"))
        try store.commit()
        try store.item(forKey: "k")?.setName("jar")
        try store.item(forKey: "k")?.setValue(nil, forField: "height")
        try store.moveItem(from: 1, to: 0)
        try store.commit()
        try store.removeItem(#require(store.item(forKey: "l")))
        try store.commit()

        let commits = try log.next()
        #expect(commits.map(\.revision) == [1, 2, 3])
        #expect(try log.next().isEmpty)
        let lines = try commits.map(line)
        #expect(lines.allSatisfy { $0["host"] as? String == "desk" })
        func changes(_ place: Int) throws -> [NSDictionary] { try #require(lines[place]["changes"] as? [NSDictionary]) }
        let first = try changes(0)
        #expect(first.map { $0["change"] as? String } == ["insert", "insert"])
        #expect(first.map { $0["itemKey"] as? String } == ["k", "l"])
        #expect((first[0]["fields"] as? NSDictionary)?["height"] as? Int == 3)
        let ranks = first.compactMap { $0["rank"] as? String }
        #expect(ranks == ranks.sorted() && Set(ranks).count == 2)
        let second = try changes(1)
        #expect(Set(second.compactMap { $0["change"] as? String }) == ["set", "unset", "move"])
        let move = try #require(second.first { $0["change"] as? String == "move" })
        #expect(try #require(move["rank"] as? String) < ranks[0])
        #expect(try changes(2) == [["change": "remove", "itemKey": "l"]])
    }

    @Test("values that JSON lacks are carried exactly, on one line")
    func values() throws {
        let address = try cluster.newCollection("exact")
        let store = try ItemStore.open(SharedPersistence(address, hostName: "desk\n\u{1}"))
        let values: PropertyListFields = [
            "data": .data([0, 255]), "date": .date(PropertyListDate(secondsSinceReferenceDate: 0.25)),
            "nan": .real(.nan),
            "inf": .real(-.infinity),
            "zero": .string("a\0b\nc"), "nested": .array([.fields(["$date": .string("no date")]), .null]),
        ]
        try store.createItem(ItemFields(name: "vase", itemKey: "k", custom: values))
        try store.commit()
        let commit = try #require(try SharedLog(address, schema: .household).next().first)
        let bytes = try commit.line
        #expect(bytes.filter { $0 == 0x0A }.count == 1 && bytes.last == 0x0A)
        let fields = try #require(
            ((try line(commit)["changes"] as? [NSDictionary])?.first?["fields"]) as? [String: Any])
        // The reader of lossless JSON gives the same values.
        let json = try JSONSerialization.data(withJSONObject: fields)
        let value = try json.withUnsafeBytes { try BinaryPropertyListReader(json: $0).value() }
        let read = try #require(value.fields)
        for (name, value) in values { #expect(read[name] == value, "\(name)") }
    }

    @Test("a reader goes on after a revision, and waits for what comes")
    func resumed() throws {
        let address = try cluster.newCollection("resumed")
        let store = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        for number in 0..<5 {
            try store.createItem(ItemFields(name: "\(number)"))
            try store.commit()
        }
        let log = try SharedLog(address, after: 3, schema: .household)
        #expect(try log.next().map(\.revision) == [4, 5])
        try store.createItem(ItemFields(name: "late"))
        try store.commit()
        // The notification is there: this does not wait.
        try log.wait(seconds: 3600)
        #expect(try log.next().map(\.revision) == [6])
        // A lost connection is made anew.
        try cluster.connect().runScript(
            "select pg_terminate_backend(pid) from pg_stat_activity where query like '%to_char(l.at%' and pid <> pg_backend_pid()"
        )
        try store.update()
        try store.createItem(ItemFields(name: "later"))
        try store.commit()
        var taken: [UInt64] = []
        for _ in 0..<3 where taken.isEmpty {
            do throws(SharedError) { taken = try log.next().map(\.revision) } catch {
                #expect(error.code == .disconnected)
            }
        }
        #expect(taken == [7])
        let ahead = #expect(throws: SharedError.self) { try SharedLog(address, after: 8, schema: .household) }
        #expect(ahead?.code == .unusable)
    }

    @Test("a damaged or missing commit is told with its revision, after those before it")
    func damaged() throws {
        let address = try cluster.newCollection("holes")
        let store = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        for number in 0..<3 {
            try store.createItem(ItemFields(name: "\(number)"))
            try store.commit()
        }
        try cluster.connect().runScript(
            "update cubby.log l set record = '\\x00112233445566778899' from cubby.collection c "
                + "where c.id = l.collection and c.name = 'holes' and l.revision = 2")
        let log = try SharedLog(address, schema: .household)
        #expect(try log.next().map(\.revision) == [1])
        let error = #expect(throws: SharedError.self) { try log.next() }
        #expect(error?.message.contains("revision 2 of the collection's log is damaged") == true)
        #expect(try SharedLog(address, after: 2, schema: .household).next().map(\.revision) == [3])
        try cluster.connect().runScript(
            "update cubby.collection set floor = 2 where name = 'holes'; delete from cubby.log l using cubby.collection c "
                + "where c.id = l.collection and c.name = 'holes' and l.revision <= 2")
        #expect(try SharedLog(address, schema: .household).next().map(\.revision) == [3])
        let gone = #expect(throws: SharedError.self) { try SharedLog(address, after: 1, schema: .household) }
        #expect(gone?.message.contains("the log begins after revision 2") == true)
        // The last commit is missing: nothing that comes later would say so.
        let last = try SharedLog(address, schema: .household)
        try cluster.connect().runScript(
            "delete from cubby.log l using cubby.collection c where c.id = l.collection and c.name = 'holes'")
        let missing = #expect(throws: SharedError.self) { try last.next() }
        #expect(missing?.message.contains("revision 3 is missing") == true)
    }

    /// What becomes of a collection of three commits that is followed to the last one.
    enum Parting: String, CaseIterable {
        /// As on a standby without the last two commits, on which others were made.
        case otherCommits
        /// As on such a standby.
        case fewerCommits
        case otherEpoch, gone, shortened

        func sql(_ name: String) -> String {
            let back = """
                delete from cubby.log l using cubby.collection c where c.id = l.collection and c.name = '\(name)' and l.revision > 1;
                update cubby.collection c set head = 1, lineage = l.lineage
                    from cubby.log l where l.collection = c.id and c.name = '\(name)';
                """
            let commit = """
                select cubby.commit(id, epoch, head, gen_random_uuid(), gen_random_uuid(), '{}', '{}', '{}', '{}', '{}',
                        '\\x\(CommitCall.nothing.hexadecimal)')
                    from cubby.collection where name = '\(name)';
                """
            return switch self {
            case .otherCommits: back + commit + commit + commit
            case .fewerCommits: back
            case .otherEpoch: "update cubby.collection set epoch = gen_random_uuid() where name = '\(name)'"
            case .gone:
                ["item", "log", "host"].map {
                    "delete from cubby.\($0) p using cubby.collection c where c.id = p.collection and c.name = '\(name)';"
                }.joined() + "delete from cubby.collection where name = '\(name)'"
            case .shortened: "update cubby.collection set floor = 4, head = 5 where name = '\(name)'"
            }
        }

        var message: String {
            switch self {
            case .otherCommits, .fewerCommits, .otherEpoch:
                "another history than the one that was followed to revision 3"
            case .gone: "there is no collection"
            case .shortened: "the log begins after revision 4"
            }
        }
    }

    @Test("a history that parted from the one that was followed ends it", arguments: Parting.allCases, [false, true])
    func parted(_ parting: Parting, reconnects: Bool) throws {
        let name = "parted-\(parting)-\(reconnects)"
        let address = try cluster.newCollection(name)
        let store = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        for number in 0..<3 {
            try store.createItem(ItemFields(name: "\(number)"))
            try store.commit()
        }
        let log = try SharedLog(address, after: reconnects ? 2 : nil, schema: .household)
        // One that has the last commit by its number alone.
        let resumed = try SharedLog(address, after: 3, schema: .household)
        #expect(try log.next().last?.revision == 3)
        let owner = try cluster.connect()
        try owner.runScript(parting.sql(name))
        for log in [log, resumed] {
            if reconnects { log.disconnect() }
            for _ in 0..<2 {
                let error = #expect(throws: SharedError.self) { try log.next() }
                #expect(error?.code == .unusable && error?.message.contains(parting.message) == true, "\(error as Any)")
            }
            #expect(log.revision == 3)
        }
    }

    @Test("what is there at the start is all that is taken, if that is wanted")
    func untilHead() throws {
        let address = try cluster.newCollection("head")
        let store = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        func commit() throws {
            try store.createItem()
            try store.commit()
        }
        for _ in 0..<3 { try commit() }
        let log = try SharedLog(address, schema: .household)
        let end = log.head
        try commit()
        #expect(try log.next(through: end).map(\.revision) == [1, 2, 3] && log.head == 4)
        #expect(try log.next(through: end).isEmpty)
        // Somebody who commits all the time does not keep it from ending.
        let follower = LogFollower(
            address, schema: .household, endsAtHead: true, say: { Issue.record("\($0)") }, pause: { _ in })
        var taken: [UInt64] = []
        try follower.run { (commits) throws(SharedError) in
            taken += commits.map(\.revision)
            #expect(throws: Never.self) { try commit() }
            return true
        }
        #expect(taken == [1, 2, 3, 4])
        let empty = try cluster.newCollection("head-2")
        var calls = 0
        try LogFollower(empty, schema: .household, endsAtHead: true, say: { _ in }, pause: { _ in })
            .run { (commits) throws(SharedError) in
                calls += commits.isEmpty ? 1 : 100
                return true
            }
        #expect(calls == 1)
    }

    @Test("a server that does not answer is asked again, also before it was ever reached")
    func retries() throws {
        let address = try cluster.newCollection("retries")
        let store = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        try store.createItem(ItemFields(name: "1"))
        try store.commit()
        cluster.stop()
        defer { try? cluster.start() }
        var (said, pauses, taken): ([String], [Int], [UInt64]) = ([], [], [])
        let once = LogFollower(
            address, schema: .household, endsAtHead: true, say: { said.append($0) }, pause: { pauses.append($0) })
        let error = #expect(throws: SharedError.self) { try once.run { (_) throws(SharedError) in true } }
        #expect(error?.code == .disconnected && said.isEmpty && pauses.isEmpty)
        let follower = LogFollower(
            address, schema: .household, say: { said.append($0) },
            pause: { seconds in
                pauses.append(seconds)
                if pauses.count == 7 || pauses.count == 8 { #expect(throws: Never.self) { try cluster.start() } }
            })
        try follower.run { (commits) throws(SharedError) in
            taken += commits.map(\.revision)
            // It breaks once more.
            if taken == [1], commits.count == 1 { cluster.stop() }
            return taken.count < 2 && (commits.count == 1 || pauses.count < 8)
        }
        #expect(taken == [1] && pauses == [1, 2, 4, 8, 16, 30, 30, 1])
        #expect(
            said.count == 4 && said[0].hasSuffix("; trying again") && said[1] == "the server answers again", "\(said)")
        #expect(said.last == "the server answers again")
    }
}
