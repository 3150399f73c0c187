import PredicateFormat
import PropertyList

/// An operator of a running query: the next one pulls its rows, a batch at a time.
protocol RowOperator: AnyObject {
    /// Puts the next rows into a batch, in order.
    ///
    /// - Returns: their number; 0 at the end.
    func next(_ batch: SelectionVector) throws -> Int

    /// All rows that are left, in order.
    func all() throws -> [UInt32]

    /// What it has done, and its inputs: for an explained query.
    var plan: ItemQueryPlan { get }
}

extension RowOperator {
    /// Calls a body with the rows of each batch.
    func forEachBatch(_ body: (SelectionVector) throws -> Void) throws {
        try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: SelectionVector.batch) { batch in
            while case let count = try next(batch), count > 0 { try body(batch.first(count)) }
        }
    }

    func all() throws -> [UInt32] {
        var rows: [UInt32] = []
        try forEachBatch { rows += $0 }
        return rows
    }
}

/// The source of a query's rows, in the store's order: all of them, or those with certain keys or in a part of an index.
///
/// It tests conditions row by row if one may change the store, or if no more rows than requested are to be examined.
final class RowScan: RowOperator {
    private let query: ItemQuery
    private let access: ItemAccess
    /// The rows, with holes; nil for consecutive ones. The store's order is copied only if it is changed meanwhile.
    private let rows: [UInt32]?
    private var place = 0
    private let end: Int
    /// Whether rows may leave the store meanwhile.
    private let mayChange: Bool
    private var tests: [(UInt32) throws -> Bool] = []
    private var counts: [ConditionCount] = []
    private var (examined, rowsOut) = (0, 0)

    init(_ query: ItemQuery, _ access: ItemAccess, mayChange: Bool = false) {
        (self.query, self.access, self.mayChange) = (query, access, mayChange)
        switch access {
        case .scan: rows = query.columns.order.isInRowOrder && !mayChange ? nil : query.columns.order.slots
        case .keys(let found): rows = found
        case .index(let index, let ranges, _): rows = index.rows(ranges)
        }
        end = rows?.count ?? query.columns.order.count
    }

    /// Some of consecutive rows.
    init(_ query: ItemQuery, _ range: Range<Int>) {
        (self.query, access, rows, mayChange) = (query, .scan, nil, false)
        (place, end) = (range.lowerBound, range.upperBound)
    }

    /// Tests the query's conditions row by row.
    func addTests(isExplained: Bool) {
        tests = query.conditions.map(query.test)
        guard isExplained else { return }
        counts = query.counts()
        tests = zip(counts, tests).map { $0.counting($1) }
    }

    /// Takes the remaining rows, if they are consecutive and many.
    func takeRange(ofAtLeast least: Int) -> Range<Int>? {
        guard rows == nil, end - place >= least else { return nil }
        defer { (examined, place) = (end - place, end) }
        return place..<end
    }

    /// The next row that is in the store; nil at the end.
    @inline(__always)
    func nextRow() -> UInt32? {
        while place < end {
            let row = rows?[place] ?? UInt32(truncatingIfNeeded: place)
            place += 1
            if row != ItemOrder.hole, query.columns.table.state(row) == .live { return row }
        }
        return nil
    }

    func next(_ batch: SelectionVector) throws -> Int {
        var filled = 0
        if mayChange || !tests.isEmpty {
            while filled < batch.count, let row = nextRow() {
                examined += 1
                let holds = try tests.allSatisfy { try $0(row) }
                // After an interruption conditions end early, with any result.
                if Interruption.isDueAtStep { throw WorkStopped() }
                batch[filled] = row
                filled += holds ? 1 : 0
            }
            rowsOut += filled
            return filled
        }
        if Interruption.isDue { throw WorkStopped() }
        filled = batch.fill(from: rows, &place, end)
        examined += filled
        return filled
    }

    var plan: ItemQueryPlan {
        .filter(counts.map { $0.plan() }, of: query.source(access, rowsOut: examined), rowsOut: rowsOut)
    }
}

/// Keeps the rows that satisfy the predicates of a query, a pass over a column at a time. The store must not change
/// meanwhile.
final class RowFilter: RowOperator {
    private let query: ItemQuery
    private let test: VectorTest
    private let scan: RowScan
    private var rowsOut = 0
    /// The rows found by each of two threads, from the next one on.
    private var found: [ArraySlice<UInt32>] = []
    private var threads = 1
    private var hasBegun = false

    init(_ query: ItemQuery, _ scan: RowScan, isExplained: Bool) {
        (self.query, self.scan) = (query, scan)
        var plans: [PredicatePlan] = []
        for case .predicate(let predicate) in query.conditions {
            if case .all(let parts) = predicate.plan { plans += parts } else { plans.append(predicate.plan) }
        }
        test = VectorPlanner(store: query.columns, isCounted: isExplained).test(.all(plans))
    }

    /// A part of a filter, for one of two threads.
    private init(_ filter: RowFilter, _ range: Range<Int>) {
        (query, test, scan, hasBegun) = (filter.query, filter.test, RowScan(filter.query, range), true)
    }

    /// Finds the rows by two threads, unless one is required or faster.
    private func scanHalves() throws {
        guard !test.isTrivial, test.readsColumnsAlone, let range = scan.takeRange(ofAtLeast: TwoThreads.least) else {
            return
        }
        found = try TwoThreads.map(range) { part in Result { try RowFilter(self, part).all()[...] } }
            .map { try $0.get() }
        (threads, rowsOut) = (found.count, found.reduce(0) { $0 + $1.count })
    }

    func next(_ batch: SelectionVector) throws -> Int {
        if !hasBegun {
            hasBegun = true
            try scanHalves()
        }
        while !found.isEmpty {
            let count = found[0].move(to: batch)
            if count > 0 { return count }
            found.removeFirst()
        }
        while case let examined = try scan.next(batch), examined > 0 {
            let selected = test.keep(batch.first(examined), query.columns)
            // After an interruption conditions end early, with any result.
            if Interruption.isDueAtStep { throw WorkStopped() }
            rowsOut += selected
            if selected > 0 { return selected }
        }
        return 0
    }

    var plan: ItemQueryPlan {
        .filter(test.plans.first?.children ?? [], of: scan.plan, rowsOut: rowsOut, threads: threads)
    }
}

/// The rows that an index has found in the order of the query.
final class IndexRows: RowOperator {
    private var rows: ArraySlice<UInt32>
    private let makePlan: () -> ItemQueryPlan

    init(_ rows: ArraySlice<UInt32>, _ makePlan: @escaping () -> ItemQueryPlan) {
        (self.rows, self.makePlan) = (rows, makePlan)
    }

    func next(_ batch: SelectionVector) -> Int { rows.move(to: batch) }

    var plan: ItemQueryPlan { makePlan() }
}

/// Skips the first rows, and ends after as many as requested.
final class RowLimit: RowOperator {
    private let input: any RowOperator
    private var toSkip: Int
    private var left: Int

    init(_ input: any RowOperator, skipping toSkip: Int, taking count: Int?) {
        (self.input, self.toSkip, left) = (input, toSkip, count ?? .max)
    }

    func next(_ batch: SelectionVector) throws -> Int {
        while toSkip > 0, left > 0 {
            let skipped = try input.next(batch.first(min(toSkip, batch.count)))
            if skipped == 0 { return 0 }
            toSkip -= skipped
        }
        let count = left == 0 ? 0 : try input.next(batch.first(min(left, batch.count)))
        left -= count
        return count
    }

    var plan: ItemQueryPlan { input.plan }
}

/// An operator of an explained query, with its time.
final class MeasuredOperator: RowOperator {
    private let input: any RowOperator
    private var duration = Duration.zero

    init(_ input: any RowOperator) { self.input = input }

    func next(_ batch: SelectionVector) throws -> Int {
        let start = ContinuousClock.now
        defer { duration += ContinuousClock.now - start }
        return try input.next(batch)
    }

    var plan: ItemQueryPlan {
        var plan = input.plan
        // Without the time of what it sorts.
        plan.duration = duration - (plan.operation == .sort ? plan.children.first?.duration ?? .zero : .zero)
        return plan
    }
}

extension ArraySlice<UInt32> {
    /// Moves the first rows to a batch.
    ///
    /// - Returns: their number.
    mutating func move(to batch: SelectionVector) -> Int {
        let first = prefix(batch.count)
        _ = batch.update(fromContentsOf: first)
        removeFirst(first.count)
        return first.count
    }
}

/// The row numbers that an operator works on, in a buffer that passes shorten.
typealias SelectionVector = UnsafeMutableBufferPointer<UInt32>

extension SelectionVector {
    /// Maximum number of rows.
    static var batch: Int { 1024 }
    /// Prefetch distance in rows for cells whose texts lie elsewhere; it is half as much for the texts.
    static var lookahead: Int { 16 }

    /// The first rows.
    @inline(__always)
    func first(_ count: Int) -> SelectionVector { SelectionVector(rebasing: self[..<count]) }

    /// Takes the next rows of the store's slots or, if its rows are in order, the next numbers of rows.
    ///
    /// - Parameters:
    ///   - slots: the rows, with holes; nil if each place is its row.
    ///   - place: the next place, which is moved on.
    ///   - end: the place at which to end.
    /// - Returns: the number of rows.
    func fill(from slots: [UInt32]?, _ place: inout Int, _ end: Int) -> Int {
        guard let slots else {
            let count = Swift.min(self.count, end - place)
            let first = UInt32(truncatingIfNeeded: place)
            for index in 0..<count { self[index] = first &+ UInt32(truncatingIfNeeded: index) }
            place += count
            return count
        }
        return slots.withUnsafeBufferPointer { slots in
            var filled = 0
            while filled < count, place < end {
                self[filled] = slots[place]
                filled += slots[place] != ItemOrder.hole ? 1 : 0
                place += 1
            }
            return filled
        }
    }

    /// Moves the rows for which a condition holds to the front, in order.
    ///
    /// - Returns: their number.
    @inline(__always)
    func keep(_ holds: (UInt32) -> Bool) -> Int {
        var selected = 0
        for place in indices {
            let row = self[place]
            self[selected] = row
            selected &+= holds(row) ? 1 : 0
        }
        return selected
    }

    /// Keeps the rows with a value in a range, without a branch in the loop.
    @inline(__always)
    func keep<Value: Comparable>(
        _ values: UnsafePointer<Value>, _ validity: UnsafePointer<UInt64>?, _ range: ClosedRange<Value>
    ) -> Int {
        let (lower, upper) = (range.lowerBound, range.upperBound)
        guard let validity else { return keep { (lower <= values[Int($0)]) && (values[Int($0)] <= upper) } }
        return keep {
            let value = values[Int($0)]
            let isPresent = validity[Int($0 >> 6)] >> UInt64($0 & 63) & 1 != 0
            return (lower <= value) && (value <= upper) && isPresent
        }
    }

    /// Moves the rows to the front that are not in another vector, an ordered subset of this one.
    ///
    /// - Returns: their number.
    func remove(_ other: SelectionVector) -> Int {
        var (selected, next) = (0, 0)
        for place in indices {
            let row = self[place]
            if next < other.count, other[next] == row {
                next += 1
            } else {
                self[selected] = row
                selected += 1
            }
        }
        return selected
    }
}
