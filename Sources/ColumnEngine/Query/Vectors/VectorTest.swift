import CPlatform
import PredicateFormat
import PropertyList

/// A condition on a batch of rows, compiled for a store's columns: a tree with a pass over a column in each leaf.
indirect enum VectorTest {
    case constant(Bool)
    case all([VectorTest])
    case any([VectorTest])
    case not(VectorTest)
    case integers(UnsafePointer<Int64>, presence: UnsafePointer<UInt64>?, PredicateIntegerTest, whenAbsent: Bool)
    case reals(UnsafePointer<Double>, presence: UnsafePointer<UInt64>?, RealTest, whenAbsent: Bool)
    case dates(UnsafePointer<Double>, presence: UnsafePointer<UInt64>?, PredicateDateTest, whenAbsent: Bool)
    /// Tests for a value: a comparison with nil.
    case presence(UnsafePointer<UInt64>?, whenPresent: Bool, whenAbsent: Bool)
    case cellPresence(UnsafePointer<Cell>, whenPresent: Bool, whenAbsent: Bool)
    /// The result for each entry of a dictionary.
    case codes(UnsafePointer<UInt32>, [UInt8])
    case cells(
        UnsafePointer<Cell>, PredicateConstantTest, PredicateTextTest, scan: (UnsafeBufferPointer<UInt8>) -> Bool)
    /// A text field of a mapped archive.
    case texts(FieldColumn, PredicateTextTest, whenAbsent: Bool, isFirstScan: Bool)
    /// A computed number.
    case numbers(VectorExpression, RealTest, whenAbsent: Bool, otherwise: (UInt32) -> Bool)
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
        case .not(let inner): return keepOthers(inner, rows, store)
        case .integers(let values, let presence, let test, let whenAbsent):
            return Self.keepIntegers(rows, values, presence, test, whenAbsent)
        case .reals(let values, let presence, let test, let whenAbsent):
            return Self.keepReals(rows, values, presence, test, whenAbsent)
        case .dates(let values, let presence, let test, let whenAbsent):
            return rows.keep {
                guard ColumnView.isPresent($0, presence) else { return whenAbsent }
                return test.holds(PropertyListDate(secondsSinceReferenceDate: values[Int($0)]))
            }
        case .presence(let presence, let whenPresent, let whenAbsent):
            guard let presence else { return whenPresent ? rows.count : 0 }
            return rows.keep {
                presence[Int($0 >> 6)] >> UInt64($0 & 63) & 1 != 0 ? whenPresent : whenAbsent
            }
        case .cellPresence(let cells, let whenPresent, let whenAbsent):
            return rows.keep { cells[Int($0)].isAbsent ? whenAbsent : whenPresent }
        case .codes(let codes, let verdicts):
            return verdicts.withUnsafeBufferPointer { verdicts in
                rows.keep { verdicts[Int(codes[Int($0)])] != 0 }
            }
        case .cells(let cells, let test, let text, let scan):
            return Self.keepCells(rows, cells, test, text, scan, store)
        case .texts(let column, let test, let whenAbsent, let isFirstScan):
            return MappedTextScan(column, isFirst: isFirstScan).keep(rows, test, whenAbsent: whenAbsent)
        case .numbers(let expression, let test, let whenAbsent, let otherwise):
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
        case .constant, .integers, .reals, .dates, .presence, .cellPresence, .codes, .numbers: true
        // A regular expression's automaton belongs to one scan.
        case .cells(_, _, .matches, _): false
        case .cells: true
        case .texts, .rows: false
        }
    }

    // MARK: Joined conditions

    private func keepAny(_ parts: [VectorTest], _ rows: SelectionVector, _ store: ColumnStore) -> Int {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: rows.count * 3) { scratch in
            let left = SelectionVector(rebasing: scratch[..<rows.count])
            let tried = SelectionVector(rebasing: scratch[rows.count..<rows.count * 2])
            let rejected = SelectionVector(rebasing: scratch[(rows.count * 2)...])
            _ = left.update(fromContentsOf: rows)
            var count = rows.count
            for part in parts where count > 0 {
                _ = tried.update(fromContentsOf: left.first(count))
                let found = part.keep(tried.first(count), store)
                count = left.first(count).remove(tried.first(found))
            }
            // The rows that no part accepted remain.
            _ = rejected.update(fromContentsOf: left.first(count))
            return rows.remove(rejected.first(count))
        }
    }

    private func keepOthers(_ inner: VectorTest, _ rows: SelectionVector, _ store: ColumnStore) -> Int {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: rows.count) { scratch in
            let tried = SelectionVector(rebasing: scratch[..<rows.count])
            _ = tried.update(fromContentsOf: rows)
            let found = inner.keep(tried, store)
            return rows.remove(tried.first(found))
        }
    }

    // MARK: Columns

    private static func keepIntegers(
        _ rows: SelectionVector, _ values: UnsafePointer<Int64>, _ presence: UnsafePointer<UInt64>?,
        _ test: PredicateIntegerTest, _ whenAbsent: Bool
    ) -> Int {
        if case .inside(let range) = test {
            let (lower, upper) = (range.lowerBound, range.upperBound)
            if let presence, !whenAbsent {
                return rows.keep {
                    let value = values[Int($0)]
                    let isPresent = presence[Int($0 >> 6)] >> UInt64($0 & 63) & 1 != 0
                    return (lower <= value) && (value <= upper) && isPresent
                }
            }
            // One unsigned comparison, after shifting the range to begin at 0.
            let width = UInt64(bitPattern: upper &- lower)
            if presence == nil { return rows.keep { UInt64(bitPattern: values[Int($0)] &- lower) <= width } }
        }
        return rows.keep {
            ColumnView.isPresent($0, presence) ? test.holds(values[Int($0)]) : whenAbsent
        }
    }

    private static func keepReals(
        _ rows: SelectionVector, _ values: UnsafePointer<Double>, _ presence: UnsafePointer<UInt64>?,
        _ test: RealTest, _ whenAbsent: Bool
    ) -> Int {
        if case .inside(let range) = test, let presence, !whenAbsent {
            let (lower, upper) = (range.lowerBound, range.upperBound)
            return rows.keep {
                let value = values[Int($0)]
                let isPresent = presence[Int($0 >> 6)] >> UInt64($0 & 63) & 1 != 0
                return (lower <= value) && (value <= upper) && isPresent
            }
        }
        return rows.keep {
            ColumnView.isPresent($0, presence) ? test.holds(values[Int($0)]) : whenAbsent
        }
    }

    private static func keepCells(
        _ rows: SelectionVector, _ cells: UnsafePointer<Cell>, _ test: PredicateConstantTest,
        _ text: PredicateTextTest, _ scan: (UnsafeBufferPointer<UInt8>) -> Bool, _ store: ColumnStore
    ) -> Int {
        @inline(__always) func keep(_ holds: (UnsafeBufferPointer<UInt8>) -> Bool) -> Int {
            var kept = 0
            for place in rows.indices {
                if place + SelectionVector.lookahead < rows.count {
                    cubby_prefetch(cells + Int(rows[place + SelectionVector.lookahead]))
                    cells[Int(rows[place + SelectionVector.lookahead / 2])].prefetchText()
                }
                let row = rows[place]
                rows[kept] = row
                let cell = cells + Int(row)
                let verdict: Bool
                if cell.pointee.isText {
                    verdict = holds(Cell.text(at: cell))
                } else {
                    verdict = cell.pointee.isAbsent ? test.whenAbsent : test.holds(store.heap.value(cell.pointee))
                }
                kept &+= verdict ? 1 : 0
            }
            return kept
        }
        if case .contains(let needle) = text { return keep { needle.isContained(in: $0) } }
        if case .matches = text { return keep(scan) }
        return keep { text.holds($0) }
    }
}
