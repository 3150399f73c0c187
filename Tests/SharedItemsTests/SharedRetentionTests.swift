import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "What the log of a shared collection keeps", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedRetentionTests {
    private let link: CutLink
    private let owner: PostgresConnection

    init() throws {
        link = try CutLink()
        owner = try link.cluster.connect()
    }

    /// A desk with commits.
    private func desk(_ collection: String, commits: Int) throws -> (desk: ItemStore, address: SharedAddress) {
        let address = try link.cluster.newCollection(collection)
        let desk = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        try desk.createItem(ItemFields(name: "vase", itemKey: "k"))
        try desk.commit()
        try commit(desk, commits - 1)
        return (desk, address)
    }

    private func commit(_ store: ItemStore, _ count: Int) throws {
        for _ in 0..<count {
            try store.item(forKey: "k")?.increment("valueInDollars")
            try store.commit()
        }
    }

    /// Has the commits up to a revision made days ago.
    private func age(_ collection: String, to revision: Int, days: Int) throws {
        try owner.runScript(
            "update cubby.log l set at = at - interval '\(days) days' from cubby.collection c "
                + "where c.id = l.collection and c.name = '\(collection)' and l.revision <= \(revision)")
    }

    private func revisions(_ collection: String) throws -> [Int64] {
        let rows = try owner.run(
            "select l.revision from cubby.log l join cubby.collection c on c.id = l.collection where c.name = $1 "
                + "order by l.revision", [.text(collection)])
        return try (0..<rows.rowCount).map { try rows.number($0, 0) }
    }

    @Test("commits of some days, or the last ones, are kept, and those of the last day in any case")
    func policies() throws {
        let (store, address) = try desk("policies", commits: 10)
        let other = try desk("untouched", commits: 3).address
        #expect(try SharedRetention.trim(address).retention == .all)
        // All of them are of today.
        var log = try SharedRetention.trim(address, keeping: .commits(3))
        #expect(log.floor == 0 && log.head == 10 && log.commits == 10)
        try age("policies", to: 5, days: 2)
        log = try SharedRetention.trim(address)
        #expect(log.floor == 5 && log.retention == .commits(3))
        // The row of the last removed one has its lineage.
        #expect(try revisions("policies") == [5, 6, 7, 8, 9, 10])
        try age("policies", to: 8, days: 20)
        #expect(try SharedRetention.trim(address, keeping: .days(21)).floor == 5)
        #expect(try SharedRetention.trim(address, keeping: .days(19)).floor == 8)
        try age("policies", to: 10, days: 50)
        // The last commit stays.
        log = try SharedRetention.trim(address, keeping: .commits(1))
        #expect(log.floor == 9 && log.commits == 1)
        #expect(try revisions("policies") == [9, 10])
        #expect(try SharedRetention.trim(address, keeping: .days(1)).floor == 9)
        // The items are all there, for whoever comes, and for who has them.
        try expectEqual([store])
        #expect(try revisions("untouched") == [1, 2, 3])
        #expect(try SharedRetention.trim(other).retention == .all)
        let error = #expect(throws: SharedError.self) { try SharedRetention.trim(link.cluster.address("nowhere")) }
        #expect(error?.message.contains("there is no collection") == true)
    }

    @Test("it goes in steps, a younger commit among older ones stays, and what comes after it")
    func steps() throws {
        let (store, address) = try desk("steps", commits: 1)
        let number = try #require(store.shared.server.collection).number
        try owner.runScript(
            """
            insert into cubby.log (collection, revision, seen, host, token, lineage, keys, record, at)
                select \(number), i, i - 1, gen_random_uuid(), gen_random_uuid(), '', '{}', '',
                    now() - case when i = 2800 then interval '1 hour' else interval '9 days' end from generate_series(2, 3000) i;
            update cubby.collection set head = 3000 where id = \(number)
            """)
        try age("steps", to: 1, days: 9)
        var removed: [Int] = []
        let log = try SharedRetention.trim(address, keeping: .days(5)) { removed.append($0) }
        #expect(removed == [1000, 1000, 799] && log.floor == 2799)
        #expect(try revisions("steps") == Array(2799...3000))
    }

    @Test("hosts remove what need not be kept as they commit")
    func byHosts() throws {
        let (store, address) = try desk("hosts", commits: 62)
        _ = try SharedRetention.trim(address, keeping: .commits(10))
        try age("hosts", to: 62, days: 3)
        try commit(store, 1)
        #expect(try revisions("hosts").first == 1)
        try commit(store, 1)
        #expect(try revisions("hosts") == Array(54...64))
        let late = try ItemStore.open(SharedPersistence(address, hostName: "late"))
        try commit(late, 2)
        try expectEqual([store, late])
        #expect(try store.item(forKey: "k")?.valueInDollars == 65)
    }

    @Test(
        "a host that was away for longer fetches all items anew, and keeps its queue; one at the beginning goes on",
        arguments: [false, true], [false, true])
    func away(restarts: Bool, isAtBeginning: Bool) throws {
        let collection = "away-\(restarts)-\(isAtBeginning)"
        let (desk, address) = try desk(collection, commits: 2)
        var laptop = try link.open(collection)
        try laptop.saveChanges()
        try link.goAway(laptop)
        try laptop.item(forKey: "k")?.increment("valueInDollars", by: 100)
        try laptop.commit()
        try laptop.createItem(ItemFields(name: "mine", itemKey: "mine"))
        try laptop.commit()
        try laptop.item(forKey: "k")?.setName("mine")
        try laptop.commit()
        try desk.item(forKey: "k")?.setName("theirs")
        try commit(desk, 4)
        try age(collection, to: 6, days: 3)
        let log = try SharedRetention.trim(address, keeping: .commits(isAtBeginning ? 4 : 2))
        #expect(log.floor == (isAtBeginning ? 2 : 4))
        if restarts { laptop = try link.open(collection) }
        #expect(laptop.waitingCommits == 3)
        link.proxy.cut(after: nil)
        try laptop.update()
        try laptop.update()
        #expect(try laptop.shared.statistics.newSynchronizations == (isAtBeginning ? 0 : 1))
        #expect(laptop.waitingCommits == 0 && laptop.conflicts.map(\.changes.first?.field) == ["name"])
        try expectEqual([laptop, desk])
        #expect(try desk.item(forKey: "k")?.valueInDollars == 105 && desk.item(forKey: "mine") != nil)
    }

    @Test("a start without a queue says that the log does not reach back, and one at its beginning does not")
    func start() throws {
        let (desk, address) = try desk("start", commits: 2)
        try link.open("start").saveChanges()
        try commit(desk, 2)
        try age("start", to: 4, days: 3)
        #expect(try SharedRetention.trim(address, keeping: .commits(2)).floor == 2)
        var laptop = try link.open("start")
        #expect(laptop.loadReport.notices.isEmpty && laptop.revision == desk.revision)
        #expect(try SharedRetention.trim(address, keeping: .commits(1)).floor == 3)
        // Its copy is of revision 2.
        laptop = try link.open("start")
        #expect(laptop.loadReport.replayedRecords == 2, "the commits were added to the copy")
        try commit(desk, 4)
        try age("start", to: 8, days: 3)
        #expect(try SharedRetention.trim(address).floor == 7)
        laptop = try link.open("start")
        #expect(
            laptop.loadReport.notices.contains { $0.contains("does not reach back") }, "\(laptop.loadReport.notices)")
        try expectEqual([laptop, desk])
    }

    @Test("tables of an older program keep all commits, and say what comes before")
    func older() throws {
        let (_, address) = try desk("older-tables", commits: 1)
        try owner.runScript("alter table cubby.collection drop column keep_days, drop column keep_commits")
        let error = #expect(throws: SharedError.self) { try SharedRetention.trim(address, keeping: .days(9)) }
        #expect(error?.code == .unusable && error?.message.contains("cubby shared migrate") == true)
        #expect(
            try SharedStatus(address).lines.contains { $0.contains("1 commit after revision 0, all commits are kept") })
        try SharedSchema.migrate(address)
        #expect(try SharedRetention.trim(address, keeping: .days(9)).retention == .days(9))
    }
}
