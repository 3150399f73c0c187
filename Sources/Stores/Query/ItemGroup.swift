public import PropertyList

/// The items of a query that have something in common.
public struct ItemGroup {
    let store: ItemStore
    /// What they have in common; nil for the items without the field.
    public let key: PropertyListValue?
    var rows: ArraySlice<UInt32>

    /// The number of items when the groups were made.
    public var count: Int { rows.count }

    /// The items, in order, as far as they are in the store still.
    public var items: [Item] {
        rows.filter { store.table.state($0) == .live }.map(store.item(row:))
    }

    /// As ``ItemQuery/sum(_:)``, of the group.
    public func sum(_ field: String) throws(StoreError) -> PropertyListValue {
        try totals(field).sum
    }

    /// As ``ItemQuery/average(_:)``, of the group.
    public func average(_ field: String) throws(StoreError) -> Double? {
        try totals(field).average
    }

    /// As ``ItemQuery/min(_:)``, of the group.
    public func min(_ field: String) throws(StoreError) -> PropertyListValue? {
        ItemAggregate.extreme(store, rows, try store.queriedField(field), wanted: -1)
    }

    /// As ``ItemQuery/max(_:)``, of the group.
    public func max(_ field: String) throws(StoreError) -> PropertyListValue? {
        ItemAggregate.extreme(store, rows, try store.queriedField(field), wanted: 1)
    }

    private func totals(_ field: String) throws(StoreError) -> ItemAggregate {
        let field = try store.queriedField(field)
        var totals = ItemAggregate()
        if field == .valueInDollars {
            totals.addValues(store, rows)
            return totals
        }
        for row in rows where store.table.state(row) == .live { try totals.add(store, row, field) }
        return totals
    }
}
