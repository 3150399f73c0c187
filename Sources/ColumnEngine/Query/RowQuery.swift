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
                    grouper.recordMissing()
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

/// The conditions of a query, shared by all of its refinements.
final class ItemQueryConditions {
    let all: [RowQuery.Condition]
    init(_ all: [RowQuery.Condition]) { self.all = all }
}

extension RowQuery {
    /// The rows of the result, in order. The operators report to the profile, if there is one.
    func rows(_ profile: ItemQueryProfile?) throws -> [UInt32] {
        if let rows = rowsOfIndex(profile) { return rows }
        let access = access(builds: profile != nil)
        try auditConditions(access)
        guard !order.isEmpty else { return try foundRows(access, profile) }
        if let rows = rowsInIndexOrder(access, profile) { return rows }
        var unlimited = self
        (unlimited.limitCount, unlimited.offsetCount) = (nil, 0)
        let wanted = limitCount.map { $0.addingReportingOverflow(offsetCount) }
        let topCount = wanted.flatMap { $0.overflow || $0.partialValue >= store.order.count ? nil : $0.partialValue }
        if order.asksFunctions {
            unlimited.order = ItemSortOrder()
            return try store.pinningRows {
                let rows = try unlimited.foundRows(unlimited.access(builds: profile != nil), profile)
                let start = profile.map { _ in ContinuousClock.now }
                var sorter = try ItemSorter(self, order.keys, keeping: topCount, rows: rows)
                let sorted = sorter.finish()
                sorter.recordOtherKinds()
                profile?.sort.add(rowsIn: rows.count, rowsOut: sorted.count, since: start)
                return Array(sorted.dropFirst(offsetCount).prefix(limitCount ?? .max))
            }
        }
        var sorter = try ItemSorter(self, order.keys, keeping: topCount)
        try unlimited.visitBatches(access, profile) { batch in
            let start = profile.map { _ in ContinuousClock.now }
            try sorter.add(UnsafeBufferPointer(batch))
            profile?.sort.add(rowsIn: batch.count, rowsOut: 0, since: start)
        }
        let start = profile.map { _ in ContinuousClock.now }
        let sorted = sorter.finish()
        sorter.recordOtherKinds()
        profile?.sort.add(rowsIn: 0, rowsOut: sorted.count, since: start)
        if Interruption.isDue { throw WorkStopped() }
        return Array(sorted.dropFirst(offsetCount).prefix(limitCount ?? .max))
    }

    /// The rows that satisfy the conditions, in the store's order.
    private func foundRows(_ access: ItemAccess, _ profile: ItemQueryProfile?) throws -> [UInt32] {
        var rows: [UInt32] = []
        try visitBatches(access, profile) { rows += $0 }
        return rows
    }

    package func rows() throws -> [UInt32] { try store.reporting { try rows(nil) } }

    /// Calls a body with the rows that satisfy the conditions, in the store's order, between offset and limit, until it
    /// returns false. `changes` tells whether the body may change the store.
    package func visit(changes: Bool, _ body: (UInt32) throws -> Bool) throws {
        let access = access()
        try store.reporting { try auditConditions(access) }
        try visit(access, nil, changes: changes, body)
    }

    /// The same with the rows of each batch that satisfy the conditions.
    func visitBatches(
        _ access: ItemAccess, _ profile: ItemQueryProfile?, _ body: (SelectionVector) throws -> Void
    ) throws {
        let start = profile.map { _ in ContinuousClock.now }
        defer { if let start { profile?.recordFound(since: start) } }
        let isDone = try filterBatches(access, profile, changes: false) {
            try body($0)
            return true
        }
        if isDone { return }
        try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: ItemFilter.batch) { batch in
            var count = 0
            try visit(access, profile, changes: false) { row in
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

    /// Whether the conditions are passes over batches; if so, the body was called with the result.
    private func filterBatches(
        _ access: ItemAccess, _ profile: ItemQueryProfile?, changes: Bool, _ body: (SelectionVector) throws -> Bool
    ) throws -> Bool {
        if case .index(_, _, isExact: true) = access { return false }
        guard !changes, limitCount == nil, offsetCount == 0 else { return false }
        guard let filter = ItemFilter(self, profile) else { return false }
        let examined = try store.pinningRows {
            switch access {
            case .scan:
                guard let rows = store.order.rowRange else {
                    return try filter.forEachBatch(of: store.order.slots, body)
                }
                return try filter.forEachBatch(of: rows, body)
            case .keys(let rows): return try filter.forEachBatch(of: rows, body)
            case .index(let index, let ranges, _): return try filter.forEachBatch(of: rows(index, ranges), body)
            }
        }
        if let profile, let plan = filter.plan {
            profile.recordFilter(plan.children, rowsIn: examined, rowsOut: plan.rowsOut)
            profile.recordSource(source(access, rowsOut: examined))
        }
        return true
    }

    func visit(
        _ access: ItemAccess, _ profile: ItemQueryProfile?, changes: Bool, _ body: (UInt32) throws -> Bool
    ) throws {
        let isDone =
            try hasConditions
            && filterBatches(access, profile, changes: changes) { batch in
                for row in batch where try !body(row) { return false }
                return true
            }
        if isDone { return }
        var isExact = false
        if case .index(_, _, isExact: true) = access { isExact = true }
        let counts = profile == nil || isExact ? [] : counts()
        var toSkip = offsetCount
        var left = limitCount ?? .max
        var examined = 0
        defer {
            if let profile {
                let selected = (offsetCount - toSkip) + ((limitCount ?? .max) - left)
                profile.recordFilter(counts.map { $0.plan() }, rowsIn: examined, rowsOut: selected)
                profile.recordSource(source(access, rowsOut: examined))
            }
        }
        if left == 0 { return }
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
            // The current order; it is copied only if it is changed meanwhile.
            case .scan: candidates = store.order.slots
            case .keys(let rows): candidates = rows
            case .index(let index, let ranges, _): candidates = rows(index, ranges)
            }
            var tests = isExact ? [] : conditions.map(test)
            if !counts.isEmpty { tests = zip(counts, tests).map { $0.counting($1) } }
            for row in candidates where row != ItemOrder.hole && store.table.state(row) == .live {
                examined += 1
                var holds = true
                for test in tests where try !test(row) {
                    holds = false
                    break
                }
                // After an interruption conditions end early, with any result.
                if Interruption.isDueAtStep { throw WorkStopped() }
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

    /// Reads a field for a predicate in the type that the store keeps.
    func accessor(_ name: String) -> PredicateAccessor<UInt32> {
        let store = store
        if name == PredicateKeyPath.selfKey {
            return .value { row in .fields(store.dictionary(of: row)) }
        }
        guard let field = store.fields.existing(name) else { return .absent }
        if field == store.table.keyField { return .utf8 { row, body in store.table.withKey(row) { body($0) } } }
        // Row by row: in a mapped archive, a declared field is read only for rows that passed the cheaper conditions.
        _ = store.materialise(field)
        switch store.table.soleKind(field) {
        case .text:
            return .utf8 { row, body in
                let cell = store.table.cell(row, field)
                return cell.isAbsent ? body(nil) : cell.withText { body($0) }
            }
        case .integer:
            return .integer { row in
                let cell = store.table.cell(row, field)
                return cell.isAbsent ? nil : cell.integerValue
            }
        case .date:
            return .date { row in
                let cell = store.table.cell(row, field)
                return cell.isAbsent ? nil : PropertyListDate(secondsSinceReferenceDate: cell.realValue)
            }
        case .mixed:
            return .value { row in store.heap.value(store.table.cell(row, field)) }
        }
    }
}
