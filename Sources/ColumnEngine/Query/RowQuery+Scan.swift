import PredicateFormat
import PropertyList

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
        let kept = wanted.flatMap { $0.overflow || $0.partialValue >= store.order.count ? nil : $0.partialValue }
        if order.asksFunctions {
            unlimited.order = ItemSortOrder()
            return try store.pinningRows {
                let rows = try unlimited.foundRows(unlimited.access(builds: profile != nil), profile)
                let start = profile.map { _ in ContinuousClock.now }
                var sorter = try ItemSorter(self, order.keys, keeping: kept, rows: rows)
                let sorted = sorter.finish()
                sorter.noteOthers()
                profile?.sort.add(rowsIn: rows.count, rowsOut: sorted.count, since: start)
                return Array(sorted.dropFirst(offsetCount).prefix(limitCount ?? .max))
            }
        }
        var sorter = try ItemSorter(self, order.keys, keeping: kept)
        try unlimited.visitBatches(access, profile) { batch in
            let start = profile.map { _ in ContinuousClock.now }
            try sorter.add(UnsafeBufferPointer(batch))
            profile?.sort.add(rowsIn: batch.count, rowsOut: 0, since: start)
        }
        let start = profile.map { _ in ContinuousClock.now }
        let sorted = sorter.finish()
        sorter.noteOthers()
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
        defer { if let start { profile?.noteFound(since: start) } }
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
            profile.noteFilter(plan.children, rowsIn: examined, rowsOut: plan.rowsOut)
            profile.noteSource(source(access, rowsOut: examined))
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
                let kept = (offsetCount - toSkip) + ((limitCount ?? .max) - left)
                profile.noteFilter(counts.map { $0.plan() }, rowsIn: examined, rowsOut: kept)
                profile.noteSource(source(access, rowsOut: examined))
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
