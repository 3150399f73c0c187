package import ColumnEngine
import PropertyList

/// Loading of an empty store from an archive and its journal.
extension ItemLoader {
    /// Maps an archive's items into the empty store; none is read yet.
    ///
    /// - Parameters:
    ///   - items: the archive's items.
    ///   - index: their index file.
    ///   - slots: the index's table of keys.
    ///   - numbers: by field, the index's copy of its integers; nil if there is no usable one.
    ///   - damaged: called for a part that turns out to be unreadable; the store reports it.
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
    ///   - isTolerant: whether to skip changes of missing items.
    /// - Returns: the number of skipped changes.
    /// - Throws: ``StoreError`` with `corruptJournal`; the store is then unchanged.
    @discardableResult
    package func replay(_ changes: UnsafeRawBufferPointer, isTolerant: Bool = false) throws(StoreError) -> Int {
        var decoder = JournalDecoder(self, changes, isTolerant: isTolerant)
        try replaying { () throws(StoreError) in try decoder.replay() }
        return decoder.skipped
    }
}
