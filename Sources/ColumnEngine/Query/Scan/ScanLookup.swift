import PredicateFormat
import PropertyList

/// The rows of a store by the value of a field, for joins: found in a moment, while the store does not change.
///
/// Numbers are compared by what they are, texts byte by byte, dates as the texts that the reader makes of them. Rows whose
/// value is of another kind are among those of every value.
package final class ScanLookup {
    private let store: ColumnStore
    private let field: ItemField
    private let dateText: (Double) -> [UInt8]
    /// The store's version when it was made.
    package let version: UInt64
    private var index = HashIndex()
    private var hashes: [UInt64] = []
    /// The first row of each group.
    private var firsts: [UInt32] = []
    /// Where the rows of each group begin, and the rows by group.
    private var starts: [Int] = []
    package private(set) var rows: [UInt32] = []
    /// The rows whose values the reader compares.
    package private(set) var rest: [UInt32] = []

    /// The number of different values.
    package var count: Int { firsts.count }

    /// The memory of a row in bytes, at most: while it is made, with the rows in the order in which they are found.
    package static let bytes = 48

    /// Its memory in bytes.
    package var byteCount: Int {
        (rows.capacity + rest.capacity + firsts.capacity) * 4 + starts.capacity * 8 + hashes.capacity * 24
    }

    /// Makes it. O(n).
    ///
    /// - Throws: `WorkStopped`.
    package init(_ store: ColumnStore, _ field: ItemField, dateText: @escaping (Double) -> [UInt8]) throws {
        (self.store, self.field, self.dateText) = (store, field, dateText)
        version = store.version
        let scan = try ColumnScan(store, [])
        let batch = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: ColumnScan.batch)
        defer { batch.deallocate() }
        var (found, groups): ([UInt32], [UInt32]) = ([], [])
        var ofCodes: [UInt32?] = []
        while case let number = try scan.next(batch), number > 0 {
            switch store.view(field) {
            case .absent: continue
            case .codes(let codes, let dictionary):
                if ofCodes.isEmpty { ofCodes = dictionary.cells.map { $0.isAbsent ? .max : nil } }
                for row in batch[..<number] {
                    let code = Int(codes[Int(row)])
                    if ofCodes[code] == nil { ofCodes[code] = group(of: dictionary.cells[code], row) ?? .max - 1 }
                    add(row, ofCodes[code] ?? .max, &found, &groups)
                }
            default:
                for row in batch[..<number] {
                    let cell = cell(row)
                    add(row, cell.isAbsent ? .max : group(of: cell, row) ?? .max - 1, &found, &groups)
                }
            }
        }
        (rows, starts) = ItemGrouper.sort(found, by: groups, groupCount: firsts.count)
    }

    private func add(_ row: UInt32, _ group: UInt32, _ found: inout [UInt32], _ groups: inout [UInt32]) {
        if group == .max { return }
        if group == .max - 1 {
            rest.append(row)
        } else {
            found.append(row)
            groups.append(group)
        }
    }

    private func cell(_ row: UInt32) -> Cell { store.table.cell(row, field) }

    /// The number of a value's group, which is made if it is new; nil for a value that the reader compares.
    private func group(of cell: Cell, _ row: UInt32) -> UInt32? {
        guard let hash = hash(cell) else { return nil }
        if let group = index.find(hash, where: { areEqual(self.cell(firsts[Int($0)]), cell) }) { return group }
        let group = UInt32(firsts.count)
        firsts.append(row)
        hashes.append(hash)
        let hashes = hashes
        index.insert(group, hash: hash) { hashes[Int($0)] }
        return group
    }

    private func hash(_ cell: Cell) -> UInt64? {
        switch cell.kind {
        case .shortText, .longText: return cell.withText { index.hasher.hash(text: $0) }
        case .no, .yes: return index.hasher.hash(integer: cell.kind == .yes ? 1 : 0)
        case .integer: return index.hasher.hash(integer: cell.integerValue)
        case .real, .single:
            let number = CellOrder.number(cell)
            return number.isNaN ? nil : index.hasher.hash(real: number)
        case .date: return dateText(cell.realValue).withUnsafeBufferPointer { index.hasher.hash(text: $0) }
        case .box, .absent: return nil
        }
    }

    private func areEqual(_ first: Cell, _ second: Cell) -> Bool {
        if first.kind == .date, second.kind == .date { return dateText(first.realValue) == dateText(second.realValue) }
        return CellOrder.compare(Self.plain(first), Self.plain(second)) == 0
    }

    /// A truth value as the number that it is for the reader.
    private static func plain(_ cell: Cell) -> Cell {
        switch cell.kind {
        case .no: .integer(0)
        case .yes: .integer(1)
        default: cell
        }
    }

    // MARK: Finding

    /// Where the rows with a number are among ``rows``, in order; those of ``rest`` may have it, too.
    package func range(of number: ScanCondition.Constant) -> Range<Int> {
        switch number {
        case .text(let text): return text.withUnsafeBufferPointer { range(ofText: $0) }
        case .integer(let number):
            return range(index.find(index.hasher.hash(integer: number)) { isNumber(firsts[Int($0)], .integer(number)) })
        case .real(let number):
            if number.isNaN { return 0..<0 }
            return range(index.find(index.hasher.hash(real: number)) { isNumber(firsts[Int($0)], .real(number)) })
        }
    }

    /// The same for a text.
    package func range(ofText text: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        range(
            index.find(index.hasher.hash(text: text)) { group in
                let cell = cell(firsts[Int(group)])
                if cell.kind == .date { return dateText(cell.realValue).elementsEqual(text) }
                return cell.isText && cell.withText { CellOrder.compareText($0, text) == 0 }
            })
    }

    private func range(_ group: UInt32?) -> Range<Int> {
        guard let group = group.map({ Int($0) }) else { return 0..<0 }
        return starts[group]..<starts[group + 1]
    }

    private func isNumber(_ row: UInt32, _ number: Cell) -> Bool {
        let cell = Self.plain(cell(row))
        return !cell.isText && cell.kind != .date && CellOrder.compare(cell, number) == 0
    }
}

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
        case .compare(let operation, let constant):
            return constant.value(for: kind).flatMap { kind.ranges(operation, $0) }
        case .among(let constants):
            guard constants.count <= Swift.min(Self.listLimit, Swift.max(count / 32, 64)) else { return nil }
            let values = constants.map { $0.value(for: kind) }
            return values.contains(nil) ? nil : kind.ranges(.in, .array(values.compactMap { $0 }))
        case .begins(let bytes, let foldsCase):
            guard kind == .text else { return nil }
            // A letter may begin the texts of two ranges, one for each case.
            let beginning = foldsCase ? bytes.prefix { !Self.isLetter($0) } : bytes[...]
            guard !beginning.isEmpty else { return nil }
            return kind.ranges(.beginsWith, .string(String(decoding: beginning, as: UTF8.self)))
        case .dates(let range):
            guard kind == .date || kind == .dateCell else { return nil }
            let four = Self.datesOfFourDigits
            return [
                IndexRange(lower: nil, upper: kind.date(four.lowerBound, .before)),
                IndexRange(lower: kind.date(range.lowerBound, .before), upper: kind.date(range.upperBound, .behind)),
                IndexRange(lower: kind.date(four.upperBound, .behind), upper: nil),
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
