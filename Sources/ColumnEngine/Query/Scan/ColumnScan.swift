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
    ///   - rows: the rows to examine; nil for all in order.
    ///   - conditions: what the rows have to satisfy.
    ///   - order: the fields by which they are sorted, each of one kind alone.
    ///   - firstRows: how many rows are found before the others, where few are thought to be read.
    /// - Throws: `WorkStopped`.
    package init(
        _ store: ColumnStore, rows: [UInt32]? = nil, _ conditions: [ScanCondition],
        order: [(field: ItemField, isDescending: Bool)] = [],
        firstRows: Int? = nil
    ) throws {
        // Given rows are those of keys, which were recorded when they were found.
        if rows == nil { store.recordWholeRead() }
        (self.store, startVersion) = (store, store.version)
        var list = rows
        if rows == nil, !store.order.isInRowOrder || store.order.count != store.table.rowCount {
            list = store.order.slots
        }
        if order.isEmpty {
            (self.list, self.conditions) = (list, conditions)
        } else {
            let first = firstRows ?? .max
            let sorted = try Self.sorted(store, list, conditions, order, firstRows)
            self.list = sorted
            self.conditions = []
            if sorted.count >= first { sortAll = { try Self.sorted(store, list, conditions, order, nil) } }
        }
        end = self.list?.count ?? store.order.count
        store.pinRows()
    }

    deinit { store.unpinRows() }

    private static func sorted(
        _ store: ColumnStore, _ rows: [UInt32]?, _ conditions: [ScanCondition],
        _ order: [(field: ItemField, isDescending: Bool)], _ limit: Int?
    ) throws -> [UInt32] {
        let keys = order.map { ItemSortKey(.field($0.field), isDescending: $0.isDescending) }
        for key in order { _ = store.materialise(key.field) }
        let scan = try ColumnScan(store, rows: rows, conditions)
        var sorter = try ItemSorter(store, keys, keeping: limit)
        let batch = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: Self.batch)
        defer { batch.deallocate() }
        while case let count = try scan.next(batch), count > 0 {
            try sorter.add(UnsafeBufferPointer(rebasing: batch[..<count]))
        }
        let sorted = sorter.finish()
        if Interruption.isDue { throw WorkStopped() }
        return sorted
    }

    /// Whether the store has changed since the scan began.
    package var isChanged: Bool { store.version != startVersion }

    /// Puts the next rows into a buffer.
    ///
    /// - Returns: their number; 0 at the end.
    /// - Throws: `WorkStopped`.
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
            var count = 0
            if let list {
                list.withUnsafeBufferPointer { list in
                    while count < rows.count, place < end {
                        rows[count] = list[place]
                        count += list[place] != ItemOrder.hole ? 1 : 0
                        place += 1
                    }
                }
            } else {
                count = min(rows.count, end - place)
                let first = UInt32(truncatingIfNeeded: place)
                for index in 0..<count { rows[index] = first &+ UInt32(truncatingIfNeeded: index) }
                place += count
            }
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
