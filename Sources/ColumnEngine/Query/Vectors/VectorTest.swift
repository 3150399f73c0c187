import CPlatform
import PredicateFormat
import PropertyList

/// A condition on a batch of rows, compiled for a store's columns: a tree with a pass over a column in each leaf.
indirect enum VectorTest {
    case constant(Bool)
    case all([VectorTest])
    case any([VectorTest])
    case not(VectorTest)
    case numbers(NumberView, NumberTest, whenAbsent: Bool)
    /// Tests for a value: a comparison with nil.
    case validity(UnsafePointer<UInt64>?, whenPresent: Bool, whenAbsent: Bool)
    case cellValidity(UnsafePointer<Cell>, whenPresent: Bool, whenAbsent: Bool)
    /// The result for each entry of a dictionary.
    case codes(UnsafePointer<UInt32>, [UInt8])
    case cells(
        UnsafePointer<Cell>, PredicateConstantTest, PredicateTextTest, scan: (UnsafeBufferPointer<UInt8>) -> Bool)
    /// A text field of a mapped archive.
    case texts(FieldColumn, PredicateTextTest, whenAbsent: Bool, isFirstScan: Bool)
    /// A computed number.
    case computed(VectorExpression, RealTest, whenAbsent: Bool, otherwise: (UInt32) -> Bool)
    /// Any other condition, row by row.
    case rows((UInt32) -> Bool)
    /// A condition of an explained query.
    case counted(VectorTest, ConditionCount)

    /// Moves the rows that satisfy the condition to the front, in order. The store must not change meanwhile.
    ///
    /// - Returns: their number.
    func keep(_ rows: SelectionVector, _ store: ColumnStore) -> Int {
        if rows.isEmpty { return 0 }
        switch self {
        case .constant(let verdict): return verdict ? rows.count : 0
        case .all(let parts):
            var count = rows.count
            for part in parts where count > 0 { count = part.keep(rows.first(count), store) }
            return count
        case .any(let parts): return keepAny(parts, rows, store)
        case .not(let inner): return keepComplement(inner, rows, store)
        case .numbers(let numbers, let test, let whenAbsent): return Self.keep(rows, numbers, test, whenAbsent)
        case .validity(let validity, let whenPresent, let whenAbsent):
            guard let validity else { return whenPresent ? rows.count : 0 }
            return rows.keep {
                validity[Int($0 >> 6)] >> UInt64($0 & 63) & 1 != 0 ? whenPresent : whenAbsent
            }
        case .cellValidity(let cells, let whenPresent, let whenAbsent):
            return rows.keep { cells[Int($0)].isAbsent ? whenAbsent : whenPresent }
        case .codes(let codes, let verdicts):
            return verdicts.withUnsafeBufferPointer { verdicts in
                rows.keep { verdicts[Int(codes[Int($0)])] != 0 }
            }
        case .cells(let cells, let test, let text, let scan):
            return Self.keepCells(rows, cells, test, text, scan, store)
        case .texts(let column, let test, let whenAbsent, let isFirstScan):
            return MappedTextScan(column: column, isFirst: isFirstScan).keep(rows, test, whenAbsent: whenAbsent)
        case .computed(let expression, let test, let whenAbsent, let otherwise):
            return expression.keep(rows, test, whenAbsent: whenAbsent, otherwise)
        case .rows(let condition): return rows.keep(condition)
        case .counted(let inner, let count): return count.measure(rows.count) { inner.keep(rows, store) }
        }
    }

    /// Whether it accepts all rows.
    var isTrivial: Bool {
        switch self {
        case .all(let parts): parts.isEmpty
        case .counted(let inner, _): inner.isTrivial
        default: false
        }
    }

    /// Whether it reads only columns and has no state, so that any thread may run it while the store does not change.
    var readsColumnsAlone: Bool {
        switch self {
        case .all(let parts), .any(let parts): parts.allSatisfy(\.readsColumnsAlone)
        case .not(let inner), .counted(let inner, _): inner.readsColumnsAlone
        case .constant, .numbers, .validity, .cellValidity, .codes, .computed: true
        // A regular expression's automaton belongs to one scan.
        case .cells(_, _, .matches, _): false
        case .cells: true
        case .texts, .rows: false
        }
    }

    // MARK: Joined conditions

    private func keepAny(_ parts: [VectorTest], _ rows: SelectionVector, _ store: ColumnStore) -> Int {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: rows.count * 2) { scratch in
            let left = SelectionVector(rebasing: scratch[..<rows.count])
            let tried = SelectionVector(rebasing: scratch[rows.count...])
            _ = left.update(fromContentsOf: rows)
            var count = rows.count
            for part in parts where count > 0 {
                _ = tried.update(fromContentsOf: left.first(count))
                let found = part.keep(tried.first(count), store)
                count = left.first(count).remove(tried.first(found))
            }
            // The rows that no part accepted remain.
            return rows.remove(left.first(count))
        }
    }

    private func keepComplement(_ inner: VectorTest, _ rows: SelectionVector, _ store: ColumnStore) -> Int {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: rows.count) { scratch in
            let tried = SelectionVector(rebasing: scratch[..<rows.count])
            _ = tried.update(fromContentsOf: rows)
            let found = inner.keep(tried, store)
            return rows.remove(tried.first(found))
        }
    }

    // MARK: Columns

    private static func keep(
        _ rows: SelectionVector, _ numbers: NumberView, _ test: NumberTest, _ whenAbsent: Bool
    ) -> Int {
        let (integers, reals) = (numbers.integers, numbers.reals)
        switch test {
        case .integer(.inside(let range)) where !whenAbsent: return rows.keep(integers, numbers.validity, range)
        case .real(.inside(let range)) where !whenAbsent: return rows.keep(reals, numbers.validity, range)
        case .integer(let test):
            return rows.keep { numbers.isPresent($0) ? test.holds(integers[Int($0)]) : whenAbsent }
        case .real(let test): return rows.keep { numbers.isPresent($0) ? test.holds(reals[Int($0)]) : whenAbsent }
        case .date(let test):
            return rows.keep {
                guard numbers.isPresent($0) else { return whenAbsent }
                return test.holds(PropertyListDate(secondsSinceReferenceDate: reals[Int($0)]))
            }
        }
    }

    private static func keepCells(
        _ rows: SelectionVector, _ cells: UnsafePointer<Cell>, _ test: PredicateConstantTest,
        _ text: PredicateTextTest, _ scan: (UnsafeBufferPointer<UInt8>) -> Bool, _ store: ColumnStore
    ) -> Int {
        @inline(__always) func keep(_ holds: (UnsafeBufferPointer<UInt8>) -> Bool) -> Int {
            var selected = 0
            for place in rows.indices {
                if place + SelectionVector.lookahead < rows.count {
                    cubby_prefetch(cells + Int(rows[place + SelectionVector.lookahead]))
                    cells[Int(rows[place + SelectionVector.lookahead / 2])].prefetchText()
                }
                let row = rows[place]
                rows[selected] = row
                let cell = cells + Int(row)
                let verdict: Bool
                if cell.pointee.isText {
                    verdict = holds(Cell.text(at: cell))
                } else {
                    verdict = cell.pointee.isAbsent ? test.whenAbsent : test.holds(store.heap.value(cell.pointee))
                }
                selected &+= verdict ? 1 : 0
            }
            return selected
        }
        if case .contains(let needle) = text { return keep { needle.isContained(in: $0) } }
        if case .matches = text { return keep(scan) }
        return keep { text.holds($0) }
    }
}

/// Compiles a predicate's plan to passes over columns.
struct VectorPlanner {
    let store: ColumnStore
    /// Whether to count each condition's rows.
    var isCounted = false

    private var compiler: PredicateCompiler<UInt32> { store.compiler }

    func test(_ plan: PredicatePlan) -> VectorTest {
        let test = uncountedTest(plan)
        return isCounted ? .counted(test, ConditionCount(plan.node.description, remark(plan, test))) : test
    }

    private func uncountedTest(_ plan: PredicatePlan) -> VectorTest {
        switch plan {
        case .constant(let verdict): return .constant(verdict)
        case .all(let parts): return .all(compiler.sorted(parts).map(test))
        case .any(let parts): return .any(compiler.sorted(parts).map(test))
        case .not(let inner): return .not(test(inner))
        case .test(.keyPath(let path), .direct, let test)
        where path.rest.isEmpty && path.field != PredicateKeyPath.selfKey:
            return fieldTest(path.field, test) ?? .rows(compiler.condition(plan))
        case .test(let expression, .direct, let constant):
            guard case .arithmetic = expression, let real = RealTest(constant),
                let numbers = VectorExpression(expression, store)
            else { return .rows(compiler.condition(plan)) }
            return .computed(numbers, real, whenAbsent: constant.whenAbsent, otherwise: compiler.condition(plan))
        case .test, .comparison: return .rows(compiler.condition(plan))
        }
    }

    /// A pass over the field's column; nil if it has to be tested row by row.
    private func fieldTest(_ name: String, _ test: PredicateConstantTest) -> VectorTest? {
        guard let field = store.fields.existing(name) else { return .constant(test.whenAbsent) }
        let absent = test.whenAbsent
        let view = store.view(field)
        if case .null = test.constant, let test = validityTest(view, test) { return test }
        switch view {
        case .absent: return .constant(absent)
        case .numbers(let numbers):
            return NumberTest(test, numbers.kind).map { .numbers(numbers, $0, whenAbsent: absent) }
        case .codes(let codes, let dictionary):
            // Evaluated once for each distinct value.
            return .codes(codes, dictionary.cells.map { holds($0, test) ? 1 : 0 })
        case .cells(let cells):
            return test.text.map { .cells(cells, test, $0, scan: $0.makeScan()) }
        case .mappedTexts(let column):
            return test.text.map {
                .texts(column, $0, whenAbsent: absent, isFirstScan: column.cells.beginScan())
            }
        case .rows: return nil
        }
    }

    /// A comparison with nil: every value differs from it, and is not ordered relative to it.
    private func validityTest(_ view: ColumnView, _ test: PredicateConstantTest) -> VectorTest? {
        guard test.operation == .equal || test.operation == .notEqual else { return nil }
        let whenPresent = test.operation == .notEqual
        switch view {
        case .numbers(let numbers):
            return .validity(numbers.validity, whenPresent: whenPresent, whenAbsent: test.whenAbsent)
        case .cells(let cells): return .cellValidity(cells, whenPresent: whenPresent, whenAbsent: test.whenAbsent)
        case .codes, .mappedTexts, .rows, .absent: return nil
        }
    }

    private func holds(_ cell: Cell, _ test: PredicateConstantTest) -> Bool {
        if cell.isAbsent { return test.whenAbsent }
        if cell.isText, let text = test.text { return cell.withText { text.holds($0) } }
        return test.holds(store.heap.value(cell))
    }
}

/// A comparison of a column's numbers or dates with a constant on its right.
enum NumberTest {
    case integer(PredicateIntegerTest), real(RealTest), date(PredicateDateTest)

    init?(_ test: PredicateConstantTest, _ kind: Cell.Kind) {
        let made: NumberTest? =
            switch kind {
            case .integer: test.integer.map(NumberTest.integer)
            case .date: test.date.map(NumberTest.date)
            default: RealTest(test).map(NumberTest.real)
            }
        guard let made else { return nil }
        self = made
    }
}

/// A comparison of a real with a constant on its right, reduced to a range, its complement, or a list.
enum RealTest {
    case inside(ClosedRange<Double>)
    case outside(ClosedRange<Double>)
    case always(Bool)
    /// One of many, ascending.
    case among([Double])

    /// The test for a constant; nil if it is not a number, or a real can't represent it exactly.
    init?(_ test: PredicateConstantTest) {
        func number(_ value: PropertyListValue) -> Double? {
            switch PredicateNumber(value) {
            case .integer(let integer)?: integer.magnitude < 1 << 53 ? Double(Int64(integer)) : nil
            case .real(let real)?: real
            case nil: nil
            }
        }
        switch test.operation {
        case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            guard let bound = number(test.constant) else { return nil }
            if bound.isNaN {
                self = .always(test.operation == .notEqual)
                return
            }
            if test.operation == .notEqual {
                self = .outside(bound...bound)
            } else {
                self = Self.range(test.operation, bound).map { .inside($0) } ?? .always(false)
            }
        case .between:
            guard case .array(let bounds) = test.constant, bounds.count == 2, let lower = number(bounds[0]),
                let upper = number(bounds[1])
            else { return nil }
            self = lower <= upper ? .inside(lower...upper) : .always(false)
        case .in:
            guard let elements = test.constant.predicateElements else { return nil }
            var numbers: [Double] = []
            for element in elements where PredicateNumber(element) != nil {
                guard let number = number(element) else { return nil }
                numbers.append(number)
            }
            self = .among(numbers.filter { !$0.isNaN }.sorted())
        case .contains, .beginsWith, .endsWith, .like, .matches: self = .always(false)
        }
    }

    /// The reals that are equal to a bound, or in an order to it; nil for none.
    static func range(_ operation: PredicateOperator, _ bound: Double) -> ClosedRange<Double>? {
        let infinity = Double.infinity
        return switch operation {
        case .lessThan: bound == -infinity ? nil : -infinity...bound.nextDown
        case .lessThanOrEqual: -infinity...bound
        case .greaterThan: bound == infinity ? nil : bound.nextUp...infinity
        case .greaterThanOrEqual: bound...infinity
        default: bound...bound
        }
    }

    @inline(__always)
    func holds(_ number: Double) -> Bool {
        switch self {
        case .inside(let range): range.lowerBound <= number && number <= range.upperBound
        case .outside(let range): !(range.lowerBound <= number && number <= range.upperBound)
        case .always(let verdict): verdict
        case .among(let numbers): numbers.contains(number)
        }
    }
}

/// A pass over a text field that may still be in a mapped archive; it reads only the rows left by earlier passes.
struct MappedTextScan {
    let column: FieldColumn
    /// Whether it is the first one since the archive was mapped: then texts are tested in place, and not cached.
    let isFirst: Bool

    func keep(_ rows: SelectionVector, _ test: PredicateTextTest, whenAbsent: Bool) -> Int {
        if isFirst {
            return withUnsafeTemporaryAllocation(of: Cell.self, capacity: rows.count) { cells in
                guard let cells = cells.baseAddress else { return 0 }
                column.cells.peek(at: rows, cells)
                var selected = 0
                for place in rows.indices {
                    rows[selected] = rows[place]
                    let isSelected = cells[place].isAbsent ? whenAbsent : test.holds(Cell.text(at: cells + place))
                    selected &+= isSelected ? 1 : 0
                }
                return selected
            }
        }
        column.cells.materialiseTexts(rows)
        if case .contains(let needle) = test { return keep(rows, whenAbsent) { needle.isContained(in: $0) } }
        return keep(rows, whenAbsent) { test.holds($0) }
    }

    @inline(__always)
    private func keep(
        _ rows: SelectionVector, _ whenAbsent: Bool, _ holds: (UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Int {
        var selected = 0
        for place in rows.indices {
            if place + SelectionVector.lookahead < rows.count {
                column.cells.prefetch(rows[place + SelectionVector.lookahead])
                column.prefetchText(rows[place + SelectionVector.lookahead / 2])
            }
            let row = rows[place]
            rows[selected] = row
            let pointer = column.cells.pointer(row)
            let isSelected = pointer.pointee.isAbsent ? whenAbsent : holds(Cell.text(at: pointer))
            selected &+= isSelected ? 1 : 0
        }
        return selected
    }
}
