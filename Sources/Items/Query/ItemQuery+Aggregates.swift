import ColumnEngine
import PredicateFormat
public import PropertyList

extension ItemQuery {
    /// The sum of a key's numbers: an integer if all are integers and the sum fits 64 bits, else a real. Items without
    /// the key are skipped; an empty sum is the integer 0. A key is a field or a predicate expression.
    ///
    /// - Throws: `StoreError` for a field that no item has, and for a value that is not a number;
    ///   `FormatPredicateError` for an invalid expression.
    public func sum(_ key: String) throws -> PropertyListValue { try aggregate(.sum, key) ?? .integer(0) }

    /// The mean of a key's numbers; nil when there are none.
    public func average(_ key: String) throws -> Double? {
        if case .real(let number)? = try aggregate(.average, key) { number } else { nil }
    }

    /// The least of a key's values in the order of `sorted(_:descending:)`; nil if no item has the key.
    public func min(_ key: String) throws -> PropertyListValue? { try aggregate(.min, key) }

    /// The greatest of a key's values; nil if no item has the key.
    public func max(_ key: String) throws -> PropertyListValue? { try aggregate(.max, key) }

    private func aggregate(_ name: ItemAggregateFunction.Name, _ key: String) throws -> PropertyListValue? {
        try rows.aggregate(name, store.columns.key(key))
    }

    /// Groups the items by equal values of a key, in order of appearance; items without the key form one group. A key
    /// is a field, or an expression: `dims.w`, `name.firstWord`, `width * height`.
    ///
    /// - Throws: as ``sum(_:)``.
    public func groupBy(_ key: String) throws -> [ItemGroup] { try groupBy(store.key(key)) }

    /// Groups the items by equal results of a function.
    public func groupBy(_ key: @escaping (Item) throws -> PropertyListValue?) throws -> [ItemGroup] {
        try groupBy(.function(key))
    }

    /// Groups the items by equal values of a key.
    public func groupBy(_ key: ItemKey) throws -> [ItemGroup] { try groupBy([key]) }

    /// Groups the items by equal values of each of several keys, in order of appearance: ``ItemGroup/keys`` has the
    /// values. Without keys all items are one group.
    ///
    /// - Throws: as ``sum(_:)``.
    public func groupBy(_ keys: [String]) throws -> [ItemGroup] { try groupBy(keys.map(store.key)) }

    /// Groups the items by equal values of each of several keys, some of which may be functions.
    public func groupBy(_ keys: [ItemKey]) throws -> [ItemGroup] {
        try rows.groups(by: keys.map(store.rowKey)).map { ItemGroup(store, $0) }
    }

    /// The different values of a key, in order of appearance, without absent ones.
    public func distinct(_ key: String) throws -> [PropertyListValue] {
        try groupBy(key).compactMap(\.key)
    }

    /// The different combinations of the values of several keys, in order of appearance: for each key its value, nil if
    /// the items have none. The items that have none of the keys are left out.
    public func distinct(_ keys: [String]) throws -> [[PropertyListValue?]] {
        try groupBy(keys).map(\.keys).filter { $0.contains { $0 != nil } }
    }
}
