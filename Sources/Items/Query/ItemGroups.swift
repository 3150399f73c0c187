public import ColumnEngine
public import PropertyList

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
            let cells = groups.map { $0.keys.map { $0.map { heap.cell($0) } ?? .absent } }
            places = Self.order(cells, descending) { first, second in
                zip(first, second).lazy.map(CellOrder.compare).first { $0 != 0 } ?? 0
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

/// Items over which functions are computed: those of a query, or of a group.
///
///     let store = ItemStore()
///     for price in [3, 5, 10] { try store.createItem(ItemFields(name: "Lamp", custom: ["price": .integer(price)])) }
///     let total: Int = try store.query().sum("price")
///     let middle = try store.query().value(of: "median(price, price > 3)")
public protocol ItemAggregating {
    /// The values of functions of the items, in order. A value is nil if it is undefined without values: the sum of
    /// none is 0, their average nil.
    ///
    /// - Throws: as ``sum(_:as:)``, and `invalidValue` for a text that is not a function; see `ItemAggregate`.
    func values(of functions: [ItemAggregate]) throws(StoreError) -> [PropertyListValue?]
}

extension ItemAggregating {
    /// The value of a function of the items: `try query.value(of: "percentile(price, 90)")`.
    ///
    /// - Throws: as ``values(of:)``.
    public func value(of function: ItemAggregate) throws(StoreError) -> PropertyListValue? {
        try values(of: [function]).first ?? nil
    }

    /// The sum of a key's numbers: an integer if all are integers and the sum fits 64 bits, else the nearest real.
    /// Items without the key are skipped; an empty sum is the integer 0. Values that are not numbers are left out and
    /// reported to ``ItemStore/onLeftOut``. A key is a field or a predicate expression, in which the quotient of two
    /// integers is an integer.
    ///
    /// - Throws: as ``sum(_:as:)``.
    package func sum(_ key: String) throws(StoreError) -> PropertyListValue { try value(.sum, key) ?? .integer(0) }

    /// The sum of a key's numbers, as a number of a type: `let value: Int = try query.sum("valueInDollars")`. Items
    /// without the key are skipped. Values that are not numbers are left out and reported to `ItemStore.onLeftOut`. A
    /// key is a field or a predicate expression, in which the quotient of two integers is an integer.
    ///
    /// - Throws: `unknownField` for a field that no item has; `invalidValue` when no value is a number, and if the type
    ///   cannot hold the sum; `invalidExpression`, also for an expression that has a value for no item because of the
    ///   kinds of their values.
    public func sum<Value: NumericItemValue>(_ key: String, as type: Value.Type = Value.self) throws(StoreError)
        -> Value
    {
        try sum(key).converted(key)
    }

    /// The mean of a key's numbers; nil when there are none.
    ///
    /// - Throws: as ``sum(_:as:)``.
    public func average(_ key: String) throws(StoreError) -> Double? { try real(.average, key) }

    /// The median of a key's numbers: half of them are less, half are greater. Nil when there are none.
    ///
    /// - Throws: as ``sum(_:as:)``.
    public func median(_ key: String) throws(StoreError) -> Double? { try real(.median, key) }

    /// The number below which a percentage of a key's numbers are, from 0 to 100, interpolated linearly between two of
    /// them. Nil when there are none.
    ///
    /// - Throws: as ``sum(_:as:)``, and `invalidValue` for another percentage.
    public func percentile(_ key: String, _ percent: Double) throws(StoreError) -> Double? {
        try value(of: ItemAggregate(.percentile, key, percent: percent)).flatMap(Double.init(fieldValue:))
    }

    /// The standard deviation of what a key's numbers are a sample of; nil for fewer than two.
    ///
    /// - Throws: as ``sum(_:as:)``.
    public func standardDeviation(_ key: String) throws(StoreError) -> Double? { try real(.stddev, key) }

    /// The square of ``standardDeviation(_:)``.
    ///
    /// - Throws: as ``sum(_:as:)``.
    public func variance(_ key: String) throws(StoreError) -> Double? { try real(.variance, key) }

    package func min(_ key: String) throws(StoreError) -> PropertyListValue? { try value(.min, key) }
    package func max(_ key: String) throws(StoreError) -> PropertyListValue? { try value(.max, key) }

    /// The least of a key's values in the sort order; nil if no item has the key. Of values of several kinds, those of
    /// the most frequent kind are compared, and the others are reported to `ItemStore.onLeftOut`.
    ///
    /// - Throws: as ``sum(_:as:)``.
    public func min<Value: OrderedItemValue>(_ key: String, as type: Value.Type = Value.self) throws(StoreError)
        -> Value?
    {
        try min(key)?.converted(key)
    }

    /// The greatest of a key's values, as ``min(_:as:)``; nil if no item has the key.
    ///
    /// - Throws: as ``sum(_:as:)``.
    public func max<Value: OrderedItemValue>(_ key: String, as type: Value.Type = Value.self) throws(StoreError)
        -> Value?
    {
        try max(key)?.converted(key)
    }

    private func value(_ name: ItemAggregate.Name, _ key: String) throws(StoreError) -> PropertyListValue? {
        try value(of: ItemAggregate(name, key))
    }

    private func real(_ name: ItemAggregate.Name, _ key: String) throws(StoreError) -> Double? {
        try value(name, key).flatMap(Double.init(fieldValue:))
    }
}

extension ItemQuery: ItemAggregating {
    public func values(of functions: [ItemAggregate]) throws(StoreError) -> [PropertyListValue?] {
        try values { try functions.map(store.function) }
    }
}

extension ItemGroup: ItemAggregating {
    /// The values of functions of the group's items that are still in the store.
    public func values(of functions: [ItemAggregate]) throws(StoreError) -> [PropertyListValue?] {
        try store.columns.reporting { try functions.map { try value(store.function($0)) } }
    }

    /// A function's value for the group.
    func value(_ function: ItemAggregateFunction, isPart: Bool = false) throws -> PropertyListValue? {
        try rows.withUnsafeBufferPointer { try function.value(of: $0, isPart: isPart) }
    }
}

extension ItemStore {
    /// A function for the items as they are.
    func function(_ aggregate: ItemAggregate) throws -> ItemAggregateFunction {
        try ItemAggregateFunction(aggregate, of: columns, advice: kindAdvice)
    }

    /// Whether functions have values of fields that are declared to have days.
    package func haveDays(_ functions: [ItemAggregate]) throws -> [Bool] {
        if !columns.hasDeclarations { return functions.map { _ in false } }
        return try functions.map { aggregate in
            let field = try ItemAggregateFunction(aggregate, of: columns).field
            return field.flatMap { columns.declaration(of: $0)?.format } == .day
        }
    }
}

extension PropertyListValue {
    /// The value as one of a type.
    ///
    /// - Throws: `StoreError` with `invalidValue` if the type cannot hold it.
    func converted<Value: ItemValue>(_ field: String) throws(StoreError) -> Value {
        if let result = Value(fieldValue: self) { return result }
        throw FieldValidation.error(field, "\(Value.self)", self)
    }
}
