import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "Increments that wait for the server", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct QueuedIncrementTests {
    private let link: CutLink

    init() throws { link = try CutLink() }

    /// What a number cannot be: more or less than is declared, or than an integer.
    enum Limit: String, CaseIterable {
        case most, least, greatest, smallest

        /// The number that is left five short of the limit.
        var start: Int {
            switch self {
            case .most, .least: 5
            case .greatest: .max - 5
            case .smallest: .min + 5
            }
        }
        var sign: Int { self == .most || self == .greatest ? 1 : -1 }
        var declaration: FieldDeclaration? {
            if self == .greatest || self == .smallest { return nil }
            var declaration = FieldDeclaration("stock", .integer)
            (declaration.least, declaration.most) = (.integer(0), .integer(10))
            return declaration
        }
    }

    /// A laptop and a desk with the items a and b, whose stock is a number.
    private func stores(
        _ collection: String, stock: Int = 5, _ declaration: FieldDeclaration? = nil
    ) throws -> (laptop: ItemStore, desk: ItemStore) {
        let address = try link.cluster.newCollection(collection)
        let desk = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        if let declaration { try desk.declare([declaration]) }
        for key in ["a", "b"] {
            try desk.createItem(ItemFields(name: key, itemKey: key, custom: ["stock": .integer(Int64(stock))]))
        }
        try desk.commit()
        let laptop = try link.open(collection)
        try laptop.saveChanges()
        return (laptop, desk)
    }

    private func stock(_ store: ItemStore, _ key: String) throws -> PropertyListValue? {
        try #require(store.item(forKey: key)).value(forField: "stock")
    }

    private func add(_ store: ItemStore, _ amounts: Int..., to key: String = "a") throws {
        for amount in amounts {
            try #require(store.item(forKey: key)).increment("stock", by: amount)
            try store.commit()
        }
    }

    /// Expects that a host that has taken each commit from the log, the laptop and the items on the server are equal.
    private func expectStock(
        _ stock: Int, _ laptop: ItemStore, _ desk: ItemStore, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try expectEqual([laptop, desk], sourceLocation: sourceLocation)
        #expect(try self.stock(desk, "a") == .integer(Int64(stock)), sourceLocation: sourceLocation)
    }

    @Test(
        "increments whose answer was lost with their host count once, beside those of others", arguments: [false, true])
    func answerLost(restarts: Bool) throws {
        let collection = "answer-\(restarts)"
        var (laptop, desk) = try stores(collection)
        var (sum, settled) = (5, 0)
        for cut in stride(from: 0, to: 6000, by: 120) {
            try link.goAway(laptop)
            try add(laptop, 1, 2)
            try desk.update()
            try add(desk, 100)
            sum += 103
            link.proxy.cut(after: cut, .toHost)
            try? laptop.update()
            laptop.connectionWasLost()
            settled += try laptop.shared.statistics.settledInDoubt
            if restarts { laptop = try link.open(collection) }
            try link.comeBack(laptop)
            settled += try laptop.shared.statistics.settledInDoubt
            #expect(laptop.conflicts.isEmpty)
            try expectStock(sum, laptop, desk)
        }
        #expect(settled > 0)
    }

    @Test(
        "of several that wait only the one that another host made impossible is a conflict; log and items are equal",
        arguments: Limit.allCases, [false, true])
    func impossible(limit: Limit, restarts: Bool) throws {
        let collection = "impossible-\(limit)-\(restarts)"
        var (laptop, desk) = try stores(collection, stock: limit.start, limit.declaration)
        try link.goAway(laptop)
        try add(laptop, 2 * limit.sign, 3 * limit.sign)
        // Its change of another item goes with it.
        try laptop.item(forKey: "b")?.setName("mine")
        try add(laptop, -limit.sign, limit.sign, -limit.sign)
        try add(desk, limit.sign)
        if restarts { laptop = try link.open(collection) }
        #expect(laptop.waitingCommits == 5)
        try link.comeBack(laptop)
        // Of the 5 that are left: 1 there, then 2, not 3, -1 with the name, 1 and -1.
        try expectStock(limit.start + 2 * limit.sign, laptop, desk)
        #expect(try laptop.item(forKey: "b")?.name == "mine")
        let conflict = try #require(laptop.conflicts.first)
        #expect(laptop.conflicts.count == 1 && conflict.host == "desk")
        #expect(conflict.changes.map(\.increment) == [.integer(Int64(3 * limit.sign))])
        // It stays one as long as it cannot be done.
        try add(desk, limit.sign)
        try laptop.update()
        #expect(throws: StoreError.self) { try laptop.keepMine(conflict) }
        #expect(laptop.conflicts.count == 1)
        try add(desk, -limit.sign)
        try laptop.update()
        try laptop.keepMine(conflict)
        #expect(laptop.conflicts.isEmpty)
        try expectStock(limit.start + 5 * limit.sign, laptop, desk)
    }

    @Test("what another host declares meanwhile is a limit, too", arguments: [false, true])
    func declaredMeanwhile(restarts: Bool) throws {
        let collection = "declared-meanwhile-\(restarts)"
        var (laptop, desk) = try stores(collection)
        try link.goAway(laptop)
        try add(laptop, 2, 3, 1)
        try desk.declare([#require(Limit.most.declaration)])
        try desk.commit()
        if restarts { laptop = try link.open(collection) }
        try link.comeBack(laptop)
        #expect(laptop.conflicts.map { $0.changes.map(\.increment) } == [[.integer(1)]])
        #expect(laptop.conflicts.first?.host == "desk")
        try expectStock(10, laptop, desk)
    }

    @Test("what a commit in conflict added does not count for the later ones")
    func withoutConflicting() throws {
        let (laptop, desk) = try stores("without", Limit.most.declaration)
        try link.goAway(laptop)
        try laptop.item(forKey: "b")?.setName("mine")
        try add(laptop, 4, -2, 3)
        try desk.item(forKey: "b")?.setName("theirs")
        try add(desk, 1)
        try link.comeBack(laptop)
        // 6 - 2 + 3; with the 4 it would be more than 10.
        #expect(laptop.conflicts.map { $0.changes.compactMap(\.increment) } == [[.integer(4)]])
        try expectStock(7, laptop, desk)
    }

    @Test("an item that waits itself has its own number, also one that replaced another", arguments: [false, true])
    func newItems(restarts: Bool) throws {
        let collection = "new-items-\(restarts)"
        var (laptop, desk) = try stores(collection)
        try link.goAway(laptop)
        try laptop.createItem(ItemFields(name: "new", itemKey: "new", custom: ["stock": .integer(20)]))
        try laptop.item(forKey: "new")?.increment("stock", by: 1)
        try laptop.commit()
        try add(laptop, 2, 3, to: "new")
        try laptop.item(forKey: "new")?.increment("other", by: 7)
        try add(laptop, 1, to: "b")
        try #require(laptop.item(forKey: "b")).remove()
        try laptop.commit()
        try laptop.createItem(ItemFields(name: "again", itemKey: "b", custom: ["stock": .integer(100)]))
        try laptop.commit()
        try add(laptop, 4, to: "b")
        try add(laptop, 1)
        if restarts { laptop = try link.open(collection) }
        try add(laptop, 10, to: "new")
        try add(desk, 50)
        try link.comeBack(laptop)
        #expect(laptop.conflicts.isEmpty)
        try expectStock(56, laptop, desk)
        #expect(try stock(desk, "new") == .integer(36) && stock(desk, "b") == .integer(104))
        #expect(try desk.item(forKey: "new")?.value(forField: "other") == .integer(7))
    }
}
