import PropertyList

/// The way into an empty store for a persistence: items first, then changes. Nothing is logged, nobody is told.
public struct ItemLoader {
    let store: ItemStore

    init(_ store: ItemStore) {
        self.store = store
    }

    /// Makes room for a number of items.
    public func reserve(_ count: Int) {
        store.table.reserve(count)
        store.order.reserve(count)
        store.index.reserve(count) { [store] in store.keyHash($0) }
    }

    /// Makes the empty store one of the items of a mapped archive, none of which is read yet.
    ///
    /// - Parameters:
    ///   - items: the archive's items.
    ///   - index: their index file.
    ///   - slots: the index's table of keys.
    ///   - numbers: the index's copy of the numbers; nil when it cannot be used.
    ///   - damaged: called when a part turns out to be unreadable, which the store reports.
    func map(
        _ items: MappedItems, _ index: ItemIndexFile, _ slots: MappedKeySlots, _ numbers: MappedNumbers?,
        damaged: @escaping () -> Void
    ) {
        for name in index.customFields { _ = store.fields.field(named: name) }
        let source = RowSource(items, numbers: numbers)
        source.onDamage = { [store = store.zeroingReference] text in
            damaged()
            store.store?.loadReport.notices.append(text)
            store.store?.onDamage?(text)
        }
        store.rowSource = source
        store.heap.faulted = source.values
        store.table.map(index.count, customKinds: index.fieldKinds, source)
        store.order.adopt(index.count)
        store.archivedPlaces.map(index.count)
        store.keyHasher = KeyHasher(seed: index.seed)
        store.index.adopt(slots)
    }

    /// Adds an item at the end.
    ///
    /// - Throws: ``StoreError``: `duplicateKey`, `invalidValue`.
    public func add(_ fields: ItemFields) throws(StoreError) {
        let draft = makeDraft()
        do throws(StoreError) {
            try draft.set(fields)
            try insert(draft)
        } catch {
            draft.discard()
            throw error
        }
    }

    /// Applies the changes of one record of a journal.
    ///
    /// - Parameters:
    ///   - changes: the record's bytes.
    ///   - isTolerant: whether changes of items that are not there are passed over.
    /// - Returns: how many were.
    /// - Throws: ``StoreError`` with `corruptJournal`; the store is as before then.
    @discardableResult
    public func replay(_ changes: UnsafeRawBufferPointer, isTolerant: Bool = false) throws(StoreError) -> Int {
        let start = store.log.count
        var decoder = JournalDecoder(self, changes, isTolerant: isTolerant)
        do throws(StoreError) {
            try decoder.replay()
        } catch {
            store.rollBack(to: start)
            throw error
        }
        endReplay()
        return decoder.skipped
    }

    /// Applies the changes of one commit.
    ///
    /// - Throws: ``StoreError``, as ``ItemStore/apply(_:cause:revision:)``; the store is as before then.
    public func replay(_ changes: some Sequence<ItemChange>) throws(StoreError) {
        let start = store.log.count
        do throws(StoreError) {
            for change in changes { try store.perform(change) }
        } catch {
            store.rollBack(to: start)
            throw error
        }
        endReplay()
    }

    /// What is replayed is committed: it is no part of this process's history.
    private func endReplay() {
        store.forget(ChangeGroup(changes: store.log))
        store.log = []
        store.hasRemovals = false
        if store.heap.needsCompaction, !store.table.hasSnapshot { store.compactHeap() }
    }

    /// The items that were loaded so far, for another thread.
    func snapshot() -> ItemSnapshot { ItemSnapshot(store) }

    /// A new row to be filled; without a key.
    func makeDraft() -> ItemDraft {
        let (row, isNew) = store.table.makeRow()
        if isNew { store.order.addRow() }
        return ItemDraft(store: store, row: row)
    }

    /// Puts a filled row at the end.
    func insert(_ draft: ItemDraft) throws(StoreError) {
        let key = store.keyHash(draft.row)
        if let other = store.holder(ofKeyOf: draft.row, key) {
            let text = store.table.keyString(other)
            throw StoreError(.duplicateKey(text), "two items have the itemKey \(text)")
        }
        store.restore(draft.row, at: store.order.count)
    }
}
