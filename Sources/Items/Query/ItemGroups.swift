import ColumnEngine
package import PropertyList

/// A query's groups, in order: a value that is refined step by step.
package struct ItemGroups: RandomAccessCollection {
    /// The order of groups.
    package enum Order: String, Sendable, CaseIterable {
        /// By the number of items, most first.
        case count
        /// By the groups' values.
        case key
    }

    private let store: ItemStore
    private let groups: [ItemGroup]

    init(_ store: ItemStore, _ groups: [ItemGroup]) {
        (self.store, self.groups) = (store, groups)
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { groups.count }
    package subscript(position: Int) -> ItemGroup { groups[position] }

    /// Sorts by the number of items, or by key in the order of ``ItemQuery/sorted(_:descending:)-(String,_)``: with
    /// several keys by the first, then by the second, and so on. The sort is stable.
    package func sorted(by order: Order, descending: Bool = false) -> ItemGroups {
        let places: [Int]
        switch order {
        case .count: places = Self.order(groups.map { $0.count }, descending) { $0 - $1 }
        case .key:
            var heap = CellHeap()
            let cells = groups.map { $0.key.map { heap.cell($0) } ?? .absent }
            if groups.allSatisfy(\.otherKeys.isEmpty) {
                places = Self.order(cells, descending, CellOrder.compare)
                break
            }
            let keyCells = groups.map { $0.otherKeys.map { $0.map { heap.cell($0) } ?? .absent } }
            places = Self.order(Array(groups.indices), descending) { a, b in
                let order = CellOrder.compare(cells[a], cells[b])
                if order != 0 { return order }
                return zip(keyCells[a], keyCells[b]).lazy.map(CellOrder.compare).first { $0 != 0 } ?? 0
            }
        }
        return ItemGroups(store, places.map { groups[$0] })
    }

    private static func order<Element>(
        _ elements: [Element], _ isDescending: Bool, _ compare: (Element, Element) -> Int
    ) -> [Int] {
        elements.indices.sorted {
            let order = compare(elements[$0], elements[$1])
            return order == 0 ? $0 < $1 : (order < 0) != isDescending
        }
    }

    /// Keeps the first groups. A negative number counts as 0.
    package func limit(_ count: Int) -> ItemGroups {
        ItemGroups(store, Array(groups.prefix(Swift.max(0, count))))
    }

    /// Evaluates functions for each group, in the order of groups and functions. `ItemAggregateFunction` parses their
    /// texts. A group without a number to sum has nil for the sum.
    ///
    /// - Throws: `StoreError` for an invalid function, and if no group has a number to sum; as ``ItemQuery/sum(_:as:)``.
    package func aggregate(_ functions: [String]) throws(StoreError) -> [[PropertyListValue?]] {
        try store.columns.reporting {
            let functions = try functions.map { try ItemAggregateFunction(format: $0, of: store.columns) }
            let results = try groups.map { group in try functions.map { try group.value($0, isPart: true) } }
            for (place, function) in functions.enumerated() {
                try function.check(results.lazy.map { $0[place] }) { groups.flatMap(\.rows) }
            }
            return results
        }
    }
}

extension ItemQuery {
    /// As ``groupBy(_:)-(QueryKey)``, for further refinement.
    package func groups(by key: QueryKey) throws(StoreError) -> ItemGroups { try groups(by: [key]) }

    /// As ``groupBy(_:)-([QueryKey])``, for further refinement.
    package func groups(by keys: [QueryKey]) throws(StoreError) -> ItemGroups { ItemGroups(store, try groupBy(keys)) }
}

extension ItemGroup {
    var store: ItemStore { unsafeDowncast(owner, to: ItemStore.self) }

    /// The items, in order, without those removed since.
    public var items: [Item] {
        rows.filter { store.columns.isLive($0) }.map(store.item(row:))
    }

    package func sum(_ key: String) throws(StoreError) -> PropertyListValue { try aggregate(.sum, key) ?? .integer(0) }
    package func min(_ key: String) throws(StoreError) -> PropertyListValue? { try aggregate(.min, key) }
    package func max(_ key: String) throws(StoreError) -> PropertyListValue? { try aggregate(.max, key) }

    /// As ``ItemQuery/sum(_:as:)``, for the group.
    public func sum<Value: NumericItemValue>(_ key: String, as type: Value.Type = Value.self) throws(StoreError)
        -> Value
    {
        try sum(key).converted(key)
    }

    /// As ``ItemQuery/average(_:)``, for the group.
    public func average(_ key: String) throws(StoreError) -> Double? {
        if case .real(let number)? = try aggregate(.average, key) { number } else { nil }
    }

    /// As ``ItemQuery/min(_:as:)``, for the group.
    public func min<Value: OrderedItemValue>(_ key: String, as type: Value.Type = Value.self) throws(StoreError)
        -> Value?
    {
        guard let value = try min(key) else { return nil }
        return try value.converted(key)
    }

    /// As ``ItemQuery/max(_:as:)``, for the group.
    public func max<Value: OrderedItemValue>(_ key: String, as type: Value.Type = Value.self) throws(StoreError)
        -> Value?
    {
        guard let value = try max(key) else { return nil }
        return try value.converted(key)
    }

    private func aggregate(_ function: ItemAggregateFunction.Name, _ key: String) throws(StoreError)
        -> PropertyListValue?
    {
        try store.columns.reporting { try value(ItemAggregateFunction(function, key, store.columns)) }
    }

    /// A function's value for the group.
    func value(_ function: ItemAggregateFunction, isPart: Bool = false) throws -> PropertyListValue? {
        try rows.withUnsafeBufferPointer { try function.value(of: $0, isPart: isPart) }
    }
}
