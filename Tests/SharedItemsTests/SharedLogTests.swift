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
    }

    @Test("the owner lists and forgets hosts, renames and drops a collection; the other ones stay")
    func owner() throws {
        let address = try cluster.newCollection("owned")
        let other = try cluster.newCollection("other")
        for place in [address, other] {
            let store = try ItemStore.open(SharedPersistence(place, hostName: "desk"))
            try store.createItem(ItemFields(name: "vase"))
            try store.commit()
        }
        #expect(try SharedOwnership.hosts(address).map(\.name) == ["desk"])
        #expect(try SharedOwnership.hosts(address).map(\.commits) == [1])
        #expect(try SharedOwnership.forget("nobody", address) == 0)
        #expect(try SharedOwnership.forget("desk", address) == 1)
        #expect(try SharedOwnership.hosts(address).isEmpty)
        #expect(try SharedLog(address, schema: .household).next().map(\.host) == [""])

        #expect(throws: SharedError.self) { try SharedOwnership.rename(address, to: "other") }
        try SharedOwnership.rename(address, to: "renamed")
        #expect(throws: SharedError.self) { try SharedOwnership.contents(address) }
        let renamed = try cluster.address("renamed")
        #expect(try SharedOwnership.contents(renamed) == .init(items: 1, pictures: 0, commits: 1, hosts: 0))
        try SharedOwnership.drop(renamed)
        #expect(throws: SharedError.self) { try SharedOwnership.contents(renamed) }
        #expect(try SharedOwnership.contents(other) == .init(items: 1, pictures: 0, commits: 1, hosts: 1))
        let rest = try cluster.connect().run(
            "select count(*) from cubby.log l where not exists (select from cubby.collection c where c.id = l.collection)"
        )
        #expect(try rest.number(0, 0) == 0)
    }
}
