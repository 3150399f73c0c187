public import ColumnEngine

/// What a query of items groups, sorts or adds up by.
public typealias ItemKey = QueryKey<Item>

extension ItemStore {
    /// The key that a text is: the field of that name if there is one, else an expression over fields.
    ///
    /// - Throws: `StoreError` with `unknownField` for a name that no item has; `FormatPredicateError` for an expression that
    ///   cannot be read.
    public func key(_ text: String) throws -> ItemKey { try columns.key(text).map(\.row) }

    /// The key as the rows have it. A function is not called for an item that an earlier call has removed.
    func rowKey(_ key: ItemKey) -> RowKey { key.map { [self] in columns.isLive($0) ? item(row: $0) : nil } }
}
