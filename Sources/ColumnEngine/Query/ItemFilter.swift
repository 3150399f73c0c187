import PredicateFormat
import PropertyList

/// A query's predicates as passes over batches of rows.
struct ItemFilter {
    /// Rows per batch.
    static let batch = 1024

    private let store: ColumnStore
    private let test: VectorTest
    private let profile: ItemQueryProfile?

    /// Nil if a condition is a function, which may change the store.
    init?(_ query: RowQuery, _ profile: ItemQueryProfile?) {
        store = query.store
        self.profile = profile
        let planner = VectorPlanner(query, isCounted: profile != nil)
        var plans: [PredicatePlan] = []
        for condition in query.conditions {
            guard case .predicate(let predicate) = condition else { return nil }
            if case .all(let parts) = predicate.plan { plans += parts } else { plans.append(predicate.plan) }
        }
        test = planner.test(.all(plans))
    }

    /// The counts of the conditions; nil without a profile.
    var plan: ItemQueryPlan? { test.plans.first }

    /// Calls a body with the rows of each batch that satisfy the predicates, in order, until it returns false. The
    /// store must not change meanwhile.
    ///
    /// - Returns: the number of rows examined, without holes of the store's order.
    func forEachBatch(of rows: [UInt32], _ body: (SelectionVector) throws -> Bool) throws -> Int {
        try forEachBatch(rows.count, body) { range, batch in
            var count = 0
            for row in rows[range] where row != ItemOrder.hole {
                batch[count] = row
                count += 1
            }
            return count
        }
    }

    /// The same for consecutive rows.
    func forEachBatch(of rows: Range<UInt32>, _ body: (SelectionVector) throws -> Bool) throws -> Int {
        guard let halves = try halves(of: rows) else { return try scan(rows, body) }
        profile?.threads = halves.count
        for var half in halves {
            let goesOn = try half.withUnsafeMutableBufferPointer { half in
                for start in stride(from: 0, to: half.count, by: Self.batch) {
                    let batch = SelectionVector(rebasing: half[start..<min(start + Self.batch, half.count)])
                    if try !body(batch) { return false }
                }
                return true
            }
            if !goesOn { break }
        }
        return rows.count
    }

    private func scan(_ rows: Range<UInt32>, _ body: (SelectionVector) throws -> Bool) throws -> Int {
        try forEachBatch(rows.count, body) { range, batch in
            let first = rows.lowerBound + UInt32(range.lowerBound)
            for place in 0..<range.count { batch[place] = first &+ UInt32(truncatingIfNeeded: place) }
            return range.count
        }
    }

    // `fill` writes the existing ones of some rows, and returns their number.
    @inline(__always)
    private func forEachBatch(
        _ rowCount: Int, _ body: (SelectionVector) throws -> Bool, _ fill: (Range<Int>, SelectionVector) -> Int
    ) throws -> Int {
        var examined = 0
        try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Self.batch) { batch in
            for start in stride(from: 0, to: rowCount, by: Self.batch) {
                if Interruption.isDue { throw WorkStopped() }
                let count = fill(start..<min(start + Self.batch, rowCount), batch)
                examined += count
                let kept = test.keep(batch.first(count), store)
                // After an interruption conditions end early, with any result.
                if Interruption.isDueAtStep { throw WorkStopped() }
                if kept > 0, try !body(batch.first(kept)) { return }
            }
        }
        return examined
    }

    // MARK: On two threads

    /// The rows that satisfy the predicates, in halves found by two threads; nil if one is required or faster.
    private func halves(of rows: Range<UInt32>) throws -> [[UInt32]]? {
        guard rows.count >= TwoThreads.least, !test.isTrivial, test.readsColumnsAlone else { return nil }
        return try TwoThreads.map(Int(rows.lowerBound)..<Int(rows.upperBound)) { range in
            Result {
                var found: [UInt32] = []
                _ = try scan(UInt32(range.lowerBound)..<UInt32(range.upperBound)) {
                    found += $0
                    return true
                }
                return found
            }
        }.map { try $0.get() }
    }
}
