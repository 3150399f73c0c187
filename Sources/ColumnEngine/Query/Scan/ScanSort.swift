import PropertyList

/// The rows of a scan by the values of fields: in the order of an index where one has it, and sorted otherwise.
struct ScanSort {
    private let store: ColumnStore
    private let given: [UInt32]?
    private let conditions: [ScanCondition]
    private let order: [(field: ItemField, isDescending: Bool)]
    /// Called with the bytes that a sort needs, before it takes them.
    private let reserve: (Int) throws -> Void

    /// - Parameters:
    ///   - store: its rows are sorted.
    ///   - rows: the rows to examine; nil for all.
    ///   - conditions: what the rows have to satisfy.
    ///   - order: the fields, each of one kind alone.
    ///   - reserve: is called with the bytes that a sort needs, before it takes them; an error ends the scan.
    init(
        _ store: ColumnStore, _ rows: [UInt32]?, _ conditions: [ScanCondition],
        _ order: [(field: ItemField, isDescending: Bool)], reserve: @escaping (Int) throws -> Void
    ) {
        (self.store, given, self.conditions, self.order) = (store, rows, conditions, order)
        self.reserve = reserve
    }

    /// The first rows of the order; all without a limit.
    ///
    /// - Throws: `WorkStopped`; what reserving memory throws.
    func rows(_ limit: Int?) throws -> [UInt32] {
        guard order.count == 1 else { return try sorted(conditions, limit) }
        let (field, isDescending) = order[0]
        // NaN is NULL: it comes with the rows that have no value.
        let hasReals = store.isNumberOrder(field) && !store.isPlainOrder(field, alsoDates: false)
        let present =
            conditions + (hasReals ? [ScanCondition(field, .compare(.atLeast, .real(-.infinity)))] : [])
        // All of them are sorted faster than they are found by an index.
        let index = given == nil && limit != nil ? ScanIndex.ordered(store, present, by: field) : nil
        if index == nil, !hasReals { return try sorted(conditions, limit) }
        // A condition that an index answers leaves no row without a value.
        let mayLack = index.map { conditions.isEmpty && $0.count < store.order.count } ?? true
        let limit = limit ?? .max
        func lacking(_ limit: Int) throws -> [UInt32] {
            guard mayLack, limit > 0 else { return [] }
            return try ColumnScan(store, rows: given, conditions + [ScanCondition(field, .isAbsent)]).all(limit)
        }
        func having(_ limit: Int) throws -> [UInt32] {
            if limit == 0 { return [] }
            if let index { return index.index.rows(sorted: index.ranks, descending: isDescending, limit: limit) }
            return try sorted(present, limit == .max ? nil : limit)
        }
        let first = isDescending ? try having(limit) : try lacking(limit)
        let rest = isDescending ? try lacking(limit - first.count) : try having(limit - first.count)
        if Interruption.isDue { throw WorkStopped() }
        return first + rest
    }

    private func sorted(_ conditions: [ScanCondition], _ limit: Int?) throws -> [UInt32] {
        // A sort with a limit holds up to twice as many rows.
        let count = given?.count ?? store.order.count
        try reserve(ColumnScan.sortedBytes * min(count, 2 * min(limit ?? count, count)))
        let keys = order.map { ItemSortKey(.field($0.field), isDescending: $0.isDescending) }
        for key in order { _ = store.materialise(key.field) }
        var sorter = try ItemSorter(store, keys, keeping: limit)
        try ColumnScan(store, rows: given, conditions).forEachBatch { batch in
            try sorter.add(batch)
            return true
        }
        let sorted = sorter.finish()
        if Interruption.isDue { throw WorkStopped() }
        return sorted
    }
}

extension ColumnStore {
    /// The number of different values of a field; nil if it is not known without counting.
    package func distinctCount(_ field: ItemField) -> Int? {
        guard let column = table.column(field), column.encoding == .codes else { return nil }
        return column.coded.dictionary.count
    }

    /// Whether a scan's order by a field is that of SQL: all its values are texts, or integers, or booleans. Dates are
    /// in the order of their texts as far as their years have four digits; equal ones are together in any case.
    package func isPlainOrder(_ field: ItemField, alsoDates: Bool) -> Bool {
        let kinds = cellKinds(field)
        func areOnly(_ allowed: Cell.Kind...) -> Bool {
            allowed.reduce(kinds) { $0 & ~(1 << UInt16($1.rawValue)) } == 0
        }
        return areOnly(.shortText, .longText) || areOnly(.integer) || areOnly(.no, .yes) || alsoDates && areOnly(.date)
    }

    /// Whether all values of a field are numbers. Among them may be NaN, which is NULL in SQL: a scan by one such field
    /// has it where it has those without a value.
    package func isNumberOrder(_ field: ItemField) -> Bool {
        [Cell.Kind.integer, .real, .single].reduce(cellKinds(field)) { $0 & ~(1 << UInt16($1.rawValue)) } == 0
    }
}
