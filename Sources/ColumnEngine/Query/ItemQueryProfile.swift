import PredicateFormat
import Synchronization
import Wording

/// Counts and times of a query's operators while it runs. Only an explained query has one.
final class ItemQueryProfile {
    /// What gives the items.
    private var source = ItemQueryPlan(operation: .scan, detail: "", rowsOut: 0)
    private var filter: ItemQueryPlan?
    let sort = OperatorCount()
    /// Whether the items come in the order of the query.
    var isInIndexOrder = false
    /// How many threads filter.
    var threads = 1

    /// What was found, before it was sorted.
    var found: ItemQueryPlan {
        guard var filter else { return source }
        filter.threads = threads
        // One condition alone stands beside its filter.
        if let sole = filter.children.first, filter.children.count == 1, sole.operation == .condition {
            (filter.detail, filter.note, filter.children) = (sole.detail, sole.note, [])
        }
        filter.children.append(source)
        return filter
    }

    /// Notes what gave the items.
    func noteSource(_ source: ItemQueryPlan) { self.source = source }

    /// Notes which of the items satisfied the conditions; there are none when an index answered them all.
    func noteFilter(_ conditions: [ItemQueryPlan], rowsIn: Int, rowsOut: Int) {
        guard !conditions.isEmpty else { return }
        filter = ItemQueryPlan(
            operation: .filter, detail: "", rowsIn: rowsIn, rowsOut: rowsOut, children: conditions)
    }

    /// Notes how long it took to find the items: what took them on meanwhile, the sort, has counted its part.
    func noteFound(since start: ContinuousClock.Instant) {
        let duration = ContinuousClock.now - start - sort.duration
        if filter == nil { source.duration = duration } else { filter?.duration = duration }
    }
}

/// How many rows came to an operator, how many it passed on, and how long that took. Two threads may add to it.
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

/// A condition of a query that is explained.
final class ConditionCount: Sendable {
    private let text: String
    private let note: String
    private let count = OperatorCount()

    init(_ text: String, _ note: String) { (self.text, self.note) = (text, note) }

    /// Counts a pass over a batch of rows, which gives how many of them it kept.
    func measure(_ rowsIn: Int, _ pass: () -> Int) -> Int {
        let start = ContinuousClock.now
        let kept = pass()
        count.add(rowsIn: rowsIn, rowsOut: kept, since: start)
        return kept
    }

    /// Counts a condition that is tested row by row; reading a clock for each row would cost more than most conditions.
    func counting(_ test: @escaping (UInt32) throws -> Bool) -> (UInt32) throws -> Bool {
        { [count] row in
            let holds = try test(row)
            count.add(rowsIn: 1, rowsOut: holds ? 1 : 0)
            return holds
        }
    }

    func plan(_ operation: ItemQueryPlan.Operator = .condition, _ children: [ItemQueryPlan] = []) -> ItemQueryPlan {
        ItemQueryPlan(
            operation: operation, detail: operation == .condition ? text : "", note: note, rowsIn: count.rowsIn,
            rowsOut: count.rowsOut, duration: count.duration == .zero ? nil : count.duration, children: children)
    }
}
