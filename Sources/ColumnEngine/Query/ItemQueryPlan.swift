import PredicateFormat

/// How a query was answered: a tree of operators with the last one at the root.
///
/// Its description draws the tree, one operator per line:
///
///     limit 10                               10 →     10 rows
///     └ sort by year descending             812 →     10 rows  0.30 ms  column of integers
///       └ filter                         28,143 →    812 rows  0.41 ms  1 thread
///         ├ department == "Fine Arts"    28,143 →  2,010 rows  0.12 ms  column of texts, dictionary of 12
///         ├ year > 1900                   2,010 →    812 rows  0.10 ms  column of integers
///         └ scan of all items                     28,143 rows
public struct ItemQueryPlan: Sendable, Hashable, CustomStringConvertible {
    /// A step's kind.
    package enum Operator: Sendable, Hashable {
        /// All items, in the store's order.
        case scan
        /// Items from an ordered index: those in a range of it, or all in its order.
        case index
        /// Items with certain keys.
        case keys
        /// Filters items: its children are the conditions, in the order of evaluation, and the source of the items.
        case filter
        /// Keeps the items for which a predicate is true.
        case condition
        /// Combined conditions: all of its children hold, one of them does, its child does not.
        case all, any, not
        /// Sorts.
        case sort
        /// Skips the first items.
        case offset
        /// Takes the first items.
        case limit
    }

    /// The kind of the step.
    package var operation: Operator
    /// Its argument: the condition's text, the keys of a sort, the number of a limit.
    package var detail: String
    /// Its input: `column of texts, dictionary of 12`; or why items are tested one by one.
    package var remark = ""
    /// The number of input rows; nil for a source.
    package var rowsIn: Int?
    /// The number of output rows.
    package var rowsOut: Int
    /// Its duration without that of its child operators; nil if not measured. For a condition it is the total of all
    /// threads.
    package var duration: Duration?
    /// The number of threads.
    package var threads = 1
    /// Its inputs; of a filter, the conditions come first.
    package var children: [ItemQueryPlan] = []

    public var description: String { ItemQueryPlanPrinter().text(of: self) }
}

/// Draws a query's plan: one operator per line, with aligned figures.
struct ItemQueryPlanPrinter {
    /// Whether to show durations.
    var showsTimes = true

    /// Maximum length of a condition's text; a longer one is cut.
    private static let longestDetail = 60

    private struct Line {
        var label: String
        var rowsIn = "", rowsOut = "", time = "", remark = ""
    }

    func text(of plan: ItemQueryPlan) -> String {
        var lines: [Line] = []
        add(plan, first: "", rest: "", to: &lines)
        func width(_ part: (Line) -> String) -> Int { lines.map { part($0).count }.max() ?? 0 }
        let (label, rowsIn, rowsOut, time) = (width(\.label), width(\.rowsIn), width(\.rowsOut), width(\.time))
        return lines.map { line in
            var text = line.label.padded(to: label) + "  " + line.rowsIn.padded(to: rowsIn, isRight: true)
            text += (line.rowsIn.isEmpty ? "   " : " → ") + line.rowsOut.padded(to: rowsOut, isRight: true)
            text += line.rowsOut == "1" ? " row " : " rows"
            if time > 0 { text += "  " + line.time.padded(to: time, isRight: true) }
            text += "  " + line.remark
            while text.last == " " { text.removeLast() }
            return text
        }.joined(separator: "\n")
    }

    private func add(_ plan: ItemQueryPlan, first: String, rest: String, to lines: inout [Line]) {
        lines.append(
            Line(
                label: first + label(plan), rowsIn: plan.rowsIn?.grouped ?? "", rowsOut: plan.rowsOut.grouped,
                time: showsTimes ? plan.duration.map(Self.milliseconds) ?? "" : "", remark: remark(plan)))
        for (place, child) in plan.children.enumerated() {
            let isLast = place == plan.children.count - 1
            add(child, first: rest + (isLast ? "└ " : "├ "), rest: rest + (isLast ? "  " : "│ "), to: &lines)
        }
    }

    private func label(_ plan: ItemQueryPlan) -> String {
        var detail = VisibleText.line(plan.detail)
        if detail.count > Self.longestDetail { detail = detail.prefix(Self.longestDetail - 1) + "…" }
        return switch plan.operation {
        case .scan: "scan of all items"
        case .index: "index \(detail)"
        case .keys: "keys: \(detail)"
        case .filter: detail.isEmpty ? "filter" : "filter \(detail)"
        case .condition: detail
        case .all: "all of"
        case .any: "any of"
        case .not: "not"
        case .sort: "sort by \(detail)"
        case .offset: "offset \(detail)"
        case .limit: "limit \(detail)"
        }
    }

    private func remark(_ plan: ItemQueryPlan) -> String {
        guard plan.operation == .filter else { return plan.remark }
        let threads = plan.threads.counted("thread")
        return plan.remark.isEmpty ? threads : "\(plan.remark), \(threads)"
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let hundredths = Int(seconds) * 100_000 + Int(attoseconds / 10_000_000_000_000)
        let fraction = hundredths % 100
        return "\((hundredths / 100).grouped).\(fraction < 10 ? "0" : "")\(fraction) ms"
    }
}

extension ItemQueryPlan {
    /// A filter of a source; the source itself without conditions. A single condition is merged with its filter.
    static func filter(
        _ conditions: [ItemQueryPlan], of source: ItemQueryPlan, rowsOut: Int, threads: Int = 1
    ) -> ItemQueryPlan {
        guard let first = conditions.first else { return source }
        let isMerged = conditions.count == 1 && first.operation == .condition
        return ItemQueryPlan(
            operation: .filter, detail: isMerged ? first.detail : "", remark: isMerged ? first.remark : "",
            rowsIn: source.rowsOut, rowsOut: rowsOut, threads: threads,
            children: (isMerged ? [] : conditions) + [source])
    }
}

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
        case .numbers(.real): "column of reals"
        case .numbers(let kind): "column of \(kind == .date ? "dates" : "integers")"
        case .codes: "column of \(values), dictionary of \(column.coded.dictionary.count.grouped)"
        case .cells: column.cells.isWhole ? "column of \(values)" : "\(values) in the mapped archive"
        case .sparse: "sparse column of \(values)"
        }
    }
}

extension ItemQuery {
    /// Counters for conditions that are tested item by item, with the reason.
    func counts(inIndexOrder: Bool = false) -> [ConditionCount] {
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
            return ItemQueryPlan(operation: .keys, detail: constraintText(columns.table.keyField), rowsOut: rowsOut)
        case .index(let index, let ranges, _):
            return ItemQueryPlan(
                operation: .index, detail: constraintText(index.field), remark: Self.text(ranges, of: index),
                rowsOut: rowsOut)
        }
    }

    /// The source for an index in the order of the query.
    func orderedSource(_ index: OrderedIndex, _ ranks: Range<Int>, rowsOut: Int) -> ItemQueryPlan {
        let constraints = constraintText(index.field)
        return ItemQueryPlan(
            operation: .index,
            detail: (constraints.isEmpty ? "" : constraints + " ") + "in order of \(orderText)",
            remark: Self.text([ranks], of: index), rowsOut: rowsOut)
    }

    /// The sort keys, for users: `year descending, name`.
    var orderText: String {
        order.map { columns.text(of: $0.key) + ($0.isDescending ? " descending" : "") }.joined(separator: ", ")
    }

    private func constraintText(_ field: ItemField) -> String {
        let name = columns.fields.name(of: field)
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
        let rest = taken.count > 1 ? " and \((taken.count - 1).counted("other range"))" : ""
        let range =
            first.count == 1
            ? "rank \(first.upperBound.grouped)"
            : "ranks \((first.lowerBound + 1).grouped) to \(first.upperBound.grouped)"
        return "\(range)\(rest) of \(index.count.grouped)"
    }
}

extension VectorPlanner {
    /// The input of a pass, for users; for rows that are tested one by one, the reason.
    func remark(_ plan: PredicatePlan, _ test: VectorTest) -> String {
        switch test {
        case .all, .any, .not, .counted: return ""
        case .constant: return "the same for all items"
        case .validity, .cellValidity: return "presence in a \(columnText(plan))"
        case .numbers, .codes, .cells: return columnText(plan)
        case .texts(_, _, _, let isFirstScan):
            return columnText(plan) + (isFirstScan ? ", read where they lie" : ", kept once read")
        case .computed: return "computed from columns"
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
