public import ColumnEngine

/// A key by which a query groups, sorts or sums items.
public typealias ItemKey = QueryKey<Item>

extension ItemStore {
    /// Parses a key: the field of that name if there is one, else an expression over fields.
    ///
    /// - Throws: `StoreError` with `unknownField` for a name that no item has; `FormatPredicateError` for an invalid
    ///   expression.
    public func key(_ text: String) throws -> ItemKey { try columns.key(text).map(\.row) }

    /// The key for rows. A function is not called for an item that an earlier call removed.
    func rowKey(_ key: ItemKey) -> RowKey { key.map { [self] in columns.isLive($0) ? item(row: $0) : nil } }
}
