import ColumnEngine
import PropertyList
import SQLite

/// The rows of a store as a table of SQLite: the items, or the rows of a file.
final class SQLRowTable: SQLiteTable {
    /// How rows are found, and in which order they come.
    struct Plan: Hashable {
        struct Condition: Hashable {
            let column: Int
            let operation: SQLiteQuestion.Operation
            /// The place of the value; nil for a condition without one.
            let argument: Int?
            let isList: Bool
        }

        struct Order: Hashable {
            let column: Int
            let isDescending: Bool
        }

        var conditions: [Condition] = []
        /// The condition by which rows are looked up, if the plan is used often.
        var lookup: Int?
        var order: [Order] = []
        /// Whether the statement has a limit: then the first rows of the order are found before the others.
        var isLimited = false
        /// The columns that the statement uses, a bit each.
        var columns: UInt64 = 0
        var argumentCount = 0
    }

    /// The name for people.
    let name: String
    /// The name for SQLite.
    private let id: String
    let store: ColumnStore
    let shape: SQLColumns
    /// Records changes of items; nil for a file's rows.
    private let onChange: ((SQLiteChange) throws -> Void)?
    private let plans: SQLPlans
    private var lookups: [ItemField: ScanLookup] = [:]

    init(
        _ name: String, id: String, _ store: ColumnStore, _ shape: SQLColumns, _ plans: SQLPlans,
        onChange: ((SQLiteChange) throws -> Void)? = nil
    ) {
        (self.name, self.id, self.store) = (name, id, store)
        (self.shape, self.plans, self.onChange) = (shape, plans, onChange)
    }

    /// A plan by its number.
    func plan(_ number: Int) -> Plan { plans[number]?.plan ?? Plan() }

    var columnCount: Int { shape.columns.count }

    func makeCursor() -> any SQLiteTableCursor { SQLRowCursor(self) }

    func change(_ change: SQLiteChange) throws {
        guard let onChange else { throw SQLiteError(.readOnly, "the rows of a file cannot be changed") }
        try onChange(change)
    }

    // MARK: Planning

    func plan(_ question: SQLiteQuestion) -> Int {
        let total = Double(max(store.estimatedCount, 1))
        var plan = Plan()
        plan.columns = question.columns
        var found = total
        var isUnique = false
        var best = total
        for index in 0..<question.constraintCount {
            // A limit is SQLite's: 3.40 offers it, too, where a condition remains that it does not offer.
            if question.operation(index) == .limit { plan.isLimited = true }
            guard let operation = question.operation(index) else { continue }
            guard let share = add(operation, index, question, &plan) else { continue }
            if operation == .equal || operation == .is {
                if share * total < best || plan.lookup == nil {
                    (best, plan.lookup) = (share * total, plan.conditions.count - 1)
                    // Not by a count, which another item changes.
                    isUnique = operation == .equal && isKey(plan.conditions[plan.conditions.count - 1])
                }
            }
            found *= share
        }
        // Of the few rows that are looked up SQLite makes the order: a look-up is made for each row of a join.
        if plan.lookup == nil { addOrder(question, &plan) }
        // Filters read columns alone, and look-ups a part of the rows.
        let read = plan.lookup == nil ? (plan.conditions.isEmpty ? total : found + total / 50) : best + 10
        let isOrdered = question.orderCount > 0 && (!plan.order.isEmpty || isInStoreOrder(question, plan))
        question.answer(
            cost: read + (plan.order.isEmpty ? 0 : found / 4), rows: max(Int(found), 1), isOrdered: isOrdered,
            isUnique: isUnique)
        return plans.number(of: plan, table: id)
    }

    /// Adds a condition to a plan.
    ///
    /// - Returns: the share of the rows that it is thought to keep; nil if SQLite tests it alone.
    private func add(
        _ operation: SQLiteQuestion.Operation, _ index: Int, _ question: SQLiteQuestion, _ plan: inout Plan
    ) -> Double? {
        let place = question.column(index)
        guard place >= 0, place < shape.columns.count, let field = shape.columns[place].field else { return nil }
        let column = shape.columns[place]
        var (share, takesArgument, isList) = (0.25, true, false)
        switch operation {
        case .isNull: (share, takesArgument) = (0.1, false)
        case .isNotNull: (share, takesArgument) = (0.9, false)
        case .equal, .is:
            guard column.type.affinity != .none, column.type.affinity != .text || question.isBinary(index) else {
                return nil
            }
            share = 1 / distinctCount(field)
            if operation == .equal { isList = question.takesList(index) }
            if isList { share = min(share * 8, 0.5) }
        case .less, .atMost, .greater, .atLeast:
            guard column.type.affinity != .none, column.type.affinity != .text || question.isBinary(index) else {
                return nil
            }
        case .like, .glob:
            guard column.type.affinity == .text else { return nil }
            share = 0.1
        default: return nil
        }
        if takesArgument {
            question.use(index, argument: plan.argumentCount)
            plan.argumentCount += 1
        }
        plan.conditions.append(
            Plan.Condition(
                column: place, operation: operation, argument: takesArgument ? plan.argumentCount - 1 : nil,
                isList: isList))
        return share
    }

    private func isKey(_ condition: Plan.Condition) -> Bool {
        !condition.isList && shape.columns[condition.column].field == store.keyField
    }

    private func distinctCount(_ field: ItemField) -> Double {
        let total = Double(max(store.estimatedCount, 1))
        if field == store.keyField || store.declaration(of: field)?.isUnique == true { return total }
        if let lookup = lookups[field] { return Double(max(lookup.count, 1)) }
        return store.distinctCount(field).map { Double(max($0, 1)) } ?? max(total.squareRoot(), 1)
    }

    /// Takes over the order if the fields' values have the same one here: texts, or integers, or booleans, alone.
    private func addOrder(_ question: SQLiteQuestion, _ plan: inout Plan) {
        var order: [Plan.Order] = []
        for index in 0..<question.orderCount {
            let place = question.orderColumn(index)
            guard place >= 0, place < shape.columns.count, let field = shape.columns[place].field,
                field != store.keyField, store.isPlainOrder(field, alsoDates: question.distinction == .grouped)
            else { return }
            order.append(Plan.Order(column: place, isDescending: question.isDescending(index)))
        }
        plan.order = order
    }

    private func isInStoreOrder(_ question: SQLiteQuestion, _ plan: Plan) -> Bool {
        question.orderCount == 1 && plan.lookup == nil && !question.isDescending(0) && question.orderColumn(0) >= 0
            && question.orderColumn(0) < shape.columns.count && shape.columns[question.orderColumn(0)].field == nil
    }

    // MARK: Looking up

    /// The look-up of a field, made anew after a change.
    func lookup(_ field: ItemField, areDays: Bool) throws -> ScanLookup {
        if let lookup = lookups[field], lookup.version == store.version { return lookup }
        let lookup = try ScanLookup(store, field) {
            SQLDate.text(PropertyListDate(secondsSinceReferenceDate: $0), isDay: areDays)
        }
        lookups[field] = lookup
        return lookup
    }

    /// The look-up if it is there.
    func madeLookup(_ field: ItemField) -> ScanLookup? {
        lookups[field].flatMap { $0.version == store.version ? $0 : nil }
    }

    /// What a plan leaves to the store, for people.
    func explained(_ plan: Plan) -> String {
        var parts: [String] = []
        for (index, condition) in plan.conditions.enumerated() {
            let name = shape.columns[condition.column].name
            let text = condition.isList ? "\(name) IN (…)" : "\(name) \(condition.operation.text)"
            parts.append(index == plan.lookup ? text + " (looked up if often)" : text)
        }
        var text = "\(name): " + (parts.isEmpty ? "every row" : parts.joined(separator: " and "))
        if !plan.order.isEmpty {
            text += ", in order of "
            text += plan.order.map { shape.columns[$0.column].name + ($0.isDescending ? " desc" : "") }
                .joined(separator: ", ")
        }
        let used = shape.columns.indices.filter { plan.columns & (1 << UInt64(min($0, 63))) != 0 }
        text +=
            used.isEmpty
            ? "; reads no column" : "; reads \(used.map { shape.columns[$0].name }.joined(separator: ", "))"
        return text
    }
}

/// The plans of a connection's tables, by numbers that SQLite shows in its own plans.
final class SQLPlans {
    private struct Entry: Hashable {
        let table: ExactText
        let plan: SQLRowTable.Plan
    }

    private var entries: [Entry] = []
    private var numbers: [Entry: Int] = [:]

    /// A plan's number; the same for an equal one.
    func number(of plan: SQLRowTable.Plan, table: String) -> Int {
        let entry = Entry(table: ExactText(table), plan: plan)
        if let number = numbers[entry] { return number }
        numbers[entry] = entries.count
        entries.append(entry)
        return entries.count - 1
    }

    /// A plan, and the name of its table.
    subscript(number: Int) -> (table: String, plan: SQLRowTable.Plan)? {
        entries.indices.contains(number) ? (entries[number].table.string, entries[number].plan) : nil
    }
}

extension SQLiteQuestion.Operation {
    /// The operation with its value, for people.
    var text: String {
        switch self {
        case .equal: "= ?"
        case .greater: "> ?"
        case .atMost: "<= ?"
        case .less: "< ?"
        case .atLeast: ">= ?"
        case .like: "LIKE ?"
        case .glob: "GLOB ?"
        case .isNotNull: "IS NOT NULL"
        case .isNull: "IS NULL"
        case .is: "IS ?"
        default: "\(self)"
        }
    }
}
