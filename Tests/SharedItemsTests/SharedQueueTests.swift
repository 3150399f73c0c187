import Files
import Foundation
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "Commits that wait for the server", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedQueueTests {
    private let link: CutLink

    init() throws { link = try CutLink() }

    /// A laptop with items a, b and c, and a desk whose link cannot be cut.
    private func stores(
        _ collection: String, using layer: any FileLayer = PosixFileLayer()
    ) throws -> (laptop: ItemStore, desk: ItemStore) {
        let address = try link.cluster.newCollection(collection)
        let laptop = try link.open(collection, using: layer)
        for key in ["a", "b", "c"] {
            try laptop.createItem(ItemFields(name: key.uppercased(), valueInDollars: 1, itemKey: key))
        }
        try laptop.commit()
        try laptop.saveChanges()
        return (laptop, try ItemStore.open(SharedPersistence(address, hostName: "desk")))
    }

    private func set(_ store: ItemStore, _ key: String, _ field: String, _ value: PropertyListValue?) throws {
        try #require(store.item(forKey: key)).setValue(value, forField: field)
        try store.commit()
    }

    @Test(
        "commits are kept while the server is away, and sent when it is back, oldest first", arguments: [false, true])
    func waits(restarts: Bool) throws {
        let collection = "waits-\(restarts)"
        var (laptop, desk) = try stores(collection)
        try link.goAway(laptop)
        try set(laptop, "a", "name", .string("mine"))
        try laptop.createItem(ItemFields(name: "D", itemKey: "d"))
        try laptop.commit()
        try set(laptop, "d", "room", .string("Hall"))
        try laptop.moveItem(from: 3, to: 1)
        try laptop.commit()
        try #require(laptop.item(forKey: "c")).remove()
        try laptop.commit()
        try laptop.transaction {
            try #require(laptop.item(forKey: "b")).setValueInDollars(7)
            try laptop.createItem(ItemFields(itemKey: "gone"))
        }
        try #require(laptop.item(forKey: "gone")).remove()
        try laptop.commit()
        #expect(try laptop.undo())
        #expect(laptop.waitingCommits == 8)
        // Meanwhile, elsewhere: other fields and other items.
        try set(desk, "a", "room", .string("Attic"))
        try desk.createItem(ItemFields(itemKey: "e"))
        try desk.commit()
        let before = try laptop.contents
        if restarts {
            laptop = try link.open(collection)
            #expect(try laptop.contents == before)
            #expect(laptop.waitingCommits == 8)
            #expect(laptop.loadReport.notices.contains { $0.contains("8 commits of this host wait for") })
            try set(laptop, "gone", "name", .string("not gone"))
        }
        try link.comeBack(laptop)
        try expectEqual([laptop, desk])
        #expect(try laptop.item(forKey: "a")?.name == "mine")
        #expect(try laptop.item(forKey: "a")?.value(forField: "room") == .string("Attic"))
        #expect(laptop.item(forKey: "c") == nil && laptop.item(forKey: "gone") != nil)
        #expect(laptop.conflicts.isEmpty)
        #expect(try desk.contents.map { $0["itemKey"] } == ["a", "d", "b", "gone", "e"].map { .string($0) })
        #expect(try !FileManager.default.fileExists(atPath: laptop.shared.closedPaths[1]))
        if !restarts {
            // The steps are still the laptop's own.
            #expect(try laptop.undo())
            try expectEqual([laptop, desk])
        }
    }

    @Test(
        "the same field changed elsewhere: the commit and what builds on it are to be settled",
        arguments: [false, true])
    func conflicts(restarts: Bool) throws {
        let collection = "conflicts-\(restarts)"
        var (laptop, desk) = try stores(collection)
        try link.goAway(laptop)
        try laptop.transaction {
            try #require(laptop.item(forKey: "a")).setName("mine")
            try #require(laptop.item(forKey: "b")).setValueInDollars(5)
        }
        try set(laptop, "b", "valueInDollars", .integer(6))
        try set(laptop, "c", "name", .string("fine"))
        try set(desk, "a", "name", .string("theirs"))
        try link.comeBack(laptop)
        if restarts { laptop = try link.open(collection) }
        try expectEqual([laptop, desk])
        #expect(try laptop.item(forKey: "a")?.name == "theirs")
        #expect(try laptop.item(forKey: "b")?.valueInDollars == 1)
        #expect(try laptop.item(forKey: "c")?.name == "fine")
        let conflicts = laptop.conflicts
        #expect(conflicts.count == 2 && conflicts[0].host == "desk")
        let first = try #require(conflicts.first?.changes.first)
        #expect(first.field == "name" && first.itemKey == "a" && first.isConflicting)
        #expect(first.mine == .string("mine") && first.theirs == .string("theirs") && first.base == .string("A"))
        let lines = conflicts[0].description.split(separator: "\n")
        #expect(lines[2] == "  a mine  name            \"mine\"  \"theirs\"  \"A\"")
        #expect(lines[3] == "  b B     valueInDollars  5       1         1")
        try laptop.keepMine(conflicts[0])
        #expect(laptop.conflicts.count == 1)
        #expect(throws: StoreError.self) { try laptop.keepTheirs(conflicts[0]) }
        #expect(try laptop.item(forKey: "b")?.valueInDollars == 5)
        try laptop.resolve(conflicts[1], ["b": ["valueInDollars": .integer(11)]])
        #expect(laptop.conflicts.isEmpty)
        try expectEqual([laptop, desk])
        #expect(try desk.item(forKey: "a")?.name == "mine")
        #expect(try desk.item(forKey: "b")?.valueInDollars == 11)
        #expect(try laptop.undo())
    }

    @Test("a host that ends while it keeps conflicts, at whatever step, leaves none waiting that builds on them")
    func endsAmongConflicts() throws {
        var failAt = 0
        var failed: String?
        repeat {
            failAt += 1
            let (collection, layer) = ("ends-\(failAt)", FaultyFileLayer())
            var (laptop, desk) = try stores(collection, using: layer)
            try link.goAway(laptop)
            for value in 2...6 { try set(laptop, "a", "valueInDollars", .integer(Int64(value))) }
            try set(laptop, "c", "name", .string("fine"))
            try set(desk, "a", "valueInDollars", .integer(100))
            link.proxy.cut(after: nil)
            layer.arm(failAt: failAt, keepsFailing: true)
            try? laptop.update()
            failed = layer.failedCall
            laptop = try link.open(collection)
            try link.comeBack(laptop)
            try expectEqual([laptop, desk])
            #expect(try desk.item(forKey: "a")?.valueInDollars == 100, "step \(failAt), \(failed ?? "none")")
            #expect(try desk.item(forKey: "c")?.name == "fine")
            #expect(laptop.conflicts.map { $0.changes[0].mine } == (2...6).map { .integer($0) })
        } while failed != nil
        #expect(failAt > 5)
    }

    @Test("a serializable transaction stays one: what it read has to be as it was", arguments: [false, true])
    func reads(restarts: Bool) throws {
        let collection = "reads-\(restarts)"
        var (laptop, desk) = try stores(collection)
        try link.goAway(laptop)
        // The first depends on an item that it does not change.
        for (read, changed) in [("a", "c"), ("b", "b")] {
            try laptop.transaction {
                let value = try #require(laptop.item(forKey: read)).valueInDollars
                try #require(laptop.item(forKey: changed)).setValue(.integer(value), forField: "from \(read)")
            }
        }
        try laptop.transaction(isolation: .snapshot, retries: 0) {
            let value = try #require(laptop.item(forKey: "a")).valueInDollars
            try #require(laptop.item(forKey: "c")).setValue(.integer(value), forField: "snapshot")
        }
        try laptop.transaction {
            let count = Int64(try laptop.query().count())
            try #require(laptop.item(forKey: "c")).setValue(.integer(count), forField: "count")
        }
        if restarts { laptop = try link.open(collection) }
        try set(desk, "a", "valueInDollars", .integer(9))
        try link.comeBack(laptop)
        try expectEqual([laptop, desk])
        let item = try #require(desk.item(forKey: "c"))
        #expect(try item.value(forField: "from a") == nil && item.value(forField: "count") == nil)
        #expect(try item.value(forField: "snapshot") == .integer(1))
        #expect(try desk.item(forKey: "b")?.value(forField: "from b") == .integer(1))
        #expect(laptop.conflicts.map(\.host) == ["desk", "desk"])
    }

    @Test("items that came or left on both sides")
    func wholeItems() throws {
        let (laptop, desk) = try stores("whole")
        try link.goAway(laptop)
        try set(laptop, "a", "name", .string("mine"))
        try #require(laptop.item(forKey: "b")).remove()
        try laptop.commit()
        try laptop.createItem(ItemFields(name: "my new", itemKey: "n"))
        try laptop.commit()
        try #require(laptop.item(forKey: "c")).remove()
        try laptop.commit()
        try #require(desk.item(forKey: "a")).remove()
        try set(desk, "b", "name", .string("theirs"))
        try desk.createItem(ItemFields(name: "their new", itemKey: "n"))
        // Both remove it: there is nothing to settle.
        try #require(desk.item(forKey: "c")).remove()
        try desk.commit()
        try link.comeBack(laptop)
        try expectEqual([laptop, desk])
        #expect(try laptop.contents.map { $0["itemKey"] } == [.string("b"), .string("n")])
        let conflicts = laptop.conflicts
        #expect(conflicts.map(\.changes[0].kind) == [.update, .remove, .insert])
        for conflict in conflicts { try laptop.keepMine(conflict) }
        try expectEqual([laptop, desk])
        #expect(try desk.item(forKey: "a")?.name == "mine")
        #expect(desk.item(forKey: "b") == nil)
        #expect(try desk.item(forKey: "n")?.name == "my new")
    }

    @Test("a commit whose answer was lost waits, too, and happens once")
    func inDoubt() throws {
        let (laptop, desk) = try stores("doubt")
        var settled = 0
        for cut in stride(from: 0, to: 400, by: 9) {
            link.proxy.cut(after: cut, .toHost)
            try set(laptop, "a", "valueInDollars", .integer(Int64(cut)))
            try laptop.createItem(ItemFields(itemKey: "key \(cut)"))
            try laptop.commit()
            if cut % 2 == 0 {
                try desk.update()
                try set(desk, "b", "valueInDollars", .integer(Int64(cut)))
            }
            try link.comeBack(laptop)
            #expect(laptop.conflicts.isEmpty)
            settled = try laptop.shared.statistics.settledInDoubt
        }
        #expect(settled > 0)
        try expectEqual([laptop, desk])
        #expect(laptop.count == 3 + (400 + 8) / 9)
    }

    @Test(
        "what a former process had sent, and the server committed late, is this host's own, and no conflict with itself"
    )
    func committedLate() throws {
        var (laptop, desk) = try stores("late")
        try link.goAway(laptop)
        try set(laptop, "a", "valueInDollars", .integer(2))
        link.proxy.cut(after: nil)
        let shared = try laptop.shared
        try shared.poll()
        try shared.settleDoubts()
        #expect(laptop.waitingCommits == 1)
        // The server comes to it now, and another host is after it.
        let (waiting, columns) = (try #require(shared.queue).waiting, try #require(shared.places.columns))
        let batch = QueuedBatch(waiting, before: [], in: shared.places, columns)
        let sent = SentCommit(
            token: waiting[0].token, seen: laptop.revision.rawValue, reads: .byteArrays([]),
            commit: try batch.encoded()[0])
        let command = try shared.command(sent, #require(shared.server.collection), remoteLimit: 0)
        #expect(try shared.outcome(link.cluster.connect().run(command.sql, command.parameters)).status == 0)
        try desk.update()
        try set(desk, "a", "valueInDollars", .integer(50))
        try shared.poll()
        let taken = try shared.takeCommits(after: laptop.revision)
        #expect(taken.map(\.changes.isEmpty) == [true, false])
        #expect(laptop.waitingCommits == 0)
        laptop = try link.open("late")
        try expectEqual([laptop, desk])
        #expect(laptop.conflicts.isEmpty)
        #expect(try laptop.item(forKey: "a")?.valueInDollars == 50)
    }

    @Test("without the cache, or on another history, what waited is to be settled and not lost")
    func otherHistory() throws {
        var (laptop, desk) = try stores("other")
        try link.goAway(laptop)
        try set(laptop, "a", "name", .string("mine"))
        try laptop.createItem(ItemFields(name: "new", itemKey: "n"))
        try laptop.commit()
        try link.cluster.connect().runScript(
            "update cubby.collection set epoch = gen_random_uuid() where name = 'other'")
        link.proxy.cut(after: nil)
        #expect(throws: StoreError.self) { try laptop.shared.poll() }
        laptop.connectionWasLost()
        #expect(throws: StoreError.self) { try laptop.createItem() }
        #expect(laptop.isReadOnly)
        laptop = try link.open("other")
        #expect(laptop.conflicts.count == 2 && laptop.waitingCommits == 0)
        #expect(try laptop.item(forKey: "a")?.name == "A")
        for conflict in laptop.conflicts { try laptop.keepMine(conflict) }
        desk = try ItemStore.open(SharedPersistence(link.cluster.address("other"), hostName: "desk"))
        try expectEqual([laptop, desk])
        #expect(try desk.item(forKey: "a")?.name == "mine" && desk.count == 4)
    }

    @Test("without the option the items are read-only, and what waits is sent all the same")
    func optionGone() throws {
        var (laptop, desk) = try stores("gone")
        try link.goAway(laptop)
        try set(laptop, "a", "name", .string("mine"))
        laptop = try link.open("gone", keepsCommits: false)
        #expect(laptop.isReadOnly && laptop.waitingCommits == 1)
        #expect(try laptop.item(forKey: "a")?.name == "mine")
        try link.comeBack(laptop)
        #expect(!laptop.isReadOnly)
        try expectEqual([laptop, desk])
        #expect(try desk.item(forKey: "a")?.name == "mine")
    }

    @Test(
        "whatever is done on either side, in whatever order, all end with the same items",
        arguments: 1...(getenv("CUBBY_MANY") == nil ? 8 : 200) as ClosedRange<UInt64>)
    func model(seed: UInt64) throws {
        let collection = "model-\(seed)"
        var (laptop, desk) = try stores(collection)
        var random = TestGenerator(seed: seed)
        var isAway = false
        var made = 0
        func change(_ store: ItemStore, _ name: String) throws {
            for _ in 0..<(1 + random.number(3)) {
                let count = store.count
                switch random.number(6) {
                case 0:
                    made += 1
                    let key = random.number(5) == 0 ? "both \(random.number(4))" : "\(name) \(made)"
                    if store.item(forKey: key) == nil { try store.createItem(ItemFields(name: name, itemKey: key)) }
                case 1 where count > 2: try #require(store[random.number(count)]).remove()
                case 2 where count > 1: try store.moveItem(from: random.number(count), to: random.number(count))
                case 3 where count > 0:
                    let item = try #require(store[random.number(count)])
                    try item.setValue(.integer(Int64(random.number(9))), forField: ["room", "shelf"][random.number(2)])
                default:
                    if count > 0 { try #require(store[random.number(count)]).setName("\(name) \(random.number(3))") }
                }
            }
            // Live, the other may be ahead.
            do { try store.commit() } catch {
                guard error.code == .conflict else { throw error }
            }
        }
        for step in 0..<60 {
            switch random.number(10) {
            case 0:
                if isAway { try link.comeBack(laptop) } else { try link.goAway(laptop) }
                isAway.toggle()
            case 1:
                let before = try laptop.contents
                if !isAway { try laptop.update() }
                let known = isAway ? before : try laptop.contents
                if random.number(2) == 0 { try laptop.saveChanges() }
                laptop = try link.open(collection)
                if isAway {
                    let found = try laptop.contents
                    #expect(
                        found == known,
                        "step \(step): \(zip(found, known).filter { $0 != $1 }), \(found.count), \(known.count), \(laptop.loadReport)"
                    )
                }
            case 2: _ = try? laptop.undo()
            case 3...5: try change(desk, "desk")
            default: try change(laptop, "laptop")
            }
            try expectRanked(laptop, "step \(step)")
            if step % 20 == 19, let conflict = laptop.conflicts.first, !isAway {
                switch random.number(2) {
                case 0: try? laptop.keepMine(conflict)
                default: try laptop.keepTheirs(conflict)
                }
            }
        }
        try link.comeBack(laptop)
        for conflict in laptop.conflicts { try laptop.keepTheirs(conflict) }
        try expectEqual([laptop, desk])
    }
}
