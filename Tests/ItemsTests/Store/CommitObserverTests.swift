import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Commit observers")
struct CommitObserverTests {
    struct Failure: Error {}

    /// Random changes, transactions, failures, dry runs, undo and redo: a mirror that hears of commits alone has the
    /// items of the store, whether it reads a commit at once or when the store has moved on.
    @Test(arguments: 1...16, [true, false])
    func mirror(seed: UInt64, readsAtOnce: Bool) throws {
        let folder = try StoreFolder()
        let store = try folder.open(mapped: seed.isMultiple(of: 2))
        if seed.isMultiple(of: 3) { store.history.commits = 2 }
        let mirror = ItemMirror(of: store, readsAtOnce: readsAtOnce)
        var driver = StoreDriver(store, seed: seed)
        for step in 0..<150 {
            switch driver.random.number(12) {
            case 0: try store.undo()
            case 1: try store.redo()
            case 2: try driver.transaction()
            case 3:
                let before = driver.model.items
                _ = try store.dryRun { for _ in 0..<4 { try driver.change() } }
                driver.model.items = before
            case 4 where step % 3 == 0: try store.saveChanges()
            case 5 where step % 10 == 0: store.compactHeap()
            case 6:
                var options = ItemFileOptions(format: .json)
                options.progress = nil
                try store.importItems(Array(#"[{"name":"from a file"},{"shelf":[1,2]}]"#.utf8), path: "x.json", options)
            case 7 where store.count > 0:
                try store.query().limit(3).update(["name": .string("all \(step)"), "shelf": nil])
                try store.commit()
            default:
                for _ in 0..<driver.random.number(5) { try driver.change() }
                try store.commit()
            }
            driver.model.items = try store.records
            if readsAtOnce { #expect(try mirror.items == store.records, "step \(step)") }
        }
        try store.commit()
        mirror.readAll()
        if !readsAtOnce { #expect(try mirror.items == store.records) }
        // What was read at once can be read again, whatever came since.
        for (commit, changes) in mirror.told { #expect(Array(commit) == changes) }
    }

    @Test func onlyWhatHappened() throws {
        let store = ItemStore()
        let mirror = ItemMirror(of: store)
        let lamp = try store.createItem(ItemFields(name: "Lamp"))
        #expect(mirror.causes.isEmpty)
        try store.commit()
        try store.commit()
        #expect(mirror.causes == [.script])
        _ = try store.dryRun { try lamp.setName("dry") }
        #expect(throws: Failure.self) {
            try store.transaction {
                try lamp.setName("never")
                throw Failure()
            }
        }
        #expect(mirror.causes == [.script])
        try store.transaction { try store.transaction { try lamp.setValueInDollars(3) } }
        try store.undo()
        try store.redo()
        #expect(mirror.causes == [.script, .script, .undo, .redo])
        try lamp.setName("before the file")
        var options = ItemFileOptions(format: .json)
        options.progress = nil
        try store.importItems(Array(#"[{"name":"a"}]"#.utf8), path: "x.json", options)
        #expect(mirror.causes.suffix(2) == [.script, .import])
        store.removeCommitObserver(mirror)
        try lamp.remove()
        try store.commit()
        #expect(mirror.causes.count == 6)
    }

    @Test func eachStepOfOneCommit() throws {
        let store = ItemStore()
        let lamp = try store.createItem(ItemFields(name: "Lamp", itemKey: "L"))
        try store.commit()
        let mirror = ItemMirror(of: store)
        try lamp.setValueInDollars(1)
        try lamp.setName("Torch")
        try lamp.setValueInDollars(2)
        let chair = try store.createItem(ItemFields(name: "Chair", itemKey: "C", custom: ["room": .string("Study")]))
        try chair.setValue(nil, forField: "room")
        try store.moveItem(from: 1, to: 0)
        try lamp.remove()
        try store.commit()
        let changes = mirror.told[0].changes
        #expect(changes.map(\.kind) == [.update, .update, .update, .insert, .update, .move, .remove])
        #expect(changes.map(\.name) == ["Torch", "Torch", "Torch", "Chair", "Chair", "Chair", "Torch"])
        #expect(changes[0].old == .integer(0) && changes[0].new == .integer(1))
        #expect(changes[2].old == .integer(1) && changes[2].new == .integer(2))
        #expect(changes[3].fields?.custom == ["room": .string("Study")])
        #expect(changes[4].old == .string("Study") && changes[4].new == nil)
        #expect(changes[5].formerPosition == 1 && changes[5].position == 0)
        #expect(changes[6].fields?.valueInDollars == 2)
    }

    /// What an observer changes and commits is told to all after the commit that it was told of.
    @Test func answersInOrder() throws {
        final class Answering: ItemCommitObserver {
            var told: [Int] = []
            func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) {
                told.append(commit.count)
                guard commit.count == 1, told.count < 3 else { return }
                do {
                    try store.createItem()
                    try store.createItem()
                    try store.commit()
                } catch { Issue.record("\(error)") }
            }
        }
        let store = ItemStore()
        let (first, second) = (Answering(), Answering())
        store.addCommitObserver(first)
        store.addCommitObserver(second)
        try store.createItem()
        try store.commit()
        #expect(first.told == [1, 2, 2])
        #expect(second.told == first.told)
        #expect(!store.hasUncommittedChanges)
    }

    /// Changes take the short way: a commit observer alone asks for nothing before the commit.
    @Test func aCommitThatNobodyHoldsIsNotCopied() throws {
        final class Idle: ItemCommitObserver {
            weak var commit: ItemStoreCommit?
            func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) { self.commit = commit }
        }
        let store = ItemStore()
        let idle = Idle()
        store.addCommitObserver(idle)
        #expect(!store.publisher.isWatched)
        let item = try store.createItem()
        try store.commit()
        #expect(idle.commit == nil)
        try item.setName("a")
        #expect(!store.publisher.isWatched)
    }
}
