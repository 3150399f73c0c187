import ColumnEngine
import PredicateFormat
public import PropertyList

extension ItemQuery {
    /// The sum of a key's numbers: an integer as long as all are and the sum fits 64 bits, else a real. Items without it
    /// count as none; without any the sum is the integer 0. A key is a field, or an expression of the predicate language.
    ///
    /// - Throws: `StoreError` for a field that no item has, and for a value that is no number; `FormatPredicateError` for
    ///   an expression that cannot be read.
    public func sum(_ key: String) throws -> PropertyListValue { try aggregate(.sum, key) ?? .integer(0) }

    /// The mean of a key's numbers; nil when there are none.
    public func average(_ key: String) throws -> Double? {
        if case .real(let number)? = try aggregate(.average, key) { number } else { nil }
    }

    /// The least of a key's values in the order of `sorted(_:descending:)`; nil when no item has it.
    public func min(_ key: String) throws -> PropertyListValue? { try aggregate(.min, key) }

    /// The greatest of a key's values; nil when no item has it.
    public func max(_ key: String) throws -> PropertyListValue? { try aggregate(.max, key) }

    private func aggregate(_ name: ItemAggregateFunction.Name, _ key: String) throws -> PropertyListValue? {
        try rows.aggregate(name, store.columns.key(key))
    }

    /// The items in groups of equal values of a key, in order of appearance; those without it are one group. A key is a
    /// field, or an expression: `dims.w`, `name.firstWord`, `width * height`.
    ///
    /// - Throws: as ``sum(_:)``.
    public func groupBy(_ key: String) throws -> [ItemGroup] { try groupBy(store.key(key)) }

    /// The items in groups for which a function gives equal values.
    public func groupBy(_ key: @escaping (Item) throws -> PropertyListValue?) throws -> [ItemGroup] {
        try groupBy(.function(key))
    }

    /// The items in groups of equal values of a key.
    public func groupBy(_ key: ItemKey) throws -> [ItemGroup] {
        try rows.groups(by: store.rowKey(key)).map { ItemGroup(store: store, key: $0.key, rows: $0.rows) }
    }

    /// The different values of a key, in order of appearance, absent ones left out.
    public func distinct(_ key: String) throws -> [PropertyListValue] {
        try groupBy(key).compactMap(\.key)
    }
}
