import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// What a store asks of its persistence, whichever it is.
@Suite("Conformance of persistences", .cluster)
struct PersistenceConformanceTests {
    struct Failure: Error {}

    private func fill(_ store: ItemStore, _ count: Int = 4) throws {
        for number in 0..<count {
            try store.createItem(ItemFields(name: "item \(number)", itemKey: "key \(number)"))
        }
        try store.commit()
    }

    @Test(
        "PostgreSQL is among them",
        .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed: the others are tried without it"))
    func hasShared() { #expect(PersistenceKind.all.contains { $0.name == "PostgreSQL" }) }

    @Test(
        "random changes, transactions, undo and saves: another opening finds what was committed",
        arguments: PersistenceKind.all, 1...6 as ClosedRange<UInt64>)
    func model(kind: PersistenceKind, seed: UInt64) throws {
        let place = try kind.makePlace()
        var store = try place.open()
        var driver = StoreDriver(store, seed: seed)
        for step in 0..<100 {
            let depth = store.changeHistory.undoCount
            switch driver.random.number(12) {
            case 0: #expect(try store.undo() == driver.model.undo())
            case 1: #expect(try store.redo() == driver.model.redo())
            case 2:
                try driver.transaction()
                if store.changeHistory.undoCount > depth { driver.model.commit() }
            case 3: try store.saveChanges()
            case 4 where step % 3 == 0:
                try store.commit()
                let revision = store.revision
                store = try place.open()
                #expect(store.revision >= revision)
                driver = StoreDriver(store, model: driver.model, random: driver.random)
                driver.model.past = [driver.model.items]
                driver.model.future = []
            default:
                for _ in 0..<driver.random.number(5) { try driver.change() }
                if try store.commit() { driver.model.commit() }
            }
            #expect(try store.records == driver.model.items, "step \(step)")
            #expect(try place.kept == driver.model.items, "step \(step)")
        }
    }

    @Test("a write that fails keeps nothing, and the next commit has all of it", arguments: PersistenceKind.all)
    func failures(kind: PersistenceKind) throws {
        let place = try kind.makePlace()
        let store = try place.open()
        try fill(store)
        let before = try store.records
        try #require(store[0]).setName("loose")
        try place.setFailing(true)
        #expect(throws: StoreError.self) { try store.commit() }
        #expect(throws: StoreError.self) { try store.transaction { try #require(store[1]).remove() } }
        #expect(throws: StoreError.self) { try store.undo() }
        #expect(throws: StoreError.self) { try store.apply([.remove("key 2")]) }
        #expect(try place.kept == before)
        #expect(store.count == 4)
        try place.setFailing(false)
        #expect(try store.commit())
        #expect(try place.kept == store.records)
        try place.setFailing(true)
        let error = #expect(throws: StoreError.self) { try store.undo() }
        #expect(error?.code == .inputOutput)
        #expect(try store[0]?.name == "loose")
        try place.setFailing(false)
        #expect(try store.undo())
        #expect(try store.records == before)
        #expect(try place.kept == before)
    }

    @Test(
        "revisions grow, and a commit that follows another is rolled back as a conflict",
        arguments: PersistenceKind.all)
    func revisions(kind: PersistenceKind) throws {
        let place = try kind.makePlace()
        let store = try place.open()
        #expect(store.revision == .initial)
        var last = store.revision
        for _ in 0..<3 {
            try store.createItem()
            try store.commit()
            #expect(store.revision > last)
            last = store.revision
        }
        try store.commit()
        #expect(store.revision == last)
        #expect(try place.open(isReadOnly: true).revision == last)

        if place.mergesCommits { return }
        let before = try store.records
        store.replica.revision = ItemRevision(rawValue: 1)
        try #require(store[0]).remove()
        try #require(store[0]).setName("lost")
        let error = #expect(throws: StoreError.self) { try store.commit() }
        #expect(error?.code == .conflict)
        #expect(try store.records == before)
        #expect(!store.hasUncommittedChanges)
        store.replica.revision = last
        try #require(store[0]).setName("kept")
        #expect(try store.commit())
        #expect(try place.kept == store.records)
    }

    @Test("what is to be durable is said, and a group waits once", arguments: PersistenceKind.all)
    func durability(kind: PersistenceKind) throws {
        let place = try kind.makePlace()
        let persistence = WatchedPersistence(try place.persistence(isReadOnly: false))
        let store = try ItemStore.open(persistence, durability: .power)
        try fill(store)
        for number in 0..<3 {
            try store.createItem(ItemFields(name: "\(number)"))
            try store.commitInGroup()
        }
        #expect(persistence.synchronizations == 0)
        try store.endGroup()
        #expect(persistence.appends == [true, false, false, false])
        #expect(persistence.synchronizations == 1)
        store.durability = .process
        try #require(store[0]).remove()
        try store.commit()
        try store.endGroup()
        #expect(persistence.appends.last == false)
        #expect(persistence.synchronizations == 1)
        #expect(try place.kept == store.records)
    }

    @Test("read-only, everything is there and nothing can be changed", arguments: PersistenceKind.all)
    func readOnly(kind: PersistenceKind) throws {
        let place = try kind.makePlace()
        try fill(place.open())
        let store = try place.open(isReadOnly: true)
        #expect(store.isReadOnly)
        #expect(store.count == 4)
        let item = try #require(store[0])
        for change in [
            { _ = try store.createItem() }, { try item.setName("x") }, { try item.remove() },
            { try store.moveItem(from: 0, to: 1) }, { try store.apply([.remove("key 1")]) },
            { _ = try store.saveChanges() },
        ] as [() throws -> Void] {
            let error = #expect(throws: StoreError.self) { try change() }
            #expect(error?.code == .readOnly)
        }
        #expect(try !store.commit())
        #expect(try place.kept == store.records)
    }

    @Test(
        "what comes while a document is written is kept, whether it gets its place or not",
        arguments: PersistenceKind.all, ["finished", "failed", "left"])
    func replacement(kind: PersistenceKind, end: String) throws {
        let place = try kind.makePlace()
        let store = try place.open()
        guard store.document.isArchived else {
            // Nothing to replace: what is committed is kept.
            try fill(store)
            #expect(try store.beginSave() == nil)
            return #expect(try place.kept == store.records)
        }
        try fill(store)
        let save = try #require(try store.beginSave())
        #expect(throws: StoreError.self) { try store.beginSave() }
        try #require(store[0]).setName("during")
        try store.moveItem(from: 0, to: 2)
        try store.commit()
        try store.apply([.insert(ItemFields(name: "applied", itemKey: "other"), at: 1)])
        switch end {
        case "finished": try store.finish(save, save.write())
        case "failed":
            #expect(throws: Failure.self) {
                do { try store.finish(save, .failure(StoreError(.inputOutput, "no space"))) } catch { throw Failure() }
            }
        default: _ = save.write()
        }
        try #require(store[3]).setName("after")
        try store.commit()
        #expect(try place.kept == store.records)
        #expect(store.hasChanges)
        if end != "left" {
            #expect(try store.saveChanges())
            #expect(!store.hasChanges)
        }
        #expect(try place.open().records == store.records)
    }

    @Test(
        "what is applied is kept once, and a store that follows another's commits is equal to it",
        arguments: PersistenceKind.all, 1...4 as ClosedRange<UInt64>)
    func following(kind: PersistenceKind, seed: UInt64) throws {
        let place = try kind.makePlace()
        let persistence = WatchedPersistence(try place.persistence(isReadOnly: false))
        let replica = try ItemStore.open(persistence)
        let follower = Follower(replica)
        let leader = ItemStore()
        leader.addCommitObserver(follower)
        var driver = StoreDriver(leader, seed: seed)
        for step in 0..<80 {
            switch driver.random.number(10) {
            case 0: try leader.undo()
            case 1: try leader.redo()
            case 2: try driver.transaction()
            default:
                for _ in 0..<driver.random.number(5) { try driver.change() }
                try leader.commit()
            }
            driver.model.items = try leader.records
            #expect(try replica.records == leader.records, "step \(step)")
            #expect(try place.kept == leader.records, "step \(step)")
            #expect(persistence.appends.count == follower.commits)
        }
        #expect(!replica.canUndo)
        #expect(follower.commits > 20)
    }
}

/// Applies each commit of a store to another.
private final class Follower: ItemCommitObserver {
    private let replica: ItemStore
    private(set) var commits = 0

    init(_ replica: ItemStore) { self.replica = replica }

    func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) {
        let revision = replica.revision
        do { try replica.apply(commit) } catch { Issue.record("\(error)") }
        if replica.revision > revision { commits += 1 }
    }
}
