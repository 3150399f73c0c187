public import PropertyList

/// Loads an empty store for a persistence: items first, then changes. Nothing is logged; observers are not notified.
public struct ItemLoader {
    package let store: ColumnStore

    package init(_ store: ColumnStore) {
        self.store = store
    }

    /// Reserves capacity for a number of items.
    public func reserve(_ count: Int) {
        store.table.reserve(count)
        store.order.reserve(count)
        store.index.reserve(count) { [store] in store.keyHash($0) }
    }

    /// Appends an item. A missing field gets its default; values of other kinds than a field's are carried.
    ///
    /// - Parameter values: the item's fields by name, including `itemKey`; null for a field that it lacks.
    /// - Throws: ``StoreError``: `duplicateKey`, `invalidValue`.
    public func add(_ values: PropertyListFields) throws(StoreError) {
        let draft = try store.makeDraft()
        do throws(StoreError) {
            try store.fill(draft, with: values)
            try insert(draft)
        } catch {
            draft.discard()
            throw error
        }
    }

    /// Applies the changes of one commit.
    ///
    /// - Throws: ``StoreError``, as `ItemStore.apply(_:cause:revision:)`; the store is then unchanged.
    public func replay(_ changes: some Sequence<ItemChange>) throws(StoreError) {
        try replaying { () throws(StoreError) in
            for change in changes { try store.perform(change) }
        }
    }

    /// Runs a body that replays changes: they are rolled back if it throws, and otherwise committed.
    package func replaying(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        let start = store.log.count
        do throws(StoreError) { try body() } catch {
            _ = store.rollBack(to: start)
            throw error
        }
        store.forgetLog()
    }

    /// Removes all loaded items.
    package func removeAll() throws(StoreError) {
        try replaying { () throws(StoreError) in
            for row in store.order.slots where row != ItemOrder.hole { store.takeOut(row) }
        }
    }

    /// The items loaded so far, for another thread.
    package func snapshot() -> ItemSnapshot { ItemSnapshot(store) }

    /// A new row to be filled, without a key.
    package func makeDraft() -> ItemDraft {
        let (row, isNew) = store.table.makeRow()
        if isNew { store.order.addRow() }
        return ItemDraft(store: store, row: row)
    }

    /// Appends a filled row.
    package func insert(_ draft: ItemDraft) throws(StoreError) {
        let key = store.keyHash(draft.row)
        if let other = store.holder(ofKeyOf: draft.row, key) {
            let text = store.table.keyString(other)
            throw StoreError(.duplicateKey(text), "two items have the itemKey \(text)")
        }
        store.restore(draft.row, at: store.order.count)
    }
}
