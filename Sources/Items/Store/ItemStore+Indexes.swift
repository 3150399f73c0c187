import ColumnEngine

extension ItemStore {
    /// The fields with an ordered index, in order of creation.
    public var indexedFields: [String] { columns.indexes.map { columns.name(of: $0.field) } }

    /// Makes an ordered index on a field, used automatically by queries; does nothing if there is one. `itemKey` always
    /// has an index for equality, and may have an ordered one as well.
    ///
    /// The field may be one that no item has yet: the index covers future items.
    ///
    /// - Parameters:
    ///   - name: the field's.
    ///   - lazily: builds it for the first query that uses it, and not now.
    /// - Returns: whether it is new.
    /// - Throws: `StoreError` for an invalid field name.
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

    /// The size of the ordered indexes in bytes.
    public var indexBytes: Int {
        columns.noteWholeRead()
        return columns.indexes.reduce(0) { $0 + $1.byteCount }
    }
}
