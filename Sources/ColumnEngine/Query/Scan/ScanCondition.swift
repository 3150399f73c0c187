package import PredicateFormat
import PropertyList

/// A condition of a scan: a comparison of a field with a value, as SQL compares. It may accept a row too many, where the
/// reader compares in another way (a value in a box, or of another kind than the condition's), and never one too few.
package struct ScanCondition {
    /// A value to compare with.
    package enum Constant: Sendable, Hashable {
        case integer(Int64)
        case real(Double)
        case text([UInt8])
    }

    package enum Test: Sendable, Hashable {
        case isAbsent, isPresent
        /// `==`, or one of the orders.
        case compare(PredicateOperator, Constant)
        case among([Constant])
        /// A text begins with ASCII letters, in any case if folded.
        case begins([UInt8], foldsCase: Bool)
        /// A date is within a range of seconds since the reference date.
        case dates(ClosedRange<Double>)
        case nothing
    }

    package let field: ItemField
    package let test: Test

    package init(_ field: ItemField, _ test: Test) { (self.field, self.test) = (field, test) }
}

extension ScanCondition.Test {
    /// Whether a cell may satisfy it.
    @inline(__always)
    func accepts(_ cell: UnsafePointer<Cell>) -> Bool {
        switch self {
        case .nothing: return false
        case .isAbsent: return cell.pointee.isAbsent || Self.isNaN(cell.pointee)
        case _ where cell.pointee.isAbsent: return false
        case .isPresent: return true
        case .compare(let operation, let constant):
            return Self.order(cell, constant).map { operation.accepts($0) } ?? true
        case .among(let constants):
            return constants.contains { Self.order(cell, $0).map { $0 == 0 } ?? true }
        case .begins(let prefix, let foldsCase):
            return cell.pointee.isText ? Self.begins(Cell.text(at: cell), prefix, foldsCase) : true
        case .dates(let range):
            return cell.pointee.kind == .date ? Self.isWithin(cell.pointee.realValue, range) : true
        }
    }

    /// Dates whose years have another number of digits are left to the reader: their texts have other forms.
    @inline(__always)
    static var datesOfFourDigits: ClosedRange<Double> { -62_000_000_000...252_000_000_000 }

    @inline(__always)
    static func isWithin(_ seconds: Double, _ range: ClosedRange<Double>) -> Bool {
        range.contains(seconds) || !datesOfFourDigits.contains(seconds)
    }

    private static func isNaN(_ cell: Cell) -> Bool {
        switch cell.kind {
        case .real, .single: CellOrder.number(cell).isNaN
        default: false
        }
    }

    /// The order of a cell and a constant of its kind; nil for others.
    @inline(__always)
    private static func order(_ cell: UnsafePointer<Cell>, _ constant: ScanCondition.Constant) -> Int? {
        switch (cell.pointee.kind, constant) {
        case (.shortText, .text(let text)), (.longText, .text(let text)):
            return text.withUnsafeBufferPointer { CellOrder.compareText(Cell.text(at: cell), $0) }
        case (.integer, .integer(let other)):
            let number = cell.pointee.integerValue
            return number < other ? -1 : number > other ? 1 : 0
        case (.integer, .real(let other)), (.real, .real(let other)), (.single, .real(let other)):
            return CellOrder.compare(cell.pointee, .real(other))
        case (.real, .integer(let other)), (.single, .integer(let other)):
            return CellOrder.compare(cell.pointee, .integer(other))
        case (.no, .integer(let other)): return other == 0 ? 0 : other > 0 ? -1 : 1
        case (.yes, .integer(let other)): return other == 1 ? 0 : other > 1 ? -1 : 1
        default: return nil
        }
    }

    /// Bytes beyond ASCII may be the other case of an ASCII letter.
    private static func begins(_ text: UnsafeBufferPointer<UInt8>, _ prefix: [UInt8], _ foldsCase: Bool) -> Bool {
        for place in prefix.indices {
            guard place < text.count else { return false }
            if text[place] >= 0x80 { return foldsCase }
            let isSame = foldsCase ? folded(text[place]) == folded(prefix[place]) : text[place] == prefix[place]
            if !isSame { return false }
        }
        return true
    }

    @inline(__always)
    private static func folded(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}

/// A condition with what it reads, valid until the store changes.
struct ScanFilter {
    private enum Pass {
        case integers(NumberView, ClosedRange<Int64>)
        case reals(NumberView, ClosedRange<Double>)
        case dates(NumberView, ClosedRange<Double>)
        /// One of many integers, ascending.
        case members(NumberView, [Int64])
        case validity(NumberView, isPresent: Bool)
        /// No value, or a real that is NaN.
        case lacking(NumberView)
        case codes(UnsafePointer<UInt32>, [Bool])
        case cells(UnsafePointer<Cell>)
        case rows
        case all, none
    }

    private let pass: Pass
    private let condition: ScanCondition

    init(_ condition: ScanCondition, _ store: ColumnStore) {
        self.condition = condition
        let test = condition.test
        switch store.view(condition.field) {
        case .absent: pass = test == .isAbsent ? .all : .none
        case .numbers(let numbers): pass = Self.pass(numbers, test)
        case .codes(let codes, let dictionary):
            // Tested once for each distinct value.
            pass = .codes(
                codes,
                dictionary.cells.map {
                    var cell = $0
                    return test.accepts(&cell)
                })
        case .cells(let cells): pass = .cells(cells)
        case .mappedTexts, .rows: pass = .rows
        }
    }

    private static func pass(_ numbers: NumberView, _ test: ScanCondition.Test) -> Pass {
        switch (test, numbers.kind) {
        case (.nothing, _): return .none
        case (.isAbsent, .real): return .lacking(numbers)
        case (.isAbsent, _): return .validity(numbers, isPresent: false)
        case (.isPresent, _): return .validity(numbers, isPresent: true)
        case (.compare(let operation, let constant), .integer):
            return range(operation, constant).map { .integers(numbers, $0) } ?? unknown(constant)
        case (.compare(let operation, let constant), .real):
            return realRange(operation, constant).map { .reals(numbers, $0) } ?? unknown(constant)
        case (.dates(let range), .date): return .dates(numbers, range)
        case (.among(let constants), .integer): return Self.members(constants).map { .members(numbers, $0) } ?? .rows
        case (.among, .real): return .rows
        default: return .validity(numbers, isPresent: true)
        }
    }

    /// The integers of a list; nil if it has texts, which the reader compares.
    private static func members(_ constants: [ScanCondition.Constant]) -> [Int64]? {
        var members: [Int64] = []
        for constant in constants {
            switch constant {
            case .integer(let number): members.append(number)
            case .real(let number): if let number = Int64(exactly: number) { members.append(number) }
            case .text: return nil
            }
        }
        return members.sorted()
    }

    /// A text is compared with numbers by the reader; no other number is out of range.
    private static func unknown(_ constant: ScanCondition.Constant) -> Pass {
        if case .text = constant { .all } else { .none }
    }

    /// The integers that satisfy a comparison; nil for none, and for a text.
    private static func range(
        _ operation: PredicateOperator, _ constant: ScanCondition.Constant
    ) -> ClosedRange<Int64>? {
        let test: PredicateIntegerTest? =
            switch constant {
            case .integer(let number): PredicateIntegerTest(operation, .integer(number))
            case .real(let number): PredicateIntegerTest(operation, .real(number))
            case .text: nil
            }
        return if case .inside(let range) = test { range } else { nil }
    }

    /// The same for reals.
    private static func realRange(
        _ operation: PredicateOperator, _ constant: ScanCondition.Constant
    ) -> ClosedRange<Double>? {
        switch constant {
        case .integer(let number) where number.magnitude < 1 << 53:
            return RealTest.range(operation, Double(number))
        // A real near it may be less or more than a large integer: it counts as both.
        case .integer(let number):
            let inclusive: PredicateOperator =
                switch operation {
                case .lessThan: .lessThanOrEqual
                case .greaterThan: .greaterThanOrEqual
                default: operation
                }
            return RealTest.range(inclusive, Double(number))
        case .real(let number): return number.isNaN ? nil : RealTest.range(operation, number)
        case .text: return nil
        }
    }

    // MARK: Testing

    @inline(__always)
    private static func contains(_ members: UnsafeBufferPointer<Int64>, _ number: Int64) -> Bool {
        let low = members.indices.bisected { members[$0] < number }
        return low < members.count && members[low] == number
    }

    /// Moves the rows that may satisfy the condition to the front, in order.
    ///
    /// - Returns: their number.
    func keep(_ rows: SelectionVector, _ store: ColumnStore) -> Int {
        switch pass {
        case .all: return rows.count
        case .none: return 0
        case .integers(let numbers, let range): return rows.keep(numbers.integers, numbers.validity, range)
        case .reals(let numbers, let range): return rows.keep(numbers.reals, numbers.validity, range)
        case .dates(let numbers, let range):
            return rows.keep {
                numbers.isPresent($0) && ScanCondition.Test.isWithin(numbers.reals[Int($0)], range)
            }
        case .members(let numbers, let members):
            return members.withUnsafeBufferPointer { members in
                rows.keep { numbers.isPresent($0) && Self.contains(members, numbers.integers[Int($0)]) }
            }
        case .validity(let numbers, let isPresent): return rows.keep { numbers.isPresent($0) == isPresent }
        case .lacking(let numbers):
            return rows.keep { !numbers.isPresent($0) || numbers.reals[Int($0)].isNaN }
        case .codes(let codes, let verdicts):
            return verdicts.withUnsafeBufferPointer { verdicts in rows.keep { verdicts[Int(codes[Int($0)])] } }
        case .cells(let cells):
            let test = condition.test
            return rows.keep { test.accepts(cells + Int($0)) }
        case .rows:
            let (test, field) = (condition.test, condition.field)
            if field == store.table.keyField {
                return rows.keep { row in
                    store.table.withKey(row) { text in
                        var cell = Cell.temporary(text)
                        return test.accepts(&cell)
                    }
                }
            }
            return rows.keep {
                var cell = store.table.cell($0, field)
                return test.accepts(&cell)
            }
        }
    }
}
