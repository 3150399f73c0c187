import ColumnEngine
public import PropertyList

/// The items of a query that have the same value of each key.
public struct ItemGroup {
    let store: ItemStore
    /// The common value of the first key; nil for the items without one.
    public let key: PropertyListValue?
    /// The common values of the other keys, in order.
    let otherKeys: [PropertyListValue?]
    let rows: ArraySlice<UInt32>

    init(_ store: ItemStore, _ group: RowGroup) {
        (self.store, key, otherKeys, rows) = (store, group.key, group.otherKeys, group.rows)
    }

    /// The common values of all keys, in the order of the keys.
    public var keys: [PropertyListValue?] { [key] + otherKeys }

    /// The number of items when the group was made.
    public var count: Int { rows.count }

    /// The items, in order, without those removed since.
    public var items: [Item] {
        rows.filter { store.columns.isLive($0) }.map(store.item(row:))
    }

    /// As ``ItemQuery/sum(_:)``, for the group.
    public func sum(_ key: String) throws -> PropertyListValue { try aggregate(.sum, key) ?? .integer(0) }

    /// As ``ItemQuery/average(_:)``, for the group.
    public func average(_ key: String) throws -> Double? {
        if case .real(let number)? = try aggregate(.average, key) { number } else { nil }
    }

    /// As ``ItemQuery/min(_:)``, for the group.
    public func min(_ key: String) throws -> PropertyListValue? { try aggregate(.min, key) }

    /// As ``ItemQuery/max(_:)``, for the group.
    public func max(_ key: String) throws -> PropertyListValue? { try aggregate(.max, key) }

    private func aggregate(_ function: ItemAggregateFunction.Name, _ key: String) throws -> PropertyListValue? {
        try store.columns.reporting { try value(ItemAggregateFunction(function, key, store.columns)) }
    }

    /// A function's value for the group.
    func value(_ function: ItemAggregateFunction, isPart: Bool = false) throws -> PropertyListValue? {
        try rows.withUnsafeBufferPointer { try function.value(of: $0, isPart: isPart) }
    }
}
