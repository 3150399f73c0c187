import PredicateFormat
import PropertyList

/// The rows of a store that satisfy conditions, a batch at a time, while the store may change: a row that has left it
/// meanwhile is left out, and a value is that of the moment at which its batch is read.
///
/// No row is reused while the scan exists.
package final class ColumnScan {
    /// The number of rows in a batch.
    package static let batch = 512

    private let store: ColumnStore
    private let conditions: [ScanCondition]
    private var filters: [ScanFilter] = []
    private var filterVersion: UInt64?
    /// The rows, with holes; nil for consecutive ones.
    private var list: [UInt32]?
    private var place = 0
    private var end: Int
    /// Sorts all rows, if the list has the first ones alone.
    private var sortAll: (() throws -> [UInt32])?
    private let startVersion: UInt64

    /// Begins a scan.
    ///
    /// - Parameters:
    ///   - store: its rows are read.
    ///   - rows: the rows to examine; nil for all in order, or by an index.
    ///   - conditions: what the rows have to satisfy.
    ///   - order: the fields by which they are sorted, each of one kind alone.
    ///   - firstRows: how many rows are found before the others, where few are thought to be read.
    ///   - reserve: is called with the bytes that a sort needs, before it takes them: for the first rows here, for the
    ///     others in ``next(_:)``.
    /// - Throws: `WorkStopped`; what reserving memory throws.
    package init(
        _ store: ColumnStore, rows: [UInt32]? = nil, _ conditions: [ScanCondition],
        order: [(field: ItemField, isDescending: Bool)] = [],
        firstRows: Int? = nil, reserve: @escaping (Int) throws -> Void = { _ in }
    ) throws {
        // Given rows are those of keys, which were recorded when they were found.
        if rows == nil { store.recordWholeRead() }
        (self.store, startVersion) = (store, store.version)
        if !order.isEmpty {
            let sort = ScanSort(store: store, given: rows, conditions: conditions, order: order, reserve: reserve)
            let first = try sort.rows(firstRows)
            list = first
            self.conditions = []
            if first.count >= firstRows ?? .max { sortAll = { try sort.rows(nil) } }
        } else if rows == nil, let found = ScanIndex.best(store, conditions) {
            list = found.index.rows(found.ranks)
            self.conditions = conditions.filter { $0.field != found.index.field }
        } else {
            let isWhole = store.order.isInRowOrder && store.order.count == store.table.rowCount
            list = rows ?? (isWhole ? nil : store.order.slots)
            self.conditions = conditions
        }
        end = list?.count ?? store.order.count
        store.pinRows()
    }

    deinit { store.unpinRows() }

    /// The memory of the rows that were found before they are read, in bytes.
    package var byteCount: Int { (list?.capacity ?? 0) * MemoryLayout<UInt32>.stride }

    /// What an item takes while rows are sorted, in bytes: at most so many.
    static let sortedBytes = 32

    /// All rows that are left, or the first of them.
    func all(_ limit: Int = .max) throws -> [UInt32] {
        var all: [UInt32] = []
        try forEachBatch { batch in
            all += batch.prefix(limit - all.count)
            return all.count < limit
        }
        return all
    }

    /// Calls a body with the rows that are left, a batch at a time, until it returns false.
    func forEachBatch(_ body: (UnsafeBufferPointer<UInt32>) throws -> Bool) throws {
        try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Self.batch) { batch in
            while case let count = try next(batch), count > 0 {
                guard try body(UnsafeBufferPointer(rebasing: batch[..<count])) else { return }
            }
        }
    }

    /// Whether the store has changed since the scan began.
    package var isChanged: Bool { store.version != startVersion }

    /// Puts the next rows into a buffer.
    ///
    /// - Returns: their number; 0 at the end.
    /// - Throws: `WorkStopped`; what reserving memory throws.
    package func next(_ rows: UnsafeMutableBufferPointer<UInt32>) throws -> Int {
        while true {
            if place == end, let sortAll {
                self.sortAll = nil
                let known = Set(list ?? [])
                // The store may have changed since.
                list = try sortAll().filter { !known.contains($0) }
                (place, end) = (0, list?.count ?? 0)
            }
            if place == end { return 0 }
            if Interruption.isDue { throw WorkStopped() }
            let count = rows.fill(from: list, &place, end)
            var found = SelectionVector(rebasing: rows[..<count])
            if isChanged { found = found.first(found.keep { store.table.state($0) == .live }) }
            if !conditions.isEmpty {
                if filterVersion != store.version {
                    filters = conditions.map { ScanFilter($0, store) }
                    filterVersion = store.version
                }
                for filter in filters where !found.isEmpty { found = found.first(filter.keep(found, store)) }
            }
            if !found.isEmpty { return found.count }
        }
    }
}

extension ColumnStore {
    /// Whether a field has dates alone, each the beginning of a day in UTC. O(n).
    package func haveNoTimes(_ field: ItemField) -> Bool {
        var hasDates = false
        for row in 0..<UInt32(table.rowCount) {
            let cell = table.cell(row, field)
            if cell.isAbsent { continue }
            guard cell.kind == .date, cell.realValue.truncatingRemainder(dividingBy: 86400) == 0 else { return false }
            hasDates = true
        }
        return hasDates
    }
}

/// The rows of a scan by the values of fields: in the order of an index where one has it, and sorted otherwise.
struct ScanSort {
    /// The store whose rows are sorted.
    let store: ColumnStore
    /// The rows to examine; nil for all.
    let given: [UInt32]?
    /// What the rows have to satisfy.
    let conditions: [ScanCondition]
    /// The fields, each of one kind alone.
    let order: [(field: ItemField, isDescending: Bool)]
    /// Called with the bytes that a sort needs, before it takes them; an error ends the scan.
    let reserve: (Int) throws -> Void

    /// The first rows of the order; all without a limit.
    ///
    /// - Throws: `WorkStopped`; what reserving memory throws.
    func rows(_ limit: Int?) throws -> [UInt32] {
        guard order.count == 1 else { return try sorted(conditions, limit) }
        let (field, isDescending) = order[0]
        // NaN is NULL: it comes with the rows that have no value.
        let hasReals = store.isNumberOrder(field) && !store.isPlainOrder(field, alsoDates: false)
        let present =
            conditions + (hasReals ? [ScanCondition(field, .compare(.greaterThanOrEqual, .real(-.infinity)))] : [])
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
            if let index {
                var walk = IndexWalk(index.index, isDescending: isDescending, wanted: limit)
                return Array((walk.rows(index.ranks) ?? []).prefix(limit))
            }
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
    /// known to be in the order of their texts as far as their years have four digits; equal ones are together in any
    /// case.
    package func isPlainOrder(_ field: ItemField, alsoDates: Bool) -> Bool {
        let kinds = cellKinds(field)
        return kinds.isOnly(.shortText, .longText) || kinds.isOnly(.integer) || kinds.isOnly(.no, .yes)
            || alsoDates && kinds.isOnly(.date)
    }

    /// Whether all values of a field are numbers. Among them may be NaN, which is NULL in SQL: a scan by one such field
    /// has it where it has those without a value.
    package func isNumberOrder(_ field: ItemField) -> Bool {
        cellKinds(field).isOnly(.integer, .real, .single)
    }
}
