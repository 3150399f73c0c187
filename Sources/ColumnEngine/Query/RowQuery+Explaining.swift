import Wording

extension RowQuery {
    /// Runs the query as ``all()`` does, and returns its plan with counts. Builds its index if necessary.
    package func explain() throws -> ItemQueryPlan {
        let profile = ItemQueryProfile()
        let found = try store.reporting { try rows(profile).count }
        var plan = profile.found
        if !order.isEmpty, !profile.isInIndexOrder {
            plan = ItemQueryPlan(
                operation: .sort, detail: order.text(in: store),
                note: order.keys.map(note).joined(separator: "; "), rowsIn: profile.sort.rowsIn,
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

    private func note(_ key: ItemSortKey) -> String {
        switch key.key {
        case .field(let field): store.columnText(field)
        case .expression: "computed"
        case .function: "item by item"
        }
    }
}
