import PredicateFormat
import PropertyList

extension ItemQuery {
    /// The rows of the answer, in order.
    func rows() throws -> [UInt32] {
        var statistics = ItemQueryStatistics()
        return try rows(&statistics)
    }

    func rows(_ statistics: inout ItemQueryStatistics) throws -> [UInt32] {
        if let rows = rowsOfIndex(&statistics) { return rows }
        let access = access(builds: statistics.isExplained)
        guard !order.isEmpty else {
            var rows: [UInt32] = []
            try visit(access, &statistics, changes: false) { row in
                rows.append(row)
                return true
            }
            return rows
        }
        if let rows = rowsInIndexOrder(access, &statistics) { return rows }
        var unlimited = self
        (unlimited.limitCount, unlimited.offsetCount) = (nil, 0)
        let wanted = limitCount.map { $0.addingReportingOverflow(offsetCount) }
        let kept = wanted.flatMap { $0.overflow || $0.partialValue >= store.count ? nil : $0.partialValue }
        var sorter = ItemSorter(store, order.keys, keeping: kept)
        try unlimited.visit(access, &statistics, changes: false) { row in
            sorter.add(row)
            return true
        }
        let sorted = sorter.finish()
        if Interruption.isDue { throw WorkStopped() }
        return Array(sorted.dropFirst(offsetCount).prefix(limitCount ?? .max))
    }

    /// Calls a body, which may change the store or not, with the rows that satisfy the conditions, in the store's order,
    /// between offset and limit, until it says false.
    func visit(changes: Bool, _ body: (UInt32) throws -> Bool) throws {
        var statistics = ItemQueryStatistics()
        try visit(access(), &statistics, changes: changes, body)
    }

    /// The conditions as passes, when these may look at many items ahead of the body.
    private func filter(changes: Bool) -> ItemFilter? {
        !changes && hasConditions && limitCount == nil && offsetCount == 0 ? ItemFilter(self) : nil
    }

    func visit(
        _ access: ItemAccess, _ statistics: inout ItemQueryStatistics, changes: Bool,
        _ body: (UInt32) throws -> Bool
    ) throws {
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
            case .scan:
                if let rows = store.order.untouchedSlots, let filter = filter(changes: changes) {
                    examined = try filter.forEach(of: rows, body)
                    return
                }
                // The order as it is now; it is copied only if someone changes it meanwhile.
                candidates = store.order.slots
            case .keys(let rows): candidates = rows
            case .index(let index, let ranges, _): candidates = rows(index, ranges)
            }
            var isExact = false
            if case .index(_, _, isExact: true) = access { isExact = true }
            if !isExact, let filter = filter(changes: changes) {
                examined = try filter.forEach(of: candidates, body)
                return
            }
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
        case .function(let isIncluded):
            let store = store
            return { row in
                // An earlier function may have removed it.
                guard store.table.state(row) == .live else { return false }
                return try isIncluded(store.item(row: row)) && store.table.state(row) == .live
            }
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
        switch store.table.soleKind(field) {
        case .text:
            return .utf8 { row, body in
                guard let pointer = store.table.custom[row].pointer(field) else { return body(nil) }
                return body(Cell.text(at: pointer))
            }
        case .integer:
            return .integer { row in store.table.custom[row].pointer(field)?.pointee.integerValue }
        case .date:
            return .date { row in
                store.table.custom[row].pointer(field).map {
                    PropertyListDate(secondsSinceReferenceDate: $0.pointee.realValue)
                }
            }
        case .mixed:
            return .value { row in store.heap.value(store.table.custom[row][field]) }
        }
    }
}

extension ItemStore {
    /// An item as a dictionary, for `SELF`.
    func dictionary(of row: UInt32) -> [String: PropertyListValue] {
        let record = fields(of: row)
        var result = record.custom
        for field in ItemField.domain {
            if let value = value(row, field) { result[name(of: field)] = value }
        }
        return result
    }
}
