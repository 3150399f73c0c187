import ColumnEngine
import PredicateFormat
public import PropertyList

extension ItemQuery {
    /// The sum of a key's numbers: an integer if all are integers and the sum fits 64 bits, else the nearest real. Items
    /// without the key are skipped; an empty sum is the integer 0. Values that are not numbers are left out and reported
    /// to ``ItemStore/onLeftOut``. A key is a field or a predicate expression, in which the quotient of two integers is
    /// an integer.
    ///
    /// - Throws: `StoreError` for a field that no item has, and when no value is a number; `FormatPredicateError` for an
    ///   invalid expression, and for one that has a value for no item because of the kinds of their values.
    public func sum(_ key: String) throws -> PropertyListValue { try aggregate(.sum, key) ?? .integer(0) }

    /// The mean of a key's numbers; nil when there are none.
    public func average(_ key: String) throws -> Double? {
        if case .real(let number)? = try aggregate(.average, key) { number } else { nil }
    }

    /// The least of a key's values in the order of `sorted(_:descending:)`; nil if no item has the key. Of values of
    /// several kinds, those of the most frequent kind are compared, and the others are reported to
    /// ``ItemStore/onLeftOut``.
    public func min(_ key: String) throws -> PropertyListValue? { try aggregate(.min, key) }

    /// The greatest of a key's values, as ``min(_:)``; nil if no item has the key.
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
