import PredicateFormat
import PropertyList

extension RowQuery {
    /// The rows of the answer, in order.
    package func rows() throws -> [UInt32] {
        var statistics = ItemQueryStatistics()
        return try rows(&statistics)
    }

    func rows(_ statistics: inout ItemQueryStatistics) throws -> [UInt32] {
        if let rows = rowsOfIndex(&statistics) { return rows }
        let access = access(builds: statistics.isExplained)
        guard !order.isEmpty else {
            var rows: [UInt32] = []
            try visitBatches(access, &statistics) { rows += $0 }
            return rows
        }
        if let rows = rowsInIndexOrder(access, &statistics) { return rows }
        var unlimited = self
        (unlimited.limitCount, unlimited.offsetCount) = (nil, 0)
        let wanted = limitCount.map { $0.addingReportingOverflow(offsetCount) }
        let kept = wanted.flatMap { $0.overflow || $0.partialValue >= store.order.count ? nil : $0.partialValue }
        if order.asksFunctions {
            unlimited.order = ItemSortOrder()
            return try store.pinningRows {
                var sorter = try ItemSorter(self, order.keys, keeping: kept, rows: try unlimited.rows(&statistics))
                return Array(sorter.finish().dropFirst(offsetCount).prefix(limitCount ?? .max))
            }
        }
        var sorter = ItemSorter(self, order.keys, keeping: kept)
        try unlimited.visitBatches(access, &statistics) { try sorter.add(UnsafeBufferPointer($0)) }
        let sorted = sorter.finish()
        if Interruption.isDue { throw WorkStopped() }
        return Array(sorted.dropFirst(offsetCount).prefix(limitCount ?? .max))
    }

    /// Calls a body, which may change the store or not, with the rows that satisfy the conditions, in the store's order,
    /// between offset and limit, until it says false.
    package func visit(changes: Bool, _ body: (UInt32) throws -> Bool) throws {
        var statistics = ItemQueryStatistics()
        try visit(access(), &statistics, changes: changes, body)
    }

    /// The same with what the conditions leave of each batch of rows.
    func visitBatches(
        _ access: ItemAccess, _ statistics: inout ItemQueryStatistics, _ body: (SelectionVector) throws -> Void
    ) throws {
        let isDone = try filterBatches(access, &statistics, changes: false) {
            try body($0)
            return true
        }
        if isDone { return }
        try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: ItemFilter.batch) { batch in
            var count = 0
            try visit(access, &statistics, changes: false) { row in
                batch[count] = row
                count += 1
                if count == batch.count {
                    try body(batch)
                    count = 0
                }
                return true
            }
            if count > 0 { try body(batch.first(count)) }
        }
    }

    /// Whether the conditions are passes over batches, whose rows the body was given then.
    private func filterBatches(
        _ access: ItemAccess, _ statistics: inout ItemQueryStatistics, changes: Bool,
        _ body: (SelectionVector) throws -> Bool
    ) throws -> Bool {
        if case .index(_, _, isExact: true) = access { return false }
        guard !changes, limitCount == nil, offsetCount == 0 else { return false }
        guard let filter = ItemFilter(self) else { return false }
        statistics.index = access.indexField
        return try store.pinningRows {
            switch access {
            case .scan:
                if let rows = store.order.rowRange {
                    statistics.examined = try filter.forEachBatch(of: rows, body)
                } else {
                    statistics.examined = try filter.forEachBatch(of: store.order.slots, body)
                }
            case .keys(let rows): statistics.examined = try filter.forEachBatch(of: rows, body)
            case .index(let index, let ranges, _):
                statistics.examined = try filter.forEachBatch(of: rows(index, ranges), body)
            }
            return true
        }
    }

    func visit(
        _ access: ItemAccess, _ statistics: inout ItemQueryStatistics, changes: Bool,
        _ body: (UInt32) throws -> Bool
    ) throws {
        let isDone =
            try hasConditions
            && filterBatches(access, &statistics, changes: changes) { batch in
                for row in batch where try !body(row) { return false }
                return true
            }
        if isDone { return }
        statistics.index = access.indexField
        var toSkip = offsetCount
        var left = limitCount ?? .max
        if left == 0 { return }
        var examined = 0
        defer { statistics.examined = examined }
        @inline(__always) func deliver(_ row: UInt32) throws -> Bool {
            if toSkip > 0 {
                toSkip -= 1
                return true
            }
            left -= 1
            return try body(row) && left > 0
        }
        try store.pinningRows {
            let candidates: [UInt32]
            switch access {
            // The order as it is now; it is copied only if someone changes it meanwhile.
            case .scan: candidates = store.order.slots
            case .keys(let rows): candidates = rows
            case .index(let index, let ranges, _): candidates = rows(index, ranges)
            }
            var isExact = false
            if case .index(_, _, isExact: true) = access { isExact = true }
            let tests = isExact ? [] : conditions.map(test)
            var pace = InterruptionPace()
            for row in candidates where row != ItemOrder.hole && store.table.state(row) == .live {
                examined += 1
                if pace.isDue() { throw WorkStopped() }
                var holds = true
                for test in tests where try !test(row) {
                    holds = false
                    break
                }
                if holds, try !deliver(row) { return }
            }
        }
    }

    func test(_ condition: Condition) -> (UInt32) throws -> Bool {
        switch condition {
        case .predicate(let predicate):
            return predicate.compiled { field in accessor(field) }
        case .function(let isIncluded): return isIncluded
        }
    }

    /// How a predicate reads a field, in the type that the store keeps it in.
    func accessor(_ name: String) -> PredicateAccessor<UInt32> {
        let store = store
        if name == PredicateKeyPath.selfKey {
            return .value { row in .dictionary(store.dictionary(of: row)) }
        }
        guard let field = store.fields.existing(name) else { return .absent }
        switch field {
        case .name:
            // Row by row: of a mapped archive only what the cheaper conditions leave is read.
            return .utf8 { row, body in body(Cell.text(at: store.table.names.pointer(row))) }
        case .serialNumber:
            return .utf8 { row, body in
                let pointer = store.table.serials.pointer(row)
                return pointer.pointee.isAbsent ? body(nil) : body(Cell.text(at: pointer))
            }
        case .valueInDollars: return .integer { row in store.table.values[row] }
        case .dateCreated:
            return .date { row in PropertyListDate(secondsSinceReferenceDate: store.table.dates[row]) }
        case .itemKey: return .utf8 { row, body in store.table.withKey(row) { body($0) } }
        default: return customAccessor(field.rawValue)
        }
    }

    private func customAccessor(_ field: UInt32) -> PredicateAccessor<UInt32> {
        let store = store
        _ = store.materialise(ItemField(rawValue: field))
        switch store.table.soleKind(field) {
        case .text:
            return .utf8 { row, body in
                let cell = store.table.customCell(row, field)
                return cell.isAbsent ? body(nil) : cell.withText { body($0) }
            }
        case .integer:
            return .integer { row in
                let cell = store.table.customCell(row, field)
                return cell.isAbsent ? nil : cell.integerValue
            }
        case .date:
            return .date { row in
                let cell = store.table.customCell(row, field)
                return cell.isAbsent ? nil : PropertyListDate(secondsSinceReferenceDate: cell.realValue)
            }
        case .mixed:
            return .value { row in store.heap.value(store.table.customCell(row, field)) }
        }
    }
}
