import Testing

@testable import Stores

@Suite("Store against a naive model")
struct StoreModelTests {
    /// After each commit, a second store loaded from archive and journal is equal to the living one.
    @Test(arguments: 1...12)
    func randomOperations(seed: UInt64) throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        var driver = StoreDriver(store, seed: seed)
        for step in 0..<150 {
            let depth = store.undoStack.count
            switch driver.random.number(12) {
            case 0: #expect(try store.undo() == driver.model.undo())
            case 1: #expect(try store.redo() == driver.model.redo())
            case 2:
                try driver.transaction()
                if store.undoStack.count > depth { driver.model.commit() }
            case 3 where step % 3 == 0:
                try store.saveChanges()
                #expect(!store.hasChanges)
            default:
                for _ in 0..<driver.random.number(5) { try driver.change() }
                if try store.commit() { driver.model.commit() }
            }
            #expect(try store.records == driver.model.items, "step \(step)")
            let second = try folder.open(isReadOnly: true)
            #expect(try second.records == driver.model.items, "step \(step)")
            #expect(second.loadReport.notices.isEmpty, "\(second.loadReport.notices)")
        }
        for (position, item) in store.allItems.enumerated() {
            #expect(store.item(forKey: try item.itemKey) === item)
            #expect(try item.position == position)
        }
    }
}
