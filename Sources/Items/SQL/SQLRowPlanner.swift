import ColumnEngine
import PredicateFormat
import PropertyList
import SQLite

/// Chooses how a table answers a question of SQLite's, and says what that costs: rows read, and rows found.
///
/// The rows of an index are counted where the statement has the values as literals, and taken from a sample of it
/// otherwise. Other conditions are thought to keep a share that depends on what they compare.
struct SQLRowPlanner {
    private typealias Plan = SQLRowTable.Plan

    private let table: SQLRowTable
    private let store: ColumnStore
    private let question: SQLiteQuestion
    private let total: Double
    private var plan = SQLRowTable.Plan()
    /// The share of the rows that each condition is thought to keep.
    private var shares: [Double] = []
    /// What each condition asks for, if the statement has its value.
    private var tests: [ScanCondition.Test?] = []
    /// The same, or an example of it: an index that does not answer this is not asked. Nil where each row may satisfy the
    /// condition, so that no index is.
    private var examples: [ScanCondition.Test?] = []

    init(_ table: SQLRowTable, _ question: SQLiteQuestion) {
        (self.table, store, self.question) = (table, table.store, question)
        total = Double(max(table.store.estimatedCount, 1))
    }

    /// The plan, which is told to SQLite as well, and the number of rows that it is thought to find.
    mutating func choose() -> (plan: SQLRowTable.Plan, rows: Int) {
        plan.columns = question.columns
        for index in 0..<question.constraintCount {
            guard let operation = question.operation(index) else { continue }
            // A limit is SQLite's: 3.40 offers it, too, where a condition remains that it does not offer.
            if operation == .limit { plan.isLimited = true } else { add(operation, index) }
        }
        var found = total
        var indexed = total
        // In the same order each time, so that the same statement has the same plan.
        for column in Set(plan.conditions.map(\.column)).sorted() {
            let share = share(of: plan.conditions.indices.filter { plan.conditions[$0].column == column }, column)
            found *= share.found
            if let read = share.indexed { indexed = min(indexed, read * total) }
        }
        chooseLookup()
        // Of the few rows that are looked up SQLite makes the order: a look-up is made for each row of a join.
        if plan.lookup == nil { addOrder() }
        answer(found, indexed)
        return (plan, max(Int(found.rounded()), 1))
    }

    // MARK: Conditions

    private mutating func add(_ operation: SQLiteQuestion.Operation, _ index: Int) {
        let place = question.column(index)
        guard table.shape.columns.indices.contains(place), table.shape.columns[place].field != nil else { return }
        let column = table.shape.columns[place]
        switch operation {
        case .isNull, .isNotNull: break
        case .equal, .is, .less, .atMost, .greater, .atLeast:
            let isText = column.type.affinity == .text
            guard column.type.affinity != .none,
                !isText || question.isBinary(index, orOfDates: column.type.isDate)
            else { return }
        case .like, .glob: guard column.type.affinity == .text else { return }
        default: return
        }
        let isList = operation == .equal && question.takesList(index)
        let test = SQLConditionTest(column)
        let isOfNull = operation == .isNull || operation == .isNotNull
        let value: SQLiteCell? = isOfNull ? SQLiteCell.null : isList ? nil : question.literal(index)
        let known = value.map { test.test(operation, $0) }
        tests.append(known ?? nil)
        examples.append(known ?? test.example(operation, isList: isList))
        var argument: Int?
        if !isOfNull {
            question.use(index, argument: plan.argumentCount)
            argument = plan.argumentCount
            plan.argumentCount += 1
        }
        plan.conditions.append(
            Plan.Condition(column: place, operation: operation, argument: argument, isList: isList))
        shares.append(usualShare(plan.conditions[plan.conditions.count - 1]))
    }

    /// The share of the rows that a condition is thought to keep, whatever its value.
    private func usualShare(_ condition: Plan.Condition) -> Double {
        switch condition.operation {
        case .isNull: return 0.1
        case .isNotNull: return 0.9
        case .like, .glob: return 0.1
        case .equal, .is:
            guard let field = table.shape.columns[condition.column].field else { return 0.25 }
            let share = store.typicalCount(field).map { max($0, 1) / total } ?? 1 / distinctCount(field)
            return condition.isList ? min(share * 8, 0.5) : min(share, 1)
        default: return 0.25
        }
    }

    private func distinctCount(_ field: ItemField) -> Double {
        if field == store.keyField || store.declaration(of: field)?.isUnique == true { return total }
        if let count = table.countedValues(field) { return Double(max(count, 1)) }
        return store.distinctCount(field).map { Double(max($0, 1)) } ?? max(total.squareRoot(), 1)
    }

    /// The shares of the rows that the conditions of a column keep together, and that its index reads; nil without an
    /// index that answers them, and where a scan is as fast.
    private mutating func share(of places: [Int], _ column: Int) -> (found: Double, indexed: Double?) {
        let usual = places.reduce(1) { $0 * shares[$1] }
        let asked = places.filter { examples[$0] != nil }
        // It answers all that it is asked, or is not used.
        guard let field = table.shape.columns[column].field, !asked.isEmpty,
            store.indexedCount(field, asked.compactMap { examples[$0] }) != nil
        else { return (usual, nil) }
        let known = asked.compactMap { tests[$0] }
        let count = known.isEmpty ? nil : store.indexedCount(field, known)
        func unknown(_ places: [Int]) -> Double {
            places.filter { tests[$0] == nil }.reduce(1) { $0 * shares[$1] }
        }
        let ofKnown = count.map { Double($0) / total } ?? 1
        let (found, read) = (ofKnown * unknown(places), ofKnown * unknown(asked))
        guard store.isFew(Int((read * total).rounded())) else { return (found, nil) }
        for place in asked {
            plan.conditions[place].isIndexed = true
            shares[place] = min(shares[place], read)
        }
        return (found, read)
    }

    /// Looks rows up by the equality that keeps the fewest.
    private mutating func chooseLookup() {
        let equal = plan.conditions.indices.filter { [.equal, .is].contains(plan.conditions[$0].operation) }
        plan.lookup = equal.min { shares[$0] < shares[$1] }
    }

    // MARK: The order

    /// Takes over the order if the fields' values have the same one here.
    private mutating func addOrder() {
        plan.areGroups = question.isForGroups
        var order: [Plan.Order] = []
        for index in 0..<question.orderCount {
            let place = question.orderColumn(index)
            guard table.takesOrder(place, isAlone: question.orderCount == 1, areGroups: plan.areGroups) else { return }
            order.append(Plan.Order(column: place, isDescending: question.isDescending(index)))
        }
        plan.order = order
        guard order.count == 1, let field = table.shape.columns[order[0].column].field, store.hasIndex(field),
            !plan.areGroups
        else { return }
        plan.hasIndexOrder = plan.conditions.allSatisfy { $0.column == order[0].column }
    }

    private var isInStoreOrder: Bool {
        let columns = table.shape.columns
        return question.orderCount == 1 && plan.lookup == nil && !question.isDescending(0)
            && columns.indices.contains(question.orderColumn(0)) && columns[question.orderColumn(0)].field == nil
    }

    // MARK: The answer

    private func answer(_ found: Double, _ indexed: Double) {
        // Filters read columns alone; an index is searched, and its rows are all over the columns.
        let scanned = plan.conditions.isEmpty ? total : found + total / 50
        var read = plan.lookup.map { shares[$0] * total + 10 } ?? scanned
        if indexed < total { read = min(read, indexed * 1.5 + 10) }
        let sorted = plan.order.isEmpty ? 0 : plan.hasIndexOrder ? min(found, 1024) / 8 : found / 4
        if plan.hasIndexOrder, plan.isLimited { read = min(read, 1024) }
        let isUnique = plan.lookup.map { isKey(plan.conditions[$0]) } ?? false
        question.answer(
            cost: read + sorted, rows: max(Int(found.rounded()), 1),
            isOrdered: question.orderCount > 0 && (!plan.order.isEmpty || isInStoreOrder), isUnique: isUnique)
    }

    /// Whether a condition leaves one row at most. Not by a count, which another item changes.
    private func isKey(_ condition: Plan.Condition) -> Bool {
        condition.operation == .equal && !condition.isList
            && table.shape.columns[condition.column].field == store.keyField
    }
}

/// What a condition of a statement means for the rows of a column's field. It may hold for a row too many, since SQLite
/// tests each row again, and never for one too few.
struct SQLConditionTest {
    private let column: SQLColumns.Column

    init(_ column: SQLColumns.Column) { self.column = column }

    /// The test of a condition with the values that its plan has asked for; nil for one that all rows may satisfy.
    func test(_ condition: SQLRowTable.Plan.Condition, _ values: SQLiteArguments) -> ScanCondition.Test? {
        guard let argument = condition.argument else { return test(condition.operation, .null) }
        return condition.isList ? members(argument, values) : test(condition.operation, values[argument])
    }

    /// The test of a comparison with a value.
    func test(_ operation: SQLiteQuestion.Operation, _ cell: SQLiteCell) -> ScanCondition.Test? {
        switch operation {
        case .isNull: return .isAbsent
        case .isNotNull: return .isPresent
        default: break
        }
        if case .null = cell { return operation == .is ? .isAbsent : .nothing }
        switch operation {
        case .like, .glob: return prefix(cell, isLike: operation == .like)
        case .equal, .is: return compared(.equal, cell)
        case .less: return compared(.lessThan, cell)
        case .atMost: return compared(.lessThanOrEqual, cell)
        case .greater: return compared(.greaterThan, cell)
        case .atLeast: return compared(.greaterThanOrEqual, cell)
        default: return nil
        }
    }

    /// A test as that of a condition whose value comes later, to ask an index whether it would answer it; nil for one that
    /// all rows may satisfy, whatever the value.
    func example(_ operation: SQLiteQuestion.Operation, isList: Bool) -> ScanCondition.Test? {
        if operation == .like || operation == .glob {
            // Most patterns begin with a letter, which LIKE takes in either case.
            return .begins([UInt8(ascii: "a")], foldsCase: operation == .like)
        }
        if column.type.isDate { return isList ? nil : .dates(0...0) }
        return .compare(.equal, column.type.affinity == .text ? .text([]) : .integer(0))
    }

    private func compared(_ operation: PredicateOperator, _ cell: SQLiteCell) -> ScanCondition.Test? {
        guard let constant = constant(cell) else { return nil }
        if case .text(let text) = constant, column.type.isDate { return dates(operation, text) }
        return .compare(operation, constant)
    }

    /// The value of a condition if the column compares it as it is: numbers with numbers, texts with texts. The text of a
    /// date is as the column has it.
    func constant(_ cell: SQLiteCell) -> ScanCondition.Constant? {
        switch (cell, column.type.affinity) {
        case (.integer(let number), .numeric): .integer(number)
        case (.real(let number), .numeric): .real(number)
        case (.text(let text), .text):
            .text(column.type.isDate ? SQLDate.asWritten(Array(text), areDays: column.areDays) : Array(text))
        default: nil
        }
    }

    /// The range of dates whose texts may satisfy a comparison, a day too wide: for a text that only begins with a date.
    private func dates(_ operation: PredicateOperator, _ text: [UInt8]) -> ScanCondition.Test? {
        guard text.count >= 10, text[0..<4].allSatisfy({ $0 &- 0x30 < 10 }),
            let date = SQLDate.date(String(decoding: text, as: UTF8.self))
                ?? SQLDate.date(String(decoding: text.prefix(19), as: UTF8.self))
                ?? SQLDate.date(String(decoding: text.prefix(10), as: UTF8.self))
        else { return nil }
        let seconds = date.secondsSinceReferenceDate
        switch operation {
        case .lessThan, .lessThanOrEqual: return .dates(-Double.infinity...(seconds + 86400))
        case .greaterThan, .greaterThanOrEqual: return .dates((seconds - 86400)...Double.infinity)
        default: return .dates((seconds - 86400)...(seconds + 86400))
        }
    }

    private func members(_ argument: Int, _ values: SQLiteArguments) -> ScanCondition.Test? {
        var constants: Set<ScanCondition.Constant> = []
        var isKnown = !column.type.isDate
        values.forEach(inListAt: argument) { cell in
            if case .null = cell { return }
            if let constant = constant(cell) { constants.insert(constant) } else { isKnown = false }
        }
        return isKnown ? .among(Array(constants)) : nil
    }

    /// The beginning of a pattern, as far as it is literal.
    private func prefix(_ cell: SQLiteCell, isLike: Bool) -> ScanCondition.Test? {
        guard case .text(let pattern) = cell else { return nil }
        let wildcards: [UInt8] = isLike ? [0x25, 0x5F] : [0x2A, 0x3F, 0x5B]
        let prefix = pattern.prefix { $0 < 0x80 && !wildcards.contains($0) }
        return prefix.isEmpty ? nil : .begins(Array(prefix), foldsCase: isLike)
    }
}
