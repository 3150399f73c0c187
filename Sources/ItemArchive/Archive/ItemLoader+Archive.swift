package import ColumnEngine
import PropertyList

/// The ways into an empty store that an archive and its journal have.
extension ItemLoader {
    /// Makes the empty store one of the items of a mapped archive, none of which is read yet.
    ///
    /// - Parameters:
    ///   - items: the archive's items.
    ///   - index: their index file.
    ///   - slots: the index's table of keys.
    ///   - numbers: by field the index's copy of its integers; nil where there is none that can be used.
    ///   - damaged: called when a part turns out to be unreadable, which the store reports.
    func map(
        _ items: MappedItems, _ index: ItemIndexFile, _ slots: MappedKeySlots, _ numbers: [MappedNumbers?],
        damaged: @escaping () -> Void
    ) {
        for name in index.customFields { _ = store.field(named: name) }
        let source = ArchiveRows(items, numbers: numbers)
        source.onDamage = { [weak store] text in
            damaged()
            store?.onDamage?(text)
        }
        store.map(index.count, index.fieldKinds, source, seed: index.seed, slots)
    }

    /// Applies the changes of one record of a journal.
    ///
    /// - Parameters:
    ///   - changes: the record's bytes.
    ///   - isTolerant: whether changes of items that are not there are passed over.
    /// - Returns: how many were.
    /// - Throws: ``StoreError`` with `corruptJournal`; the store is as before then.
    @discardableResult
    package func replay(_ changes: UnsafeRawBufferPointer, isTolerant: Bool = false) throws(StoreError) -> Int {
        var decoder = JournalDecoder(self, changes, isTolerant: isTolerant)
        try replaying { () throws(StoreError) in try decoder.replay() }
        return decoder.skipped
    }
}
