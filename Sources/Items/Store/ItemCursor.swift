import ColumnEngine

/// An iteration over a store's items that is safe while the store changes.
public final class ItemCursor: Sequence, IteratorProtocol {
    let store: ItemStore
    /// The order at the start of the iteration; shared with the store until that changes.
    private let slots: [UInt32]
    private var nextSlot = 0

    init(_ store: ItemStore) {
        self.store = store
        slots = store.columns.slots
        store.columns.pinRows()
    }

    deinit {
        store.columns.unpinRows()
    }

    public func next() -> Item? { nextRow().map(store.item(row:)) }

    func nextRow() -> UInt32? {
        while nextSlot < slots.count {
            let row = slots[nextSlot]
            nextSlot += 1
            if row != ItemOrder.hole, store.columns.isLive(row) { return row }
        }
        return nil
    }
}
