import Items
import ItemsTestSupport
import PropertyList
import Testing

@Suite("Transactions")
struct TransactionTests {
    struct Failure: Error {}

    let persistence = MemoryPersistence(keepsCommits: true)
    let store: ItemStore

    init() throws {
        store = try ItemStore.open(persistence)
        for number in 0..<5 {
            try store.createItem(
                ItemFields(name: "item \(number)", valueInDollars: Int64(number), itemKey: "key \(number)"))
        }
        try store.commit()
    }

    @Test func anErrorTakesEverythingBack() throws {
        let before = try store.records
        let items = store.allItems
        #expect(throws: Failure.self) {
            try store.transaction {
                try items[1].remove()
                try items[3].setName("changed")
                try items[3].setValue(.integer(1), forField: "custom")
                try store.moveItem(from: 0, to: 3)
                let made = try store.createItem(ItemFields(itemKey: "key 1"))
                try made.setName("made")
                try items[0].remove()
                try made.remove()
                throw Failure()
            }
        }
        #expect(try store.records == before)
        #expect(store.allItems == items)
        #expect(store.item(forKey: "key 1") === items[1])
        #expect(!store.hasUncommittedChanges)
        #expect(persistence.commits.count == 1)
    }

    @Test func transactionsNestAsSavepoints() throws {
        try store.transaction {
            try #require(store[0]).setName("outer")
            #expect(throws: Failure.self) {
                try store.transaction {
                    try #require(store[0]).setName("inner")
                    try #require(store[1]).remove()
                    throw Failure()
                }
            }
            try store.transaction { try #require(store[1]).setName("kept") }
            #expect(persistence.commits.count == 1)
            #expect(try store.commit() == false)
        }
        #expect(try store.records.prefix(2).map(\.name) == ["outer", "kept"])
        #expect(persistence.commits.count == 2)
        #expect(try ItemStore.open(persistence).records == store.records)
        try store.undo()
        #expect(try store.records.prefix(2).map(\.name) == ["item 0", "item 1"])
    }

    @Test func aCommitThatFailsRollsTheTransactionBack() throws {
        let before = try store.records
        try #require(store[4]).setName("before the transaction")
        persistence.failure = StoreError(.inputOutput, "no space")
        let error = #expect(throws: StoreError.self) {
            try store.transaction { try #require(store[0]).remove() }
        }
        #expect(error?.code == .inputOutput)
        #expect(store.count == 5)
        #expect(try #require(store[4]).name == "before the transaction")
        #expect(throws: StoreError.self) { try store.commit() }
        persistence.failure = nil
        #expect(try store.commit())
        #expect(try ItemStore.open(persistence).records == store.records)
        try store.undo()
        #expect(try store.records == before)
    }

    @Test func whatCameBeforeIsAStepOfItsOwn() throws {
        try #require(store[0]).setName("loose")
        try store.transaction { try #require(store[1]).setName("in transaction") }
        #expect(persistence.commits.count == 2)
        try store.undo()
        #expect(try store.records.prefix(2).map(\.name) == ["loose", "item 1"])
        try store.undo()
        #expect(try store.records.prefix(2).map(\.name) == ["item 0", "item 1"])
        try store.redo()
        try store.redo()
        #expect(try store.records.prefix(2).map(\.name) == ["loose", "in transaction"])
        #expect(try ItemStore.open(persistence).records == store.records)
    }

    @Test func dryRunTellsAndChangesNothing() throws {
        let before = try store.records
        let diff = try store.dryRun {
            try #require(store[0]).setName("new")
            try #require(store[0]).setName("newer")
            try #require(store[1]).remove()
            try store.createItem(ItemFields(name: "made"))
            try store.createItem().remove()
            try store.moveItem(from: 0, to: 1)
            try #require(store[1]).setValueInDollars(9)
            try #require(store[1]).setValueInDollars(0)
        }
        #expect(diff.inserted.map(\.name) == ["made"])
        #expect(diff.removed.map(\.name) == ["item 1"])
        #expect(diff.updated.map { "\($0.itemKey).\($0.field)" } == ["key 0.name"])
        #expect(diff.updated.first?.old == .string("item 0") && diff.updated.first?.new == .string("newer"))
        #expect(diff.moved.count == 1)
        let counts = "1 inserted, 1 removed, 1 field changed, 1 moved"
        #expect(diff.description == "\(counts)\n+ made\n- item 1\n  newer: name \"item 0\" → \"newer\"\n  newer: 1 → 2")
        let many = try store.dryRun { for item in store.allItems + store.allItems { try item.setValueInDollars(3) } }
        #expect(many.description.hasSuffix("\n  and \(many.updated.count - 10) more") == (many.updated.count > 10))
        #expect(try store.records == before)
        #expect(!store.isInTransaction && !store.hasUncommittedChanges)
        #expect(throws: Failure.self) { try store.dryRun { throw Failure() } }
        #expect(!store.isInTransaction)
    }

    @Test func someThingsNeedTheEndOfATransaction() throws {
        try store.transaction {
            #expect(throws: StoreError.self) { try store.undo() }
            #expect(throws: StoreError.self) { try store.saveChanges() }
        }
        #expect(throws: StoreError.self) { try store.endTransaction() }
        #expect(throws: StoreError.self) { try store.rollBackTransaction() }
    }
}
