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

    package let store: ItemStore
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

    /// Sorts by the value of a function, in the order of ``ItemQuery/sorted(_:descending:)-(String,_)``: groups without
    /// one are first. The sort is stable. The groups have the values.
    ///
    /// - Throws: as ``aggregate(_:)``.
    package func sorted(by function: ItemAggregate, descending: Bool = false) throws(StoreError) -> ItemGroups {
        let text = function.description
        let values = try aggregate([text]).map { $0.first ?? nil }
        var heap = CellHeap()
        let cells = values.map { value in value.map { heap.cell($0) } ?? .absent }
        let places = Self.order(cells, descending, CellOrder.compare)
        return ItemGroups(store, places.map { ItemGroup(groups[$0], sortedBy: text, values[$0]) })
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

    /// Evaluates functions for each group, in the order of groups and functions: see ``ItemAggregate``. A group without
    /// a number to sum has nil for the sum.
    ///
    /// - Throws: `StoreError` for an invalid function, and if no group has a number to sum; as
    ///   ``ItemAggregating/sum(_:as:)``.
    package func aggregate(_ functions: [String]) throws(StoreError) -> [[PropertyListValue?]] {
        try store.columns.reporting {
            let functions = try functions.map { try store.function(ItemAggregate($0)) }
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
    package var store: ItemStore { unsafeDowncast(owner, to: ItemStore.self) }

    /// The items, in order, without those removed since.
    public var items: [Item] {
        rows.filter { store.columns.isLive($0) }.map(store.item(row:))
    }

    /// Whether a key, by its place, is a field that is declared to have days.
    package func hasDays(key place: Int) -> Bool {
        store.columns.hasDeclarations
            && field(ofKey: place).flatMap { store.columns.declaration(of: $0)?.format } == .day
    }
}
