import ColumnEngine
import PropertyList
import SQLite

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
        case .less: return compared(.less, cell)
        case .atMost: return compared(.atMost, cell)
        case .greater: return compared(.greater, cell)
        case .atLeast: return compared(.atLeast, cell)
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

    private func compared(_ comparison: ScanCondition.Comparison, _ cell: SQLiteCell) -> ScanCondition.Test? {
        guard let constant = constant(cell) else { return nil }
        if case .text(let text) = constant, column.type.isDate {
            return dates(comparison, text)
        }
        return .compare(comparison, constant)
    }

    /// The value of a condition if the column compares it as it is: numbers with numbers, texts with texts. The text of a
    /// date's day, or of its beginning, is as the column has it.
    func constant(_ cell: SQLiteCell) -> ScanCondition.Constant? {
        switch (cell, column.type.affinity) {
        case (.integer(let number), .numeric): .integer(number)
        case (.real(let number), .numeric): .real(number)
        case (.text(let text), .text):
            .text(column.type.isDate ? SQLDate.asWritten(Array(text), areDays: column.areDays) : Array(text))
        default: nil
        }
    }

    /// The range of dates whose texts may satisfy a comparison, a day too wide.
    private func dates(_ comparison: ScanCondition.Comparison, _ text: [UInt8]) -> ScanCondition.Test? {
        guard text.count >= 10, text[0..<4].allSatisfy({ $0 &- 0x30 < 10 }),
            let date = SQLDate.date(String(decoding: text.prefix(19), as: UTF8.self))
                ?? SQLDate.date(String(decoding: text.prefix(10), as: UTF8.self))
        else { return nil }
        let seconds = date.secondsSinceReferenceDate
        switch comparison {
        case .equal: return .dates((seconds - 86400)...(seconds + 86400))
        case .less, .atMost: return .dates(-Double.infinity...(seconds + 86400))
        case .greater, .atLeast: return .dates((seconds - 86400)...Double.infinity)
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
