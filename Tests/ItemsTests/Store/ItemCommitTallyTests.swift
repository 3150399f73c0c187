import Items
import PropertyList
import Testing

@Suite("How many items a commit concerns")
struct ItemCommitTallyTests {
    let store = ItemStore()

    /// The tally of a body's commit as words: `created removed changed moved`.
    private func tally(_ cause: ItemStoreCommit.Cause = .script, _ body: () throws -> Void) throws -> [Int] {
        var sum = ItemCommitTally()
        store.commitCounter = { each, tally in if each == cause { sum = sum + tally } }
        defer { store.commitCounter = nil }
        try body()
        try store.commit()
        return [sum.created, sum.removed, sum.changed, sum.moved]
    }

    private func create(_ count: Int) throws { for _ in 0..<count { try store.createItem() } }

    @Test("each item is counted once, as what became of it")
    func counts() throws {
        #expect(try tally { try create(3) } == [3, 0, 0, 0])
        #expect(
            try tally {
                for item in try store.query().all() { try item.setValue(.string("x"), forField: "a") }
                for item in try store.query().all() { try item.setValue(.string("y"), forField: "b") }
            } == [0, 0, 3, 0])
        // What is new or gone is not changed, too; what came and went is neither.
        #expect(
            try tally {
                let item = try store.createItem()
                try item.setName("x")
                try store.removeItem(#require(store[0]))
                try store.removeItem(store.createItem())
            } == [1, 1, 0, 0])
        #expect(try tally { try store.moveItem(from: 0, to: 2) } == [0, 0, 0, 1])
        #expect(try tally {} == [0, 0, 0, 0])
    }

    @Test("an undo counts what the store has afterwards, and its inverse what was taken back")
    func undo() throws {
        _ = try tally { try create(2) }
        #expect(try tally(.undo) { try store.undo() } == [0, 2, 0, 0])
        #expect(try tally(.redo) { try store.redo() } == [2, 0, 0, 0])
        var inverted = ItemCommitTally()
        store.commitCounter = { _, tally in inverted = tally.inverted }
        try store.undo()
        #expect(inverted.created == 2 && inverted.removed == 0 && inverted.count == 2)
    }

    @Test("many appended items are one range")
    func many() throws {
        #expect(try tally { try create(10_000) } == [10_000, 0, 0, 0])
        #expect(try tally { try store.query().update(["a": .integer(1)]) } == [0, 0, 10_000, 0])
    }
}
