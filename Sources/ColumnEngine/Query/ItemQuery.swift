package import PredicateFormat
package import PropertyList
import Synchronization

/// A query over a store's items: it is refined step by step, each step another query, and evaluated on demand.
///
///     let dear = try store.query(FormatPredicate(format: "valueInDollars > 500")).sorted("name").limit(10).all()
///
/// Each result is of the store at that moment. A condition that is a function may change the store; each item present
/// at the start is examined once, unless it has been removed.
public final class ItemQuery {
    package enum Condition {
        case predicate(FormatPredicate)
        case function((UInt32) throws -> Bool)
    }

    /// The store of the columns, which made the query.
    package let owner: AnyObject
    let columns: ColumnStore
    /// The conditions, all of which an item has to satisfy.
    package let conditions: [Condition]
    /// The sort keys, the most significant first.
    package let order: [ItemSortKey]
    package let limitCount: Int?
    let offsetCount: Int

    package init(
        _ columns: ColumnStore, of owner: AnyObject, _ conditions: [Condition] = [], order: [ItemSortKey] = [],
        limit: Int? = nil, offset: Int = 0
    ) {
        (self.columns, self.owner, self.conditions) = (columns, owner, conditions)
        (self.order, limitCount, offsetCount) = (order, limit, offset)
    }

    /// Restricts the query by a condition.
    package func filter(_ condition: Condition) -> ItemQuery {
        ItemQuery(columns, of: owner, conditions + [condition], order: order, limit: limitCount, offset: offsetCount)
    }

    /// Sorts by a less significant key.
    package func sorted(_ key: ItemSortKey) -> ItemQuery { sorted(order + [key]) }

    private func sorted(_ order: [ItemSortKey]) -> ItemQuery {
        ItemQuery(columns, of: owner, conditions, order: order, limit: limitCount, offset: offsetCount)
    }

    /// Limits the number of items. A negative number counts as 0.
    public func limit(_ count: Int) -> ItemQuery {
        ItemQuery(columns, of: owner, conditions, order: order, limit: Swift.max(0, count), offset: offsetCount)
    }

    /// Skips the first items. A negative number counts as 0.
    public func offset(_ count: Int) -> ItemQuery {
        ItemQuery(columns, of: owner, conditions, order: order, limit: limitCount, offset: Swift.max(0, count))
    }

    /// Whether it has a limit or an offset.
    package var isLimited: Bool { limitCount != nil || offsetCount > 0 }

    /// The same items, without limit, in the order of one key alone, or in the store's without one.
    package func reordered(by key: ItemSortKey?) -> ItemQuery {
        ItemQuery(columns, of: owner, conditions, order: key.map { [$0] } ?? [])
    }

    private var unlimited: ItemQuery { ItemQuery(columns, of: owner, conditions, order: order) }

    var hasConditions: Bool { !conditions.isEmpty }

    /// The number of items.
    public func count() throws(StoreError) -> Int { try columns.reporting { try countedRows() } }

    private func countedRows() throws -> Int {
        let access = access()
        try auditConditions(access)
        if access.isExact || !hasConditions {
            var found = columns.order.count
            if case .index(_, let ranges, _) = access { found = ranges.reduce(0) { $0 + $1.count } }
            return Swift.min(limitCount ?? .max, Swift.max(0, found - offsetCount))
        }
        var count = 0
        try columns.pinningRows {
            try found(access).forEachBatch { count += $0.count }
        }
        return count
    }

    /// The rows in groups of equal values of each key, in order of appearance; no row is reused meanwhile.
    package func groupBy(_ keys: [QueryKey]) throws(StoreError) -> [ItemGroup] {
        try columns.pinningRows { () throws(StoreError) in
            try columns.reporting {
                let rows = try foundRows()
                let fields = keys.map(\.field)
                if keys.count == 1, let key = keys.first {
                    var grouper = try ItemGrouper(columns, key)
                    return try grouper.groups(of: rows, in: self, by: fields)
                }
                var tuples = TupleNumbers(rowCount: rows.count)
                for key in keys {
                    // Made in turn: a key that is a function may change the columns that a later one reads.
                    var grouper = try ItemGrouper(columns, key)
                    let numbers = try grouper.numbers(of: rows)
                    grouper.recordMissing()
                    try tuples.add(numbers, grouper.values)
                }
                return tuples.groups(of: rows, in: self, by: fields)
            }
        }
    }

    /// The value of an aggregate function of a key for the rows.
    package func aggregate(_ name: ItemAggregate.Name, _ key: QueryKey) throws(StoreError) -> PropertyListValue? {
        try values(of: { [try ItemAggregateFunction(name, key, columns)] }).first ?? nil
    }

    /// The values of aggregate functions for the rows: one answer. `functions` makes them after the rows were found: a
    /// condition that is a function may change the columns that a key reads.
    package func values(of functions: () throws -> [ItemAggregateFunction]) throws(StoreError) -> [PropertyListValue?] {
        let query = limitCount == nil && offsetCount == 0 ? sorted([]) : self
        return try columns.reporting {
            let rows = try query.foundRows()
            return try functions().map { function in try rows.withUnsafeBufferPointer { try function.value(of: $0) } }
        }
    }
}

extension ItemQuery {
    /// The rows of the result, in order.
    package func rows() throws(StoreError) -> [UInt32] {
        try columns.reporting { try foundRows() }
    }

    private func foundRows() throws -> [UInt32] {
        try columns.pinningRows { try lastOperator().all() }
    }

    /// The operators that answer the query: the last one, which pulls the rows of the others.
    func lastOperator(isExplained: Bool = false) throws -> any RowOperator {
        let access = access(builds: isExplained)
        try auditConditions(access)
        if order.isEmpty { return found(access, isExplained: isExplained) }
        if let rows = rowsInIndexOrder(access, isExplained) { return rows }
        let topCount = wantedCount.flatMap { $0 >= columns.order.count ? nil : $0 }
        let found = unlimited.found(access, isExplained: isExplained)
        let sort = RowSort(self, found, keeping: topCount)
        return isExplained ? MeasuredOperator(sort) : sort
    }

    /// The number of rows to be found, with those to be skipped; nil for all.
    var wantedCount: Int? {
        limitCount.map { $0.addingReportingOverflow(offsetCount) }.flatMap { $0.overflow ? nil : $0.partialValue }
    }

    /// The operators that find the rows that satisfy the conditions, in the store's order, between offset and limit.
    /// `changes` tells whether the store may change meanwhile.
    private func found(_ access: ItemAccess, changes: Bool = false, isExplained: Bool = false) -> any RowOperator {
        let mayChange = changes || asksFunctions
        let scan = RowScan(self, access, mayChange: mayChange)
        var found: any RowOperator = scan
        if hasConditions, !access.isExact {
            if mayChange || isLimited {
                scan.addTests(isExplained: isExplained)
            } else {
                found = RowFilter(self, scan, isExplained: isExplained)
            }
        }
        if isExplained { found = MeasuredOperator(found) }
        return isLimited ? RowLimit(found, skipping: offsetCount, taking: limitCount) : found
    }

    /// Whether a condition is a function, which may change the columns.
    var asksFunctions: Bool { conditions.contains { if case .function = $0 { true } else { false } } }

    /// Calls a body with the rows that satisfy the conditions, in the store's order, between offset and limit, until it
    /// returns false. `changes` tells whether the body may change the columns.
    ///
    /// - Throws: errors of the body; `StoreError` of a condition.
    package func visit(changes: Bool, _ body: (UInt32) throws -> Bool) throws {
        let access = access()
        try columns.reporting { try auditConditions(access) }
        try columns.pinningRows {
            let found = found(access, changes: changes)
            let size = changes || asksFunctions ? 1 : SelectionVector.batch
            try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: size) { batch in
                while case let count = try StoreError.answering({ try found.next(batch) }), count > 0 {
                    for row in batch.first(count) where try !body(row) { return }
                }
            }
        }
    }

    func test(_ condition: Condition) -> (UInt32) throws -> Bool {
        switch condition {
        case .predicate(let predicate): return columns.compiler.condition(predicate.plan)
        case .function(let isIncluded): return isIncluded
        }
    }
}

extension ColumnStore {
    /// Reads a field for a predicate in the type that the store keeps.
    func accessor(_ name: String) -> PredicateAccessor<UInt32> {
        let store = self
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

extension ItemQuery {
    /// The values of keys: an array for each key, with a value for each row, in order; nil where a row has none.
    package func values(of keys: [QueryKey]) throws(StoreError) -> [[PropertyListValue?]] {
        try columns.pinningRows { () throws(StoreError) in
            try columns.reporting {
                columns.recordWholeRead()
                let rows = try lastOperator().all()
                // Made in turn: a key that is a function may change the columns that a later one reads.
                return try keys.map { try values(of: VectorKey($0, columns), rows) }
            }
        }
    }

    private func values(of key: VectorKey, _ rows: [UInt32]) throws -> [PropertyListValue?] {
        var values: [PropertyListValue?] = []
        try rows.withUnsafeBufferPointer { rows in
            for start in stride(from: 0, to: rows.count, by: 1024) {
                if Interruption.isDue { throw WorkStopped() }
                let batch = UnsafeBufferPointer(rebasing: rows[start..<min(start + 1024, rows.count)])
                var heap = CellHeap()
                let cells = try key.withCells(batch, columns, &heap) { Array($0) }
                for cell in cells {
                    values.append(cell.kind == .box ? key.value(cell, columns, heap) : heap.value(cell))
                }
            }
        }
        return values
    }
}

/// A condition of an explained query: its input rows, output rows, and duration. Two threads may add to it.
final class ConditionCount: Sendable {
    private struct Figures {
        var rowsIn = 0, rowsOut = 0, duration = Duration.zero
    }

    private let text: String
    private let remark: String
    private let figures = Mutex(Figures())

    init(_ text: String, _ remark: String) { (self.text, self.remark) = (text, remark) }

    private func add(rowsIn: Int, rowsOut: Int, _ duration: Duration = .zero) {
        figures.withLock {
            $0.rowsIn += rowsIn
            $0.rowsOut += rowsOut
            $0.duration += duration
        }
    }

    /// Counts a pass over a batch of rows, which returns the number of rows selected.
    func measure(_ rowsIn: Int, _ pass: () -> Int) -> Int {
        let start = ContinuousClock.now
        let selected = pass()
        add(rowsIn: rowsIn, rowsOut: selected, ContinuousClock.now - start)
        return selected
    }

    /// Counts a condition that is tested row by row, without time: reading a clock costs more than most conditions.
    func counting(_ test: @escaping (UInt32) throws -> Bool) -> (UInt32) throws -> Bool {
        { [self] row in
            let holds = try test(row)
            add(rowsIn: 1, rowsOut: holds ? 1 : 0)
            return holds
        }
    }

    func plan(_ operation: ItemQueryPlan.Operator = .condition, _ children: [ItemQueryPlan] = []) -> ItemQueryPlan {
        let figures = figures.withLock { $0 }
        return ItemQueryPlan(
            operation: operation, detail: operation == .condition ? text : "", remark: remark, rowsIn: figures.rowsIn,
            rowsOut: figures.rowsOut, duration: figures.duration == .zero ? nil : figures.duration, children: children)
    }
}

extension ItemQuery {
    /// The query plan. Runs the query, and builds the index that it uses if it is not built yet.
    public func explain() throws(StoreError) -> ItemQueryPlan {
        var (found, plan) = try columns.reporting {
            try columns.pinningRows {
                let last = try lastOperator(isExplained: true)
                return (try last.all().count, last.plan)
            }
        }
        if offsetCount > 0 {
            plan = ItemQueryPlan(
                operation: .offset, detail: offsetCount.grouped, rowsIn: plan.rowsOut,
                rowsOut: Swift.max(0, plan.rowsOut - offsetCount), children: [plan])
        }
        if let limitCount {
            plan = ItemQueryPlan(
                operation: .limit, detail: limitCount.grouped, rowsIn: plan.rowsOut, rowsOut: found, children: [plan])
        }
        return plan
    }

    /// The input of a sort by a key.
    func remark(_ key: ItemSortKey) -> String {
        switch key.key {
        case .field(let field): columns.columnText(field)
        case .expression: "computed"
        case .function: "item by item"
        }
    }
}
