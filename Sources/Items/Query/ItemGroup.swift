import ColumnEngine
public import PropertyList

/// The items of a query that have something in common.
public struct ItemGroup {
    let store: ItemStore
    /// What they have in common; nil for the items without it.
    public let key: PropertyListValue?
    var rows: ArraySlice<UInt32>

    /// The number of items when the groups were made.
    public var count: Int { rows.count }

    /// The items, in order, as far as they are in the store still.
    public var items: [Item] {
        rows.filter { store.columns.isLive($0) }.map(store.item(row:))
    }

    /// As ``ItemQuery/sum(_:)``, of the group.
    public func sum(_ key: String) throws -> PropertyListValue { try aggregate(.sum, key) ?? .integer(0) }

    /// As ``ItemQuery/average(_:)``, of the group.
    public func average(_ key: String) throws -> Double? {
        if case .real(let number)? = try aggregate(.average, key) { number } else { nil }
    }

    /// As ``ItemQuery/min(_:)``, of the group.
    public func min(_ key: String) throws -> PropertyListValue? { try aggregate(.min, key) }

    /// As ``ItemQuery/max(_:)``, of the group.
    public func max(_ key: String) throws -> PropertyListValue? { try aggregate(.max, key) }

    private func aggregate(_ function: ItemAggregateFunction.Name, _ key: String) throws -> PropertyListValue? {
        try value(ItemAggregateFunction(function, key, store.columns))
    }

    /// What a function makes of the group.
    func value(_ function: ItemAggregateFunction) throws -> PropertyListValue? {
        try rows.withUnsafeBufferPointer { try function.value(of: $0) }
    }
}
