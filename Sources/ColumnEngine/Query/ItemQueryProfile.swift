import PredicateFormat
import Synchronization
import Wording

/// Counts and times of a running query's operators. Only an explained query has one.
final class ItemQueryProfile {
    /// The source of the items.
    private var source = ItemQueryPlan(operation: .scan, detail: "", rowsOut: 0)
    private var filter: ItemQueryPlan?
    let sort = OperatorCount()
    /// Whether the items are in the order of the query.
    var isInIndexOrder = false
    /// The number of filtering threads.
    var threads = 1

    /// The found items before the sort.
    var found: ItemQueryPlan {
        guard var filter else { return source }
        filter.threads = threads
        // A single condition is merged with its filter.
        if let sole = filter.children.first, filter.children.count == 1, sole.operation == .condition {
            (filter.detail, filter.remark, filter.children) = (sole.detail, sole.remark, [])
        }
        filter.children.append(source)
        return filter
    }

    /// Records the source of the items.
    func recordSource(_ source: ItemQueryPlan) { self.source = source }

    /// Records the filter's conditions and counts; there is no filter if an index evaluated all conditions.
    func recordFilter(_ conditions: [ItemQueryPlan], rowsIn: Int, rowsOut: Int) {
        guard !conditions.isEmpty else { return }
        filter = ItemQueryPlan(
            operation: .filter, detail: "", rowsIn: rowsIn, rowsOut: rowsOut, children: conditions)
    }

    /// Records the time for finding the items, without that of the concurrent sort, which is counted separately.
    func recordFound(since start: ContinuousClock.Instant) {
        let duration = ContinuousClock.now - start - sort.duration
        if filter == nil { source.duration = duration } else { filter?.duration = duration }
    }
}

/// An operator's input rows, output rows, and duration. Two threads may add to it.
final class OperatorCount: Sendable {
    private struct Figures {
        var rowsIn = 0, rowsOut = 0, duration = Duration.zero
    }

    private let figures = Mutex(Figures())

    var rowsIn: Int { figures.withLock(\.rowsIn) }
    var rowsOut: Int { figures.withLock(\.rowsOut) }
    var duration: Duration { figures.withLock(\.duration) }

    func add(rowsIn: Int, rowsOut: Int, since start: ContinuousClock.Instant? = nil) {
        let duration = start.map { ContinuousClock.now - $0 } ?? .zero
        figures.withLock {
            $0.rowsIn += rowsIn
            $0.rowsOut += rowsOut
            $0.duration += duration
        }
    }
}

/// A condition of an explained query.
final class ConditionCount: Sendable {
    private let text: String
    private let remark: String
    private let count = OperatorCount()

    init(_ text: String, _ remark: String) { (self.text, self.remark) = (text, remark) }

    /// Counts a pass over a batch of rows, which returns the number of rows kept.
    func measure(_ rowsIn: Int, _ pass: () -> Int) -> Int {
        let start = ContinuousClock.now
        let selected = pass()
        count.add(rowsIn: rowsIn, rowsOut: selected, since: start)
        return selected
    }

    /// Counts a condition that is tested row by row, without time: reading a clock costs more than most conditions.
    func counting(_ test: @escaping (UInt32) throws -> Bool) -> (UInt32) throws -> Bool {
        { [count] row in
            let holds = try test(row)
            count.add(rowsIn: 1, rowsOut: holds ? 1 : 0)
            return holds
        }
    }

    func plan(_ operation: ItemQueryPlan.Operator = .condition, _ children: [ItemQueryPlan] = []) -> ItemQueryPlan {
        ItemQueryPlan(
            operation: operation, detail: operation == .condition ? text : "", remark: remark, rowsIn: count.rowsIn,
            rowsOut: count.rowsOut, duration: count.duration == .zero ? nil : count.duration, children: children)
    }
}

extension RowQuery {
    /// Runs the query as ``all()`` does, and returns its plan with counts. Builds its index if necessary.
    package func explain() throws -> ItemQueryPlan {
        let profile = ItemQueryProfile()
        let found = try store.reporting { try rows(profile).count }
        var plan = profile.found
        if !order.isEmpty, !profile.isInIndexOrder {
            plan = ItemQueryPlan(
                operation: .sort, detail: order.text(in: store),
                remark: order.keys.map(remark).joined(separator: "; "), rowsIn: profile.sort.rowsIn,
                rowsOut: profile.sort.rowsOut, duration: profile.sort.duration, children: [plan])
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

    private func remark(_ key: ItemSortKey) -> String {
        switch key.key {
        case .field(let field): store.columnText(field)
        case .expression: "computed"
        case .function: "item by item"
        }
    }
}
