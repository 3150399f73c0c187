import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "Equal changes and increments", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedAgreementTests {
    private let link: CutLink

    init() throws { link = try CutLink() }

    /// A laptop whose link can be cut and a desk, with the items a, b and c of $10.
    private func stores(_ collection: String) throws -> (laptop: ItemStore, desk: ItemStore) {
        let address = try link.cluster.newCollection(collection)
        let desk = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        for key in ["a", "b", "c"] {
            try desk.createItem(ItemFields(name: key, valueInDollars: 10, itemKey: key))
        }
        try desk.commit()
        let laptop = try link.open(collection)
        try laptop.saveChanges()
        return (laptop, desk)
    }

    private func value(
        _ store: ItemStore, _ key: String, _ field: String = "valueInDollars"
    ) throws -> PropertyListValue? {
        try #require(store.item(forKey: key)).value(forField: field)
    }

    private func add(_ store: ItemStore, _ key: String, _ amount: Int64) throws {
        let item = try #require(store.item(forKey: key))
        guard case .integer(let number)? = try item.value(forField: "valueInDollars") else { return }
        try item.setValueInDollars(number + amount)
    }

    /// What two hosts do that do not know of each other, and whether the second one is refused.
    enum Pair: String, CaseIterable {
        case counts, transfers, texts, textAndMore, removals

        var isConflict: Bool {
            switch self {
            case .counts, .transfers, .textAndMore: true
            case .texts, .removals: false
            }
        }
    }

    private func change(_ store: ItemStore, _ pair: Pair, isSecond: Bool) throws {
        switch pair {
        case .counts: try add(store, "a", 1)
        case .transfers:
            try add(store, "a", -2)
            try add(store, isSecond ? "c" : "b", 2)
        case .texts: try store.item(forKey: "a")?.setName("Urn")
        case .textAndMore:
            try store.item(forKey: "a")?.setName("Urn")
            if isSecond { try store.item(forKey: "b")?.setName("Urn") }
        case .removals: try store.item(forKey: "a")?.remove()
        }
    }

    @Test(
        "an equal value is a conflict, unless the whole commit is there already and counted nothing",
        arguments: Pair.allCases)
    func queued(pair: Pair) throws {
        let (laptop, desk) = try stores("queued-\(pair)")
        try link.goAway(laptop)
        try change(laptop, pair, isSecond: true)
        try laptop.commit()
        try change(desk, pair, isSecond: false)
        try desk.commit()
        try link.comeBack(laptop)
        #expect(laptop.conflicts.count == (pair.isConflict ? 1 : 0))
        try expectEqual([laptop, desk])
        // The later host has changed nothing.
        #expect(desk.revision.rawValue == 2)
        if pair == .transfers { #expect(try value(desk, "c") == .integer(10) && value(desk, "a") == .integer(8)) }
    }

    @Test("the same while connected", arguments: Pair.allCases.filter { $0 != .removals })
    func connected(pair: Pair) throws {
        let (laptop, desk) = try stores("connected-\(pair)")
        try change(laptop, pair, isSecond: true)
        try change(desk, pair, isSecond: false)
        try desk.commit()
        if pair.isConflict {
            let error = #expect(throws: StoreError.self) { try laptop.commit() }
            #expect(error?.code == .conflict && error?.message.contains("by desk, and to") == true)
            #expect(!laptop.hasUncommittedChanges)
        } else {
            try laptop.commit()
        }
        try expectEqual([laptop, desk])
    }

    @Test("each acknowledged plain +1 counts, as a chunk and as a snapshot", arguments: [false, true])
    func acknowledged(isSnapshot: Bool) throws {
        let (laptop, desk) = try stores("acknowledged-\(isSnapshot)")
        var made: Int64 = 0
        var random = TestGenerator(seed: 5)
        for _ in 0..<200 {
            let store = random.number(2) == 0 ? laptop : desk
            do {
                if isSnapshot {
                    try store.transaction(isolation: .snapshot, retries: 0) {
                        try add(store, "a", 1)
                        // Another host's commit between the read and the commit.
                        if random.number(2) == 0 {
                            let other = store === laptop ? desk : laptop
                            try add(other, "a", 1)
                            if (try? other.commit()) != nil { made += 1 }
                        }
                    }
                } else {
                    try add(store, "a", 1)
                    try store.commit()
                }
                made += 1
            } catch let error as StoreError { #expect(error.code == .conflict) }
        }
        try expectEqual([laptop, desk])
        #expect(try value(desk, "a") == .integer(10 + made))
        #expect(made > 50)
    }

    // MARK: Increments

    @Test("increments of two hosts both count, connected and queued, also after a restart", arguments: [0, 1, 2])
    func increments(way: Int) throws {
        var (laptop, desk) = try stores("increments-\(way)")
        if way > 0 { try link.goAway(laptop) }
        for _ in 0..<3 {
            try laptop.item(forKey: "a")?.increment("valueInDollars", by: 5)
            try laptop.item(forKey: "b")?.increment("count")
            try laptop.item(forKey: "a")?.increment("valueInDollars", by: -1)
            if way > 0 { try laptop.commit() }
        }
        try desk.item(forKey: "a")?.increment("valueInDollars", by: 100)
        try desk.item(forKey: "b")?.increment("count", by: 0.5)
        try desk.commit()
        try desk.item(forKey: "a")?.setValueInDollars(200)
        try desk.commit()
        if way == 2 {
            laptop = try link.open("increments-\(way)")
            #expect(try value(laptop, "a") == .integer(22) && value(laptop, "b", "count") == .integer(3))
        }
        if way == 0 { try laptop.commit() } else { try link.comeBack(laptop) }
        #expect(try value(laptop, "a") == .integer(212))
        #expect(try value(laptop, "b", "count") == .real(3.5))
        #expect(laptop.conflicts.isEmpty)
        try expectEqual([laptop, desk])
        // A host of an older program that reads the log has the results.
        let late = try ItemStore.open(SharedPersistence(laptop.shared.address, hostName: "late"))
        #expect(try value(late, "a") == .integer(212))
        // Each undo takes its own amount back, whatever others have done since.
        try desk.item(forKey: "a")?.increment("valueInDollars", by: 1000)
        try desk.commit()
        try laptop.update()
        if way < 2 {
            #expect(try laptop.undo())
            #expect(try value(laptop, "a") == .integer(way == 0 ? 1200 : 1208))
            #expect(try laptop.redo())
            #expect(try value(laptop, "a") == .integer(1212))
        }
        try expectEqual([laptop, desk])
    }

    @Test("an increment follows no text, no removal, and no assignment that is to be settled")
    func incrementsInConflict() throws {
        let (laptop, desk) = try stores("increments-in-conflict")
        try link.goAway(laptop)
        try laptop.item(forKey: "a")?.increment("room2")
        try laptop.commit()
        try laptop.item(forKey: "b")?.increment("valueInDollars", by: 7)
        try laptop.commit()
        try laptop.item(forKey: "c")?.setValueInDollars(50)
        try laptop.commit()
        try laptop.item(forKey: "c")?.increment("valueInDollars", by: 1)
        try laptop.commit()
        try desk.item(forKey: "a")?.setValue(.string("text"), forField: "room2")
        try #require(desk.item(forKey: "b")).remove()
        try desk.item(forKey: "c")?.setValueInDollars(60)
        try desk.commit()
        try link.comeBack(laptop)
        #expect(laptop.conflicts.count == 4)
        try expectEqual([laptop, desk])
        let last = try #require(laptop.conflicts.last)
        #expect(last.description.contains("+1"))
        try laptop.keepMine(last)
        #expect(try value(laptop, "c") == .integer(61))
        for conflict in laptop.conflicts.dropFirst(2) { try laptop.keepTheirs(conflict) }
        try laptop.keepMine(#require(laptop.conflicts.last))
        #expect(laptop.item(forKey: "b") != nil)
        try expectEqual([laptop, desk])
    }

    @Test("an increment in a commit that is taken back leaves the others")
    func takenBack() throws {
        let (laptop, desk) = try stores("taken-back")
        try link.goAway(laptop)
        try laptop.item(forKey: "a")?.increment("valueInDollars", by: 1)
        try laptop.commit()
        try laptop.item(forKey: "a")?.increment("valueInDollars", by: 20)
        try laptop.item(forKey: "b")?.setName("mine")
        try laptop.commit()
        try laptop.item(forKey: "a")?.increment("valueInDollars", by: 300)
        try laptop.commit()
        try desk.item(forKey: "b")?.setName("theirs")
        try desk.commit()
        try link.comeBack(laptop)
        #expect(laptop.conflicts.count == 1)
        #expect(try value(laptop, "a") == .integer(311))
        try expectEqual([laptop, desk])
        try laptop.keepMine(#require(laptop.conflicts.first))
        #expect(try value(laptop, "a") == .integer(331) && laptop.item(forKey: "b")?.name == "mine")
        try expectEqual([laptop, desk])
    }

    @Test("an increment beyond what is declared, or an integer, is a conflict")
    func limits() throws {
        let (laptop, desk) = try stores("limits")
        var declaration = FieldDeclaration("stock", .integer)
        declaration.most = .integer(10)
        try desk.declare([declaration])
        try desk.item(forKey: "a")?.setValue(.integer(5), forField: "stock")
        try desk.commit()
        try laptop.update()
        try laptop.item(forKey: "a")?.increment("stock", by: 3)
        try desk.item(forKey: "a")?.increment("stock", by: 4)
        try desk.commit()
        let error = #expect(throws: StoreError.self) { try laptop.commit() }
        #expect(error?.code == .conflict)
        #expect(try value(laptop, "a", "stock") == .integer(9) && !laptop.hasUncommittedChanges)
        try expectEqual([laptop, desk])
    }
}
