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
            /// Whether an index is thought to find its rows.
            var isIndexed = false
        }

        struct Order: Hashable {
            let column: Int
            let isDescending: Bool
        }

        var conditions: [Condition] = []
        /// The condition by which rows are looked up, if the plan is used often.
        var lookup: Int?
        var order: [Order] = []
        /// Whether the order is for groups: equal values come together, and each order of them will do.
        var areGroups = false
        /// Whether an index has the order.
        var hasIndexOrder = false
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
    /// Called with a value in a box that was read as a text; nil for a file's rows.
    let onRead: ((PropertyListValue, _ text: [UInt8]) -> Void)?
    private let plans: SQLPlans
    private var lookups: [ItemField: ScanLookup] = [:]
    private let lookupMemory = SQLiteMemory()

    init(
        _ name: String, id: String, _ store: ColumnStore, _ shape: SQLColumns, _ plans: SQLPlans,
        onRead: ((PropertyListValue, _ text: [UInt8]) -> Void)? = nil,
        onChange: ((SQLiteChange) throws -> Void)? = nil
    ) {
        (self.name, self.id, self.store) = (name, id, store)
        (self.shape, self.plans, self.onRead, self.onChange) = (shape, plans, onRead, onChange)
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
        var planner = SQLRowPlanner(self, question)
        let (plan, rows) = planner.choose()
        return plans.number(of: plan, table: id, rows: rows)
    }

    func explanation(ofPlan number: Int) -> String? {
        guard plans.areShown, let found = plans[number] else { return nil }
        return explanation(of: found.plan, rows: found.rows)
    }

    /// Whether the rows can come in the order of a column's values, as SQL orders them: of one column alone, or of several;
    /// or for groups, where it is enough that equal values come together.
    func takesOrder(_ place: Int, isAlone: Bool, areGroups: Bool) -> Bool {
        guard shape.columns.indices.contains(place), let field = shape.columns[place].field, field != store.keyField
        else { return false }
        if store.isPlainOrder(field, alsoDates: areGroups) { return true }
        return isAlone && (store.isNumberOrder(field) || store.hasShortYears(field))
    }

    /// The number of different values of a field that a look-up has counted.
    func countedValues(_ field: ItemField) -> Int? { lookups[field]?.count }

    // MARK: Looking up

    /// The look-up of a field, made anew after a change.
    func lookup(_ field: ItemField, areDays: Bool) throws -> ScanLookup {
        if let lookup = lookups[field], lookup.version == store.version { return lookup }
        lookups = lookups.filter { $0.value.version == store.version }
        // An interrupted one holds nothing.
        defer { try? holdLookups() }
        try holdLookups(adding: store.estimatedCount * ScanLookup.bytes)
        let lookup = try ScanLookup(store, field) {
            SQLDate.text(PropertyListDate(secondsSinceReferenceDate: $0), isDay: areDays)
        }
        lookups[field] = lookup
        return lookup
    }

    private func holdLookups(adding bytes: Int = 0) throws(SQLiteError) {
        try lookupMemory.hold(lookups.values.reduce(bytes) { $0 + $1.byteCount })
    }

    /// Frees the look-ups if they take more than some bytes: no statement is open.
    func freeLookups(above limit: Int) {
        guard lookups.values.reduce(0, { $0 + $1.byteCount }) > limit else { return }
        lookups = [:]
        try? lookupMemory.hold(0)
    }

    /// The look-up if it is there.
    func madeLookup(_ field: ItemField) -> ScanLookup? {
        lookups[field].flatMap { $0.version == store.version ? $0 : nil }
    }

    private func way(_ condition: Plan.Condition, isLookup: Bool) -> String {
        if condition.isIndexed { return " (index)" }
        if !isLookup { return "" }
        return shape.columns[condition.column].field == store.keyField ? " (key)" : " (looked up if often)"
    }

    /// What a plan leaves to the store, for people, with the number of rows that it was thought to find.
    func explanation(of plan: Plan, rows: Int) -> String {
        let parts = plan.conditions.enumerated().map { index, condition in
            let name = shape.columns[condition.column].name
            let text = condition.isList ? "\(name) IN (…)" : "\(name) \(condition.operation.text)"
            return text + way(condition, isLookup: index == plan.lookup)
        }
        var text = parts.isEmpty ? "every row" : parts.joined(separator: " and ")
        if !plan.conditions.isEmpty { text += ", about \(rows.grouped) of \(store.estimatedCount.counted("row"))" }
        if !plan.order.isEmpty {
            text += ", in order of "
            text += plan.order.map { shape.columns[$0.column].name + ($0.isDescending ? " desc" : "") }
                .joined(separator: ", ")
            if plan.hasIndexOrder { text += " (index)" }
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
    /// The number of rows that each was thought to find when it was made last.
    private var rows: [Int] = []

    /// Whether a statement is being prepared that shows its plans.
    var areShown = false

    /// Forgets the plans if they are many: no statement is open.
    func freeIfMany() {
        guard entries.count > Self.limit else { return }
        (entries, numbers, rows) = ([], [:], [])
    }

    /// A plan has a few hundred bytes.
    private static let limit = 1024

    /// A plan's number; the same for an equal one.
    func number(of plan: SQLRowTable.Plan, table: String, rows: Int) -> Int {
        let entry = Entry(table: ExactText(table), plan: plan)
        if let number = numbers[entry] {
            self.rows[number] = rows
            return number
        }
        numbers[entry] = entries.count
        entries.append(entry)
        self.rows.append(rows)
        return entries.count - 1
    }

    /// A plan, the name of its table, and the number of rows that it was thought to find.
    subscript(number: Int) -> (table: String, plan: SQLRowTable.Plan, rows: Int)? {
        entries.indices.contains(number)
            ? (entries[number].table.string, entries[number].plan, rows[number]) : nil
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
