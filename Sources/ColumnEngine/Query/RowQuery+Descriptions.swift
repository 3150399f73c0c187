import PredicateFormat
import Wording

extension ColumnStore {
    /// The encoding of a field's values, for users.
    func columnText(_ field: ItemField) -> String {
        if field == table.keyField { return "keys" }
        guard let column = materialise(field) else {
            return table.hasKind(field) ? "rare field, in the items' own blocks" : "no item has it"
        }
        let values =
            switch table.soleKind(field) {
            case .text: "texts"
            case .integer: "integers"
            case .date: "dates"
            case .mixed: "mixed values"
            }
        return switch column.encoding {
        case .integers, .reals, .dates: "column of \(column.encoding.rawValue)"
        case .codes: "column of \(values), dictionary of \(column.dictionary.count.grouped)"
        case .cells: column.cells.isWhole ? "column of \(values)" : "\(values) in the mapped archive"
        case .sparse: "sparse column of \(values)"
        }
    }
}

extension RowQuery {
    /// Counters for conditions that are tested item by item, with the reason.
    func counts(inIndexOrder: Bool = false) -> [ConditionCount] {
        let asksFunctions = conditions.contains { if case .function = $0 { true } else { false } }
        let reason =
            switch (inIndexOrder, asksFunctions) {
            case (true, _): "in the index's order"
            case (_, true): "a function may change items"
            default: limitCount == nil ? "skips the offset" : "stops at the limit"
            }
        return conditions.map { condition in
            switch condition {
            case .function: ConditionCount("a function", "item by item: a function")
            case .predicate(let predicate): ConditionCount(predicate.format, "item by item: " + reason)
            }
        }
    }

    /// The source of the items, and the conditions that it evaluates.
    func source(_ access: ItemAccess, rowsOut: Int) -> ItemQueryPlan {
        switch access {
        case .scan: return ItemQueryPlan(operation: .scan, detail: "", rowsOut: rowsOut)
        case .keys:
            return ItemQueryPlan(operation: .keys, detail: constraintText(store.table.keyField), rowsOut: rowsOut)
        case .index(let index, let ranges, _):
            return ItemQueryPlan(
                operation: .index, detail: constraintText(index.field), note: Self.text(ranges, of: index),
                rowsOut: rowsOut)
        }
    }

    /// The source for an index in the order of the query.
    func orderedSource(_ index: OrderedIndex, _ ranks: Range<Int>, rowsOut: Int) -> ItemQueryPlan {
        let constraints = constraintText(index.field)
        return ItemQueryPlan(
            operation: .index,
            detail: (constraints.isEmpty ? "" : constraints + " ") + "in order of \(order.text(in: store))",
            note: Self.text([ranks], of: index), rowsOut: rowsOut)
    }

    private func constraintText(_ field: ItemField) -> String {
        let name = store.fields.name(of: field)
        var parts: [PredicateNode] = []
        for case .predicate(let predicate) in conditions {
            parts += predicate.indexableConstraints.filter { $0.field == name }.map(\.node)
        }
        return parts.isEmpty ? "" : PredicateNode.and(parts).description
    }

    /// The used ranks of an index: `ranks 981 to 1,000 of 1,000`.
    static func text(_ ranges: [Range<Int>], of index: OrderedIndex) -> String {
        let taken = ranges.filter { !$0.isEmpty }
        guard let first = taken.first else { return "no rank of \(index.count.grouped)" }
        let others = taken.count > 1 ? " and \((taken.count - 1).counted("other range"))" : ""
        let range =
            first.count == 1
            ? "rank \(first.upperBound.grouped)"
            : "ranks \((first.lowerBound + 1).grouped) to \(first.upperBound.grouped)"
        return "\(range)\(others) of \(index.count.grouped)"
    }
}

extension VectorPlanner {
    /// The input of a pass, for users; for rows that are tested one by one, the reason.
    func note(_ plan: PredicatePlan, _ test: VectorTest) -> String {
        switch test {
        case .all, .any, .not, .counted: return ""
        case .constant: return "the same for all items"
        case .presence, .cellPresence: return "presence in a \(columnText(plan))"
        case .integers, .reals, .dates, .codes, .cells: return columnText(plan)
        case .texts(_, _, _, let isFirstScan):
            return columnText(plan) + (isFirstScan ? ", read where they lie" : ", kept once read")
        case .numbers: return "computed from columns"
        case .rows: return "item by item: \(reason(plan))"
        }
    }

    private func columnText(_ plan: PredicatePlan) -> String {
        guard case .test(.keyPath(let path), _, _) = plan, let field = store.fields.existing(path.field) else {
            return ""
        }
        return store.columnText(field)
    }

    private func reason(_ plan: PredicatePlan) -> String {
        switch plan {
        case .test(.keyPath, let modifier, _) where modifier != .direct: "\(modifier.rawValue) of a collection"
        case .test(.keyPath(let path), _, _) where !path.rest.isEmpty: "key path"
        case .test(.keyPath(let path), _, _) where path.field == PredicateKeyPath.selfKey: "the whole item"
        case .test(.keyPath, _, _): columnText(plan)
        case .comparison: "no constant on either side"
        default: "expression"
        }
    }
}

extension VectorTest {
    /// The plans of its counted conditions, in the order of evaluation.
    var plans: [ItemQueryPlan] {
        switch self {
        case .counted(.all(let parts), let count): [count.plan(.all, parts.flatMap(\.plans))]
        case .counted(.any(let parts), let count): [count.plan(.any, parts.flatMap(\.plans))]
        case .counted(.not(let inner), let count): [count.plan(.not, inner.plans)]
        case .counted(_, let count): [count.plan()]
        default: []
        }
    }
}
