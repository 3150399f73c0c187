package import PredicateFormat
package import PropertyList

/// A query over a store's rows; see ``ItemQuery`` of the store above for the meaning of each part.
///
/// Each result is of the store at that moment. A function may change the store; each row present at the beginning is
/// examined once, unless it has been removed.
package struct RowQuery {
    package enum Condition {
        case predicate(FormatPredicate)
        case function((UInt32) throws -> Bool)
    }

    let store: ColumnStore
    private var refinement: ItemQueryConditions?
    package var order = ItemSortOrder()
    package var limitCount: Int?
    package var offsetCount = 0

    package init(_ store: ColumnStore) {
        self.store = store
    }

    /// The conditions, all of which a row has to satisfy.
    package var conditions: [Condition] { refinement?.all ?? [] }

    var hasConditions: Bool { refinement != nil }

    package mutating func add(_ condition: Condition) {
        refinement = ItemQueryConditions(conditions + [condition])
    }

    /// The number of rows.
    package func count() throws -> Int { try store.reporting { try countedRows() } }

    private func countedRows() throws -> Int {
        var query = self
        query.order = ItemSortOrder()
        let access = access()
        try auditConditions(access)
        if case .index(_, let ranges, isExact: true) = access {
            let found = ranges.reduce(0) { $0 + $1.count }
            return Swift.min(limitCount ?? .max, Swift.max(0, found - offsetCount))
        }
        if !hasConditions { return Swift.min(limitCount ?? .max, Swift.max(0, store.order.count - offsetCount)) }
        var count = 0
        try query.visitBatches(access, nil) { count += $0.count }
        return count
    }

    /// The rows in groups of equal values of each key, in order of appearance; no row is reused meanwhile.
    package func groups(by keys: [RowKey]) throws -> [RowGroup] {
        try store.pinningRows {
            try store.reporting {
                let rows = try rows(nil)
                if keys.count == 1, let key = keys.first {
                    var grouper = try ItemGrouper(self, key)
                    return try grouper.groups(of: rows)
                }
                var tuples = TupleNumbers(rowCount: rows.count)
                for key in keys {
                    // Made in turn: a key that is a function may change the columns that a later one reads.
                    var grouper = try ItemGrouper(self, key)
                    let numbers = try grouper.numbers(of: rows)
                    grouper.noteMissing()
                    try tuples.add(numbers, grouper.values)
                }
                return tuples.groups(of: rows)
            }
        }
    }

    /// The value of an aggregate function for the rows.
    package func aggregate(_ name: ItemAggregateFunction.Name, _ key: RowKey) throws -> PropertyListValue? {
        var query = self
        if limitCount == nil, offsetCount == 0 { query.order = ItemSortOrder() }
        return try store.reporting {
            let rows = try query.rows(nil)
            // Made last: a condition that is a function may change the columns that the key reads.
            let function = try ItemAggregateFunction(name, key, store)
            return try rows.withUnsafeBufferPointer { try function.value(of: $0) }
        }
    }
}
