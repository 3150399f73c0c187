import PredicateFormat
import PropertyList

/// The part of an index that satisfies a condition: from a key to a key, unbounded where nil.
struct IndexRange {
    var lower: IndexKey?
    var upper: IndexKey?
}

/// A boundary between values: before or after those equal to a value, or after all texts with a prefix.
struct IndexKey {
    enum Side {
        case before, behind
        /// After the texts with this prefix.
        case behindBeginning
    }

    var prefix: UInt64
    /// The value if it is a text.
    var text: [UInt8] = []
    /// The value if it is not a text.
    var cell: Cell = .absent
    var side: Side

    static func prefix(_ integer: Int64) -> UInt64 { UInt64(bitPattern: integer) ^ 1 << 63 }

    static func integer(_ value: Int64, _ side: Side) -> IndexKey {
        IndexKey(prefix: prefix(value), side: side)
    }

    static func date(_ seconds: Double, _ side: Side) -> IndexKey {
        IndexKey(prefix: CellOrder.ordered(seconds), side: side)
    }

    static func text(_ value: some Sequence<UInt8>, _ side: Side) -> IndexKey {
        let bytes = Array(value)
        return IndexKey(prefix: bytes.withUnsafeBufferPointer { CellOrder.prefix($0) }, text: bytes, side: side)
    }

    static func cell(_ value: Cell, _ side: Side) -> IndexKey {
        IndexKey(prefix: CellOrder.prefix(value), cell: value, side: side)
    }

    /// After every value of a kind: before the first of the next kind.
    static func rank(_ rank: UInt64) -> IndexKey {
        IndexKey(prefix: rank << 56, side: .before)
    }

    /// Whether an entry is before this boundary.
    func isBefore(_ entry: IndexEntry, _ store: ColumnStore, _ field: ItemField, _ isExact: Bool) -> Bool {
        if side == .behindBeginning { return beginsOrIsBefore(entry, store, field) }
        if entry.prefix != prefix { return entry.prefix < prefix }
        let order: Int
        if field == store.table.keyField {
            order = store.table.withKey(entry.row) { key in
                text.withUnsafeBufferPointer { CellOrder.compareText(key, $0) }
            }
        } else if isExact {
            order = 0
        } else {
            let value = store.table.cell(entry.row, field)
            if value.isText {
                order = value.withText { value in text.withUnsafeBufferPointer { CellOrder.compareText(value, $0) } }
            } else {
                order = CellOrder.compare(value, cell)
            }
        }
        return side == .before ? order < 0 : order <= 0
    }

    private func beginsOrIsBefore(_ entry: IndexEntry, _ store: ColumnStore, _ field: ItemField) -> Bool {
        func judge(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
            text.withUnsafeBufferPointer { text in
                let beginning = UnsafeBufferPointer(rebasing: value.prefix(text.count))
                return CellOrder.compareText(beginning, text) <= 0
            }
        }
        if field == store.table.keyField { return store.table.withKey(entry.row) { judge($0) } }
        let rank = entry.prefix >> 56
        guard rank == CellOrder.textRank else { return rank < CellOrder.textRank }
        return store.table.cell(entry.row, field).withText { judge($0) }
    }
}

/// The kind of an indexed field's values, which determines the conditions that the index can evaluate.
///
/// Predicates compare text with dates and truth values with numbers. A field with both kinds is scanned.
enum IndexedKind {
    /// Declared integers and dates, whose prefix is the whole value.
    case integer, date
    case number, dateCell, text, mixed

    /// The ranges of an index whose values are in a relation to a constant, as a `PredicateConstraint` has it; nil if the
    /// index can't evaluate it.
    func ranges(_ operation: PredicateOperator, _ constant: PropertyListValue) -> [IndexRange]? {
        if operation == .in, case .array(let constants) = constant {
            var ranges: [IndexRange] = []
            for constant in constants {
                guard let more = self.ranges(.equal, constant) else { return nil }
                ranges += more
            }
            return ranges
        }
        switch self {
        case .integer: return Self.integers(operation, constant)
        case .number:
            return Self.keys(
                operation, constant, Self.numberKey, from: .cell(.real(-.infinity), .before),
                to: .cell(.real(.infinity), .behind))
        case .date, .dateCell:
            return Self.keys(
                operation, constant, dateKey, from: date(-.infinity, .before), to: date(.infinity, .behind))
        case .text:
            if operation == .beginsWith, case .string(let text) = constant {
                return [IndexRange(lower: .text(text.utf8, .before), upper: .text(text.utf8, .behindBeginning))]
            }
            return Self.keys(
                operation, constant, Self.textKey, from: .rank(CellOrder.textRank), to: .rank(CellOrder.textRank + 1))
        case .mixed: return nil
        }
    }

    /// The key of a date, for a field of dates.
    func date(_ seconds: Double, _ side: IndexKey.Side) -> IndexKey {
        self == .date ? .date(seconds, side) : .cell(.date(seconds), side)
    }

    /// The meaning of a constant for a field.
    private enum Answer {
        case key(IndexKey)
        /// No value of the field is comparable with it.
        case nothing
        case unknown
    }

    private typealias MakeKey = (PropertyListValue, IndexKey.Side) -> Answer

    private static func keys(
        _ operation: PredicateOperator, _ constant: PropertyListValue, _ make: MakeKey, from least: IndexKey,
        to greatest: IndexKey
    ) -> [IndexRange]? {
        let ends: (Answer, Answer) =
            switch (operation, constant) {
            case (.equal, _): (make(constant, .before), make(constant, .behind))
            case (.lessThan, _): (.key(least), make(constant, .before))
            case (.lessThanOrEqual, _): (.key(least), make(constant, .behind))
            case (.greaterThan, _): (make(constant, .behind), .key(greatest))
            case (.greaterThanOrEqual, _): (make(constant, .before), .key(greatest))
            case (.between, .array(let bounds)) where bounds.count == 2:
                (make(bounds[0], .before), make(bounds[1], .behind))
            default: (.nothing, .nothing)
            }
        switch ends {
        case (.unknown, _), (_, .unknown): return nil
        case (.key(let lower), .key(let upper)): return [IndexRange(lower: lower, upper: upper)]
        default: return []
        }
    }

    private static func numberKey(_ value: PropertyListValue, _ side: IndexKey.Side) -> Answer {
        switch value {
        case .boolean(let flag): .key(.cell(.integer(flag ? 1 : 0), side))
        case .integer(let number): .key(.cell(.integer(number), side))
        case .real(let number): number.isNaN ? .nothing : .key(.cell(.real(number), side))
        case .single(let number): number.isNaN ? .nothing : .key(.cell(.real(Double(number)), side))
        case .wideInteger: .unknown
        default: .nothing
        }
    }

    private func dateKey(_ value: PropertyListValue, _ side: IndexKey.Side) -> Answer {
        value.predicateDate.map { .key(date($0.secondsSinceReferenceDate, side)) } ?? .nothing
    }

    private static func textKey(_ value: PropertyListValue, _ side: IndexKey.Side) -> Answer {
        switch value {
        case .string(let text): .key(.text(text.utf8, side))
        // A text may be an ISO 8601 date.
        case .date: .unknown
        default: .nothing
        }
    }

    private static func integers(_ operation: PredicateOperator, _ constant: PropertyListValue) -> [IndexRange]? {
        if operation == .beginsWith { return nil }
        switch PredicateIntegerTest(operation, constant) {
        case .inside(let range)?:
            return [
                IndexRange(lower: .integer(range.lowerBound, .before), upper: .integer(range.upperBound, .behind))
            ]
        case .always(false)?: return []
        default: return nil
        }
    }
}

/// A set of rows, a bit each.
struct RowSet {
    private var words: [UInt64] = []

    /// Adds a row; returns whether it was missing.
    @inline(__always)
    mutating func insert(_ row: UInt32) -> Bool {
        let word = Int(row >> 6)
        if word >= words.count {
            words.append(contentsOf: repeatElement(0, count: max(word + 1, words.count * 2) - words.count))
        }
        let bit = UInt64(1) << UInt64(row & 63)
        let isNew = words[word] & bit == 0
        words[word] |= bit
        return isNew
    }

    /// Removes a row; returns whether it was present.
    @inline(__always)
    mutating func remove(_ row: UInt32) -> Bool {
        let word = Int(row >> 6)
        guard word < words.count else { return false }
        let bit = UInt64(1) << UInt64(row & 63)
        let wasThere = words[word] & bit != 0
        words[word] &= ~bit
        return wasThere
    }

    @inline(__always)
    func contains(_ row: UInt32) -> Bool {
        let word = Int(row >> 6)
        return word < words.count && words[word] & 1 << UInt64(row & 63) != 0
    }

    /// Calls a body with each row, in ascending order.
    @inline(__always)
    func forEach(_ body: (UInt32) -> Void) {
        for word in words.indices {
            var bits = words[word]
            while bits != 0 {
                let row = UInt32(word << 6 + bits.trailingZeroBitCount)
                bits &= bits - 1
                body(row)
            }
        }
    }
}
