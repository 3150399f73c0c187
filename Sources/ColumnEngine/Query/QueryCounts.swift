import Synchronization

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
