import PredicateFormat
import PropertyList

/// An ordered index as a scan uses it: the ranks whose values may satisfy the scan's conditions on the field.
///
/// An index is used where all values of its field are numbers, or texts, or dates: their order is that of SQL. It has no
/// item that lacks the field.
struct ScanIndex {
    let index: OrderedIndex
    let ranks: [Range<Int>]

    /// The ranks of an index that is ready; nil if it does not answer one of the tests.
    init?(_ index: OrderedIndex, _ store: ColumnStore, _ tests: [ScanCondition.Test]) {
        let kind = index.field == store.table.keyField ? .text : store.table.indexedKind(index.field)
        var ranks = [0..<index.count]
        for test in tests {
            guard let ranges = test.ranges(kind, of: index.count) else { return nil }
            ranks = OrderedIndex.intersection(ranks, index.ranks(inAny: ranges))
        }
        (self.index, self.ranks) = (index, ranks)
    }

    var count: Int { ranks.reduce(0) { $0 + $1.count } }

    /// The index that leaves the fewest rows; nil if a scan is as fast as each.
    static func best(_ store: ColumnStore, _ conditions: [ScanCondition]) -> ScanIndex? {
        var best: ScanIndex?
        for index in store.indexes {
            let tests = conditions.filter { $0.field == index.field }.map(\.test)
            guard !tests.isEmpty, index.isReady(builds: false), let found = ScanIndex(index, store, tests),
                found.count < best?.count ?? .max, store.isFew(found.count)
            else { continue }
            best = found
        }
        return best
    }

    /// The index whose order a scan by one field has; nil if it does not answer all conditions.
    static func ordered(
        _ store: ColumnStore, _ conditions: [ScanCondition], by field: ItemField
    ) -> ScanIndex? {
        guard conditions.allSatisfy({ $0.field == field }),
            let index = store.indexes.first(where: { $0.field == field }), index.isReady(builds: false)
        else { return nil }
        return ScanIndex(index, store, conditions.map(\.test))
    }
}

extension ScanCondition.Test {
    /// The most values of a list that are looked up one by one.
    private static let listLimit = 4096

    /// The ranges that it asks for of an index with a number of values of a kind; nil if the index does not answer it.
    fileprivate func ranges(_ kind: IndexedKind, of count: Int) -> [IndexRange]? {
        switch self {
        case .nothing: return []
        case .isAbsent: return nil
        case .isPresent: return [IndexRange()]
        case .compare(let comparison, let constant):
            return constant.value(for: kind).flatMap { kind.ranges(comparison.relation($0)) }
        case .among(let constants):
            guard constants.count <= Swift.min(Self.listLimit, Swift.max(count / 32, 64)) else { return nil }
            let values = constants.map { $0.value(for: kind) }
            return values.contains(nil) ? nil : kind.ranges(.among(values.compactMap { $0 }))
        case .begins(let bytes, let foldsCase):
            guard kind == .text else { return nil }
            // A letter may begin the texts of two ranges, one for each case.
            let beginning = foldsCase ? bytes.prefix { !Self.isLetter($0) } : bytes[...]
            guard !beginning.isEmpty else { return nil }
            return kind.ranges(.beginsWith(String(decoding: beginning, as: UTF8.self)))
        case .dates(let range):
            let key: (Double, IndexKey.Side) -> IndexKey
            switch kind {
            case .date: key = { .date($0, $1) }
            case .dateCell: key = { .cell(.date($0), $1) }
            default: return nil
            }
            let four = Self.datesOfFourDigits
            return [
                IndexRange(lower: nil, upper: key(four.lowerBound, .before)),
                IndexRange(lower: key(range.lowerBound, .before), upper: key(range.upperBound, .behind)),
                IndexRange(lower: key(four.upperBound, .behind), upper: nil),
            ]
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }
}

extension ScanCondition.Constant {
    /// The value for an index of a kind; nil if the reader compares it in another way than the index.
    fileprivate func value(for kind: IndexedKind) -> PropertyListValue? {
        switch (self, kind) {
        case (.integer(let number), .integer), (.integer(let number), .number): .integer(number)
        case (.real(let number), .integer), (.real(let number), .number): .real(number)
        case (.text(let bytes), .text): String(validating: bytes, as: UTF8.self).map { .string($0) }
        default: nil
        }
    }
}

extension ScanCondition.Comparison {
    fileprivate func relation(_ value: PropertyListValue) -> PredicateConstraint.Relation {
        switch self {
        case .equal: .equal(value)
        case .less: .lessThan(value)
        case .atMost: .lessThanOrEqual(value)
        case .greater: .greaterThan(value)
        case .atLeast: .greaterThanOrEqual(value)
        }
    }
}

/// What a planner asks of the indexes; none is built for it.
extension ColumnStore {
    /// Whether so few rows are read faster one by one than in a scan of all.
    package func isFew(_ count: Int) -> Bool { count <= order.count / 2 }

    /// Builds the indexes of an earlier run, which are built by their use otherwise.
    package func buildIndexes() { for index in indexes { index.mergePending() } }

    /// Whether a field has an index that is built.
    package func hasIndex(_ field: ItemField) -> Bool { builtIndex(field) != nil }

    /// The number of rows that satisfy conditions on a field, by its index; nil if the index does not answer them.
    package func indexedCount(_ field: ItemField, _ tests: [ScanCondition.Test]) -> Int? {
        builtIndex(field).flatMap { ScanIndex($0, self, tests)?.count }
    }

    /// The number of rows with a value as one chosen at random has it, by a sample of the field's index.
    package func typicalCount(_ field: ItemField) -> Double? { builtIndex(field)?.typicalCount }

    private func builtIndex(_ field: ItemField) -> OrderedIndex? {
        guard let index = indexes.first(where: { $0.field == field }), index.isBuilt else { return nil }
        index.mergePending()
        return index
    }

    /// Whether the dates of a field are in the order of their texts, since their years have four digits: known by its
    /// index alone.
    package func hasShortYears(_ field: ItemField) -> Bool {
        guard let index = builtIndex(field), [.date, .dateCell].contains(table.indexedKind(field)) else { return false }
        var areShort = true
        for rank in index.count == 0 ? [] : [0, index.count - 1] {
            index.forEach(rank..<rank + 1) { entry in
                let seconds = table.cell(entry.row, field).realValue
                areShort = areShort && ScanCondition.Test.datesOfFourDigits.contains(seconds)
                return false
            }
        }
        return areShort
    }
}
