import Items
import ItemsTestSupport
import PropertyList
import Testing

@Suite("Undo and redo")
struct HistoryTests {
    let persistence = MemoryPersistence(keepsCommits: true)
    let store: ItemStore

    init() throws {
        store = try ItemStore.open(persistence)
    }

    @Test func backAndForth() throws {
        var states: [[ItemFields]] = [[]]
        func step(_ body: () throws -> Void) throws {
            try body()
            try store.commit()
            states.append(try store.records)
        }
        try step { for number in 0..<10 { try store.createItem(ItemFields(valueInDollars: Int64(number))) } }
        try step { try #require(store[3]).setName("three") }
        try step { for position in [8, 1, 0] { try #require(store[position]).remove() } }
        try step { try store.moveItem(from: 6, to: 0) }
        try step { try #require(store[2]).setValue(.array([.integer(1)]), forField: "tags") }
        let items = store.allItems
        for round in 0..<3 {
            for state in states.reversed().dropFirst() {
                #expect(try store.undo())
                #expect(try store.records == state)
            }
            #expect(try !store.undo())
            for state in states.dropFirst() {
                #expect(try store.redo())
                #expect(try store.records == state)
            }
            #expect(try !store.redo(), "round \(round)")
        }
        #expect(store.allItems == items)
        #expect(try ItemStore.open(persistence).records == store.records)
    }

    @Test func whatIsNotCommittedIsTheLastStep() throws {
        try store.createItem()
        #expect(store.canUndo)
        try store.undo()
        #expect(store.count == 0)
        #expect(store.canRedo)
        try store.createItem()
        #expect(!store.canRedo)
        #expect(try !store.redo())
        #expect(store.count == 1)
    }

    @Test func aFailedUndoChangesNothing() throws {
        let item = try store.createItem(ItemFields(name: "a name that is long enough"))
        try store.commit()
        try item.setName("another name that is long")
        try store.commit()
        persistence.failure = StoreError(.inputOutput, "no space")
        #expect(throws: StoreError.self) { try store.undo() }
        #expect(try item.name == "another name that is long")
        #expect(!store.hasUncommittedChanges)
        persistence.failure = nil
        #expect(try store.undo())
        #expect(try item.name == "a name that is long enough")
        #expect(try ItemStore.open(persistence).records == store.records)
    }

    @Test func theHistoryIsLimited() throws {
        store.history.commits = 3
        for number in 0..<10 {
            try store.createItem(ItemFields(valueInDollars: Int64(number)))
            try store.commit()
        }
        var steps = 0
        while try store.undo() { steps += 1 }
        #expect(steps == 3)
        #expect(store.count == 7)
    }

    @Test func savingKeepsTheHistory() throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try store.createItem()
        #expect(try store.saveChanges())
        #expect(try !store.saveChanges())
        #expect(!store.hasChanges)
        try store.undo()
        #expect(store.count == 0)
        #expect(store.hasChanges)
        #expect(try folder.open().records.isEmpty)
    }

    @Test func withoutADocumentWhatIsCommittedIsKept() throws {
        try store.createItem()
        #expect(store.hasChanges)
        try store.commit()
        #expect(!store.hasChanges)
        #expect(try !store.saveChanges())
        #expect(store.archivePath == nil)
    }
}
