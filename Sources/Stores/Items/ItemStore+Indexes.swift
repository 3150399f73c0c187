extension ItemStore {
    /// The fields that have an ordered index, in the order in which they got it.
    public var indexedFields: [String] { indexes.map { fields.name(of: $0.field) } }

    /// Makes an ordered index on a field, which queries use by themselves; nothing when there is one. `itemKey` always
    /// has one that finds equal keys, and may have an ordered one as well.
    ///
    /// A field that no item has yet is allowed: the index is there for those that come.
    ///
    /// - Parameters:
    ///   - name: the field's.
    ///   - lazily: builds it when queries ask, and not now.
    /// - Returns: whether it is new.
    /// - Throws: ``StoreError`` for a name that no field can have.
    /// - Complexity: O(n log n) for n items.
    @discardableResult
    public func createIndex(_ name: String, lazily: Bool = false) throws(StoreError) -> Bool {
        let field = try field(named: name)
        if indexes.contains(where: { $0.field == field }) { return false }
        let index = OrderedIndex(self, field)
        if !lazily { index.mergePending() }
        indexes.append(index)
        return true
    }

    /// Removes the ordered index on a field.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func dropIndex(_ name: String) -> Bool {
        guard let field = fields.existing(name), let place = indexes.firstIndex(where: { $0.field == field }) else {
            return false
        }
        indexes.remove(at: place)
        return true
    }

    /// The bytes that the ordered indexes take.
    public var indexBytes: Int { indexes.reduce(0) { $0 + $1.byteCount } }

    /// The ordered index on a field, ready to be asked.
    func index(on field: ItemField) -> OrderedIndex? {
        guard let index = indexes.first(where: { $0.field == field }) else { return nil }
        index.mergePending()
        return index
    }

    // MARK: Changes reach the indexes

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

    /// Puts what is committed into the indexes where it is much.
    func settleIndexes() {
        for index in indexes { index.mergePendingIfMany() }
    }
}
