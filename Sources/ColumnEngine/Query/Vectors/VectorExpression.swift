import PredicateFormat
import PropertyList

/// A number computed from fields and constants, for a batch of rows at a time.
///
/// It computes in reals, and tracks for each number whether it is an integer: the quotient of two integers is truncated
/// to an integer. If a real can't represent the exact result of integers, the row is left to exact arithmetic.
indirect enum VectorExpression {
    /// The state of a computed number.
    enum State {
        static let absent: UInt8 = 0, real: UInt8 = 1, integer: UInt8 = 2, inexact: UInt8 = 3
    }

    case constant(Double, isInteger: Bool)
    case column(NumberView)
    case arithmetic(VectorExpression, PredicateArithmetic, VectorExpression)

    /// Nil for an expression that involves anything but numbers, or anything but the four basic operations.
    init?(_ expression: FormatExpression, _ store: ColumnStore) {
        switch expression {
        case .constant(let value):
            switch value {
            case .integer(let integer) where FieldColumn.isExact(integer):
                self = .constant(Double(integer), isInteger: true)
            case .real(let real) where real.isFinite: self = .constant(real, isInteger: false)
            default: return nil
            }
        case .keyPath(let path):
            guard path.rest.isEmpty, path.field != PredicateKeyPath.selfKey,
                let field = store.fields.existing(path.field)
            else { return nil }
            guard case .numbers(let numbers) = store.view(field), numbers.kind != .date else { return nil }
            self = .column(numbers)
        case .arithmetic(let left, let operation, let right):
            guard [.add, .subtract, .multiply, .divide].contains(operation), let left = VectorExpression(left, store),
                let right = VectorExpression(right, store)
            else { return nil }
            self = .arithmetic(left, operation, right)
        case .negated(let operand):
            guard let operand = VectorExpression(operand, store) else { return nil }
            self = .arithmetic(.constant(0, isInteger: true), .subtract, operand)
        default: return nil
        }
    }

    /// Moves the rows whose number satisfies a test to the front.
    func keep(
        _ rows: SelectionVector, _ test: RealTest, whenAbsent: Bool, _ otherwise: (UInt32) -> Bool
    ) -> Int {
        withNumbers(rows) { numbers, states in
            var selected = 0
            for place in rows.indices {
                let row = rows[place]
                rows[selected] = row
                let state = states[place]
                let holds: Bool
                if state == State.real || state == State.integer {
                    holds = test.holds(numbers[place])
                } else {
                    holds = state == State.absent ? whenAbsent : otherwise(row)
                }
                selected &+= holds ? 1 : 0
            }
            return selected
        }
    }

    /// Calls a body with the numbers of some rows and their states.
    func withNumbers<Result>(
        _ rows: SelectionVector,
        _ body: (UnsafeMutableBufferPointer<Double>, UnsafeMutableBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result {
        try withUnsafeTemporaryAllocation(of: Double.self, capacity: rows.count) { numbers in
            try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: rows.count) { states in
                compute(rows, numbers, states)
                return try body(numbers, states)
            }
        }
    }

    private func compute(
        _ rows: SelectionVector, _ numbers: UnsafeMutableBufferPointer<Double>,
        _ states: UnsafeMutableBufferPointer<UInt8>
    ) {
        switch self {
        case .constant(let number, let isInteger):
            for place in rows.indices {
                numbers[place] = number
                states[place] = isInteger ? State.integer : State.real
            }
        case .column(let column) where column.kind == .integer:
            for place in rows.indices {
                let value = column.integers[Int(rows[place])]
                numbers[place] = Double(value)
                let state = FieldColumn.isExact(value) ? State.integer : State.inexact
                states[place] = column.isPresent(rows[place]) ? state : State.absent
            }
        case .column(let column):
            for place in rows.indices {
                let row = rows[place]
                numbers[place] = column.reals[Int(row)]
                let state = State.real &+ (column.isIntegral(row) ? 1 : 0)
                states[place] = column.isPresent(row) ? state : State.absent
            }
        case .arithmetic(let left, let operation, let right):
            left.compute(rows, numbers, states)
            right.withNumbers(rows) { otherNumbers, otherStates in
                Self.combine(operation, numbers, states, otherNumbers, otherStates)
            }
        }
    }

    private static func combine(
        _ operation: PredicateArithmetic, _ numbers: UnsafeMutableBufferPointer<Double>,
        _ states: UnsafeMutableBufferPointer<UInt8>, _ otherNumbers: UnsafeMutableBufferPointer<Double>,
        _ otherStates: UnsafeMutableBufferPointer<UInt8>
    ) {
        switch operation {
        case .add: for place in numbers.indices { numbers[place] += otherNumbers[place] }
        case .subtract: for place in numbers.indices { numbers[place] -= otherNumbers[place] }
        case .multiply: for place in numbers.indices { numbers[place] *= otherNumbers[place] }
        default:
            for place in numbers.indices {
                let areIntegers = states[place] == State.integer && otherStates[place] == State.integer
                let quotient = otherNumbers[place] == 0 ? .nan : numbers[place] / otherNumbers[place]
                numbers[place] = areIntegers ? quotient.rounded(.towardZero) : quotient
            }
        }
        for place in numbers.indices { states[place] = state(states[place], otherStates[place], numbers[place]) }
    }

    /// The state of an operation's result.
    @inline(__always)
    private static func state(_ left: UInt8, _ right: UInt8, _ result: Double) -> UInt8 {
        if left == State.absent || right == State.absent { return State.absent }
        if left == State.inexact || right == State.inexact { return State.inexact }
        if left == State.integer, right == State.integer {
            // Beyond 53 bits a real may be rounded; a division by 0 has no result.
            return result.magnitude < 0x1p53 ? State.integer : result.isNaN ? State.absent : State.inexact
        }
        return result.isNaN ? State.absent : State.real
    }
}

/// The numbers or dates of a column: addresses of its memory, valid until the store is changed.
struct NumberView {
    /// Integer, real or date.
    let kind: Cell.Kind
    let words: UnsafePointer<UInt64>
    /// The bitmap of the rows with a value; nil if every row has one.
    let validity: UnsafePointer<UInt64>?
    /// The bitmap of the integers among reals; nil for other kinds.
    let integral: UnsafePointer<UInt64>?

    @inline(__always)
    var integers: UnsafePointer<Int64> { UnsafeRawPointer(words).assumingMemoryBound(to: Int64.self) }
    /// Of reals, and of the seconds of dates.
    @inline(__always)
    var reals: UnsafePointer<Double> { UnsafeRawPointer(words).assumingMemoryBound(to: Double.self) }

    @inline(__always)
    func isPresent(_ row: UInt32) -> Bool { validity.map { Self.has($0, row) } ?? true }

    @inline(__always)
    func isIntegral(_ row: UInt32) -> Bool { integral.map { Self.has($0, row) } ?? false }

    @inline(__always)
    private static func has(_ bits: UnsafePointer<UInt64>, _ row: UInt32) -> Bool {
        bits[Int(row >> 6)] >> UInt64(row & 63) & 1 != 0
    }

    @inline(__always)
    func cell(_ row: UInt32) -> Cell {
        if !isPresent(row) { return .absent }
        return isIntegral(row) ? .integer(Int64(reals[Int(row)])) : Cell(kind, words[Int(row)])
    }
}

/// An operator's input from a field: addresses of its column's memory, valid until the store is changed.
enum ColumnView {
    case numbers(NumberView)
    case codes(UnsafePointer<UInt32>, CellDictionary)
    case cells(UnsafePointer<Cell>)
    /// Texts that may still be in a mapped archive.
    case mappedTexts(FieldColumn)
    /// A field that is read row by row: `itemKey`, a rare one, or a declared one of mixed kinds.
    case rows
    /// A field that no item has.
    case absent
}

extension ColumnStore {
    /// The view of a field for a full scan.
    func view(_ field: ItemField) -> ColumnView {
        guard let column = materialise(field) else {
            return field == table.keyField || table.hasKind(field) ? .rows : .absent
        }
        return column.view(rowCount: table.rowCount)
    }

    /// Materialises the column of a field for a query.
    func materialise(_ field: ItemField) -> FieldColumn? {
        table.materialise(field, document.source) { heap.discard($0) }
    }
}

extension FieldColumn {
    /// The column as an operator reads it, with an element for each row.
    func view(rowCount: Int) -> ColumnView {
        extend(to: rowCount)
        if !misfits.isEmpty, encoding != .cells || !cells.isWhole { return .rows }
        switch encoding {
        case .numbers(let kind): return .numbers(numbers.view(kind, isFull: isDeclared || held == count))
        case .codes: return .codes(coded.base, coded.dictionary)
        case .cells: return cells.isWhole ? .cells(UnsafePointer(cells.base)) : .mappedTexts(self)
        case .sparse: return .rows
        }
    }
}
