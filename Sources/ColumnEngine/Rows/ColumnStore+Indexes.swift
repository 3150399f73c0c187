extension ColumnStore {
    /// The ordered index on a field, ready for queries.
    func index(on field: ItemField) -> OrderedIndex? {
        guard let index = indexes.first(where: { $0.field == field }) else { return nil }
        index.mergePending()
        return index
    }

    /// Makes an ordered index on a field, unless there is one.
    ///
    /// - Returns: whether it is new.
    package func createIndex(_ field: ItemField, lazily: Bool) -> Bool {
        if indexes.contains(where: { $0.field == field }) { return false }
        let index = OrderedIndex(self, field)
        if !lazily { index.mergePending() }
        indexes.append(index)
        return true
    }

    // MARK: Updating the indexes

    @inline(__always)
    func rowCame(_ row: UInt32) {
        // Unretained: reference counting would cost more than the call.
        for place in 0..<indexes.count {
            Unmanaged.passUnretained(indexes[place])._withUnsafeGuaranteedRef { $0.rowCame(row) }
        }
    }

    @inline(__always)
    func rowGoes(_ row: UInt32) {
        for index in indexes { index.rowGoes(row) }
    }

    /// Sets a field of an item that is in the store.
    @inline(__always)
    func setStored(_ row: UInt32, _ field: ItemField, _ cell: Cell) {
        guard !indexes.isEmpty else { return table.setCell(row, field, cell) }
        for index in indexes where index.field == field {
            index.valueGoes(row)
            table.setCell(row, field, cell)
            return index.rowCame(row)
        }
        table.setCell(row, field, cell)
    }

    /// Merges committed changes into the indexes if they are many.
    package func mergeIndexes() {
        for index in indexes { index.mergePendingIfMany() }
    }
}
