import ColumnEngine

extension ItemStore {
    /// The fields that have an ordered index, in the order in which they got it.
    public var indexedFields: [String] { columns.indexes.map { columns.name(of: $0.field) } }

    /// Makes an ordered index on a field, which queries use by themselves; nothing when there is one. `itemKey` always
    /// has one that finds equal keys, and may have an ordered one as well.
    ///
    /// A field that no item has yet is allowed: the index is there for those that come.
    ///
    /// - Parameters:
    ///   - name: the field's.
    ///   - lazily: builds it when queries ask, and not now.
    /// - Returns: whether it is new.
    /// - Throws: `StoreError` for a name that no field can have.
    /// - Complexity: O(n log n) for n items.
    @discardableResult
    public func createIndex(_ name: String, lazily: Bool = false) throws(StoreError) -> Bool {
        columns.createIndex(try field(named: name), lazily: lazily)
    }

    /// Removes the ordered index on a field.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func dropIndex(_ name: String) -> Bool {
        guard let field = columns.existingField(named: name),
            let place = columns.indexes.firstIndex(where: { $0.field == field })
        else {
            return false
        }
        columns.indexes.remove(at: place)
        return true
    }

    /// The bytes that the ordered columns.indexes take.
    public var indexBytes: Int {
        columns.noteWholeRead()
        return columns.indexes.reduce(0) { $0 + $1.byteCount }
    }
}
