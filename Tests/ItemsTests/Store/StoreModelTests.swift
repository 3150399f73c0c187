import ItemsTestSupport
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Store against a naive model")
struct StoreModelTests {
    /// After each commit, a second store loaded from archive and journal is equal to the living one.
    @Test(arguments: 1...12)
    func randomOperations(seed: UInt64) throws {
        try run(seed, mapped: false)
    }

    /// The same with archives that are mapped and read row by row, and with changes while one is being written.
    @Test(arguments: 21...36)
    func randomOperationsOnMappedArchives(seed: UInt64) throws {
        try run(seed, mapped: true)
    }

    private func run(_ seed: UInt64, mapped: Bool) throws {
        let folder = try StoreFolder()
        var store = try folder.open(mapped: mapped)
        var save: ItemStoreSave?
        var mappings = 0
        var driver = StoreDriver(store, seed: seed)
        for step in 0..<150 {
            if mapped, let begun = save, driver.random.number(3) == 0 {
                try store.finish(begun, begun.write())
                save = nil
            } else if mapped, save == nil, driver.random.number(12) == 0 {
                try store.commit()
                store = try folder.open(mapped: true)
                if store.columns.document.source != nil { mappings += 1 }
                driver = StoreDriver(store, model: driver.model, random: driver.random)
                driver.model.past = [driver.model.items]
                driver.model.future = []
            }
            let depth = store.changeHistory.undoCount
            switch driver.random.number(12) {
            case 0: #expect(try store.undo() == driver.model.undo())
            case 1: #expect(try store.redo() == driver.model.redo())
            case 2:
                try driver.transaction()
                if store.changeHistory.undoCount > depth { driver.model.commit() }
            case 3 where mapped:
                if save == nil { save = try store.beginSave() }
                continue
            case 3 where step % 3 == 0:
                try store.saveChanges()
                #expect(!store.hasChanges)
            default:
                for _ in 0..<driver.random.number(5) { try driver.change() }
                if try store.commit() { driver.model.commit() }
            }
            #expect(try store.records == driver.model.items, "step \(step)")
            let second = try folder.open(isReadOnly: true, mapped: mapped)
            #expect(try second.records == driver.model.items, "step \(step)")
            #expect(second.loadReport.notices.isEmpty, "\(second.loadReport.notices)")
        }
        #expect(mapped == (mappings > 0))
        for (position, item) in store.allItems.enumerated() {
            #expect(store.item(forKey: try item.itemKey) === item)
            #expect(try item.position == position)
        }
    }
}
