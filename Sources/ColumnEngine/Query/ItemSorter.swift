import CPlatform
import PropertyList

/// The operator that sorts the rows of a query, or keeps the first ones of its order.
final class RowSort: RowOperator {
    private let query: ItemQuery
    private let input: any RowOperator
    private let topCount: Int?
    /// All rows, from the next one on; nil before the first.
    private var sorted: ArraySlice<UInt32>?
    private var count = 0

    init(_ query: ItemQuery, _ input: any RowOperator, keeping topCount: Int?) {
        (self.query, self.input, self.topCount) = (query, input, topCount)
    }

    func next(_ batch: SelectionVector) throws -> Int {
        if sorted == nil { sorted = try sort() }
        return sorted?.move(to: batch) ?? 0
    }

    func all() throws -> [UInt32] { Array(try sort()) }

    /// The rows between offset and limit.
    private func sort() throws -> ArraySlice<UInt32> {
        guard query.limitCount != 0 else { return [] }
        let rows = query.order.contains(where: \.isFunction) ? try input.all() : nil
        var sorter = try ItemSorter(query.columns, query.order, keeping: topCount, rows: rows ?? [])
        if rows == nil { try input.forEachBatch { try sorter.add(UnsafeBufferPointer($0)) } }
        let sorted = sorter.finish()
        sorter.recordOtherKinds()
        if Interruption.isDue { throw WorkStopped() }
        count = sorted.count
        return sorted.dropFirst(query.offsetCount)
    }

    var plan: ItemQueryPlan {
        let found = input.plan
        return ItemQueryPlan(
            operation: .sort, detail: query.orderText,
            remark: query.order.map(query.remark).joined(separator: "; "), rowsIn: found.rowsOut, rowsOut: count,
            children: [found])
    }
}

/// Sorts rows by the keys of a query; for a limited result it keeps only candidates.
struct ItemSorter {
    private struct Entry: BitwiseCopyable {
        /// The word of the current key to compare, inverted for a descending key.
        var word: UInt64
        var row: UInt32
        /// The row's place in the scan, which makes the sort stable.
        var place: UInt32
    }

    private let columns: [SortColumn]
    private let topCount: Int?
    private var entries: [Entry] = []
    private var place: UInt32 = 0
    /// The last entry of those kept so far: entries after it are not in the result.
    private var bar: Entry?

    /// A sorter of given rows, and of others to be added in the order of the scan if none of the keys is a function.
    /// Functions are called first: they may change the store, and other keys point into it.
    init(_ store: ColumnStore, _ keys: [ItemSortKey], keeping topCount: Int?, rows: [UInt32] = []) throws {
        var asked: [Int: SortColumn] = [:]
        for (index, key) in keys.enumerated() {
            guard case .function = key.key else { continue }
            let column = try SortColumn(key, store)
            try rows.withUnsafeBufferPointer { try column.add($0) }
            column.isComplete = true
            asked[index] = column
        }
        columns = try keys.enumerated().map { try asked[$0] ?? SortColumn($1, store) }
        self.topCount = topCount
        try rows.withUnsafeBufferPointer { try add($0) }
    }

    /// Adds rows in the order of the scan.
    mutating func add(_ rows: UnsafeBufferPointer<UInt32>) throws {
        for column in columns { try column.add(rows) }
        guard let topCount else {
            // Not reserved by batch: an exact capacity would copy all entries each time.
            for row in rows {
                entries.append(Entry(word: 0, row: row, place: place))
                place &+= 1
            }
            return
        }
        let first = place
        place &+= UInt32(rows.count)
        columns[0].forEachWord(rows.count) {
            (rows[$0], first &+ UInt32($0))
        } _: { index, word, _ in
            let entry = Entry(word: word, row: rows[index], place: first &+ UInt32(index))
            if let bar, word > bar.word || !isBefore(entry, bar) { return }
            entries.append(entry)
            // Half of the capacity is kept each time: O(log k) per item, amortised.
            if entries.count >= max(64, topCount &* 2) { shrink(to: topCount) }
        }
    }

    /// The number of entries that it has memory for.
    var capacity: Int { entries.capacity }

    /// Records the rows that a key could not compare.
    func recordOtherKinds() { for column in columns { column.recordOtherKinds() } }

    private mutating func shrink(to topCount: Int) {
        var entries = entries
        entries.sort(by: isBefore)
        if entries.count > topCount { entries.removeLast(entries.count - topCount) }
        self.entries = entries
        if entries.count == topCount { bar = entries.last }
    }

    mutating func finish() -> [UInt32] {
        if let topCount {
            shrink(to: topCount)
            return entries.map(\.row)
        }
        var entries = entries
        self.entries = []
        entries.withUnsafeMutableBufferPointer { entries in
            LargeMemory.withBuffer(of: Entry.self, capacity: entries.count) { spare in
                sort(entries, spare, by: 0)
            }
        }
        return entries.map(\.row)
    }

    // MARK: All entries, a word at a time

    /// Maximum number of entries sorted by comparison.
    private static let few = 16
    /// Maximum offset in texts for comparing words: longer equal beginnings are sorted by comparison.
    private static let wordLimit = 128
    /// Sorts entries, which are in the scan's order, by a key and the following ones.
    private func sort(
        _ entries: UnsafeMutableBufferPointer<Entry>, _ spare: UnsafeMutableBufferPointer<Entry>, by key: Int
    ) {
        // A partial result is not used: the query checks for the interruption again.
        if key == columns.count || entries.count > 4096 && Interruption.isDue { return }
        if entries.count <= Self.few { return compareAll(entries, from: key) }
        var areExact = true
        let column = columns[key]
        column.forEachWord(entries.count) {
            (entries[$0].row, entries[$0].place)
        } _: { index, word, isExact in
            entries[index].word = word
            areExact = areExact && isExact
        }
        sortWords(entries, spare)
        forEachRun(entries) { run in
            let first = run[0]
            if areExact || column.word(first.row, first.place).isExact {
                sort(run, spare, by: key + 1)
            } else {
                sortTexts(run, spare, by: key, at: 7)
            }
        }
    }

    /// Sorts entries whose texts are equal up to an offset by the next eight bytes.
    private func sortTexts(
        _ entries: UnsafeMutableBufferPointer<Entry>, _ spare: UnsafeMutableBufferPointer<Entry>, by key: Int,
        at offset: Int
    ) {
        if entries.count <= Self.few || offset > Self.wordLimit { return compareAll(entries, from: key) }
        let lengths = readWords(entries, columns[key], at: offset)
        if lengths.lowerBound < 0 {
            // None is a text: they are equal only if all are absent.
            let areAbsent = entries.allSatisfy { columns[key].cell($0.row, $0.place).isAbsent }
            return areAbsent ? sort(entries, spare, by: key + 1) : compareAll(entries, from: key)
        }
        // A text that ends here precedes a longer one whose next bytes are 0.
        if lengths.lowerBound < offset, lengths.count > 1 { return compareAll(entries, from: key) }
        if lengths.upperBound <= offset { return sort(entries, spare, by: key + 1) }
        sortWords(entries, spare)
        forEachRun(entries) { sortTexts($0, spare, by: key, at: offset + 8) }
    }

    private func sortWords(_ entries: UnsafeMutableBufferPointer<Entry>, _ spare: UnsafeMutableBufferPointer<Entry>) {
        if entries.count >= RadixSort.threshold { return RadixSort.sort(entries, spare) { $0.word } }
        var entries = entries
        // Entries of equal words stay in the order of the scan.
        entries.sort { $0.word != $1.word ? $0.word < $1.word : $0.place < $1.place }
    }

    private func forEachRun(
        _ entries: UnsafeMutableBufferPointer<Entry>, _ body: (UnsafeMutableBufferPointer<Entry>) -> Void
    ) {
        var start = 0
        while start < entries.count {
            var end = start + 1
            while end < entries.count, entries[end].word == entries[start].word { end += 1 }
            if end - start > 1 { body(UnsafeMutableBufferPointer(rebasing: entries[start..<end])) }
            start = end
        }
    }

    /// Sets the entries' words to those at an offset of their texts.
    ///
    /// - Returns: the lengths of the shortest and the longest text; -1 if an entry is not a text.
    private func readWords(
        _ entries: UnsafeMutableBufferPointer<Entry>, _ column: SortColumn, at offset: Int
    ) -> ClosedRange<Int> {
        let inversion = column.isDescending ? ~UInt64(0) : 0
        var (shortest, longest) = (Int.max, -1)
        for index in entries.indices {
            if index + SelectionVector.lookahead < entries.count {
                column.prefetch(
                    entries[index + SelectionVector.lookahead].row,
                    textOf: entries[index + SelectionVector.lookahead / 2].row)
            }
            let (length, word) = column.withText(entries[index].row, entries[index].place) { text in
                text.map { ($0.count, Self.word($0, at: offset)) } ?? (-1, 0)
            }
            entries[index].word = word ^ inversion
            shortest = min(shortest, length)
            longest = max(longest, length)
        }
        return shortest...longest
    }

    /// Eight bytes of a text, the first in the highest byte, padded with zeros.
    private static func word(_ text: UnsafeBufferPointer<UInt8>, at offset: Int) -> UInt64 {
        if offset + 8 <= text.count {
            return UInt64(
                bigEndian: UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        var word: UInt64 = 0
        for index in stride(from: offset, to: text.count, by: 1) {
            word |= UInt64(text[index]) << UInt64(56 - 8 * (index - offset))
        }
        return word
    }

    // MARK: By comparison

    private func compareAll(_ entries: UnsafeMutableBufferPointer<Entry>, from key: Int) {
        var entries = entries
        entries.sort { isOrdered($0, $1, from: key) }
    }

    private func isBefore(_ first: Entry, _ second: Entry) -> Bool {
        first.word != second.word ? first.word < second.word : isOrdered(first, second, from: 0)
    }

    private func isOrdered(_ first: Entry, _ second: Entry, from key: Int) -> Bool {
        for column in columns[key...] {
            let order = column.compare((first.row, first.place), (second.row, second.place))
            if order != 0 { return order < 0 }
        }
        return first.place < second.place
    }
}

/// A sort key of a query.
package struct ItemSortKey {
    package let key: QueryKey
    package let isDescending: Bool

    package init(_ key: QueryKey, isDescending: Bool) { (self.key, self.isDescending) = (key, isDescending) }

    /// The field; nil for an expression or a function.
    package var field: ItemField? { if case .field(let field) = key { field } else { nil } }

    /// Whether it is a function, which may change the store.
    var isFunction: Bool { if case .function = key { true } else { false } }
}

/// A sort key's values as words: numbers in the order of the values, with ties.
final class SortColumn {
    private enum Source {
        case view(ColumnView, ItemField)
        /// The codes, and the rank of each dictionary entry in the sort order.
        case ranks(UnsafePointer<UInt32>, [UInt32], CellDictionary)
        /// Computed cells, by the rows' places in the scan.
        case computed
    }

    let store: ColumnStore
    let isDescending: Bool
    private let source: Source
    private let key: VectorKey
    /// The cells of a computed key, and their heap.
    private var computed: [Cell] = []
    private var heap = CellHeap()
    /// Whether the cells of all rows are computed.
    var isComplete = false

    /// The number of values of each kind, if they are of several kinds; nil for a field with one.
    private var tally: [KindSet.RawValue: Int]?
    private let text: String

    private var inversion: UInt64 { isDescending ? .max : 0 }

    init(_ key: ItemSortKey, _ store: ColumnStore) throws {
        self.store = store
        isDescending = key.isDescending
        text = store.text(of: key.key)
        self.key = try VectorKey(key.key, store)
        tally = store.isPlain(key) ? nil : [:]
        switch self.key {
        // Integers beyond 64 bits are in boxes: they are sorted among the numbers.
        case .view(_, let field) where store.kindSet(field).contains(.box): source = .computed
        case .view(.codes(let codes, let dictionary), _): source = .ranks(codes, Self.ranks(dictionary), dictionary)
        case .view(let view, let field): source = .view(view, field)
        default: source = .computed
        }
    }

    /// Equal entries, such as an integer and the same real, have the same rank.
    private static func ranks(_ dictionary: CellDictionary) -> [UInt32] {
        let cells = dictionary.cells
        let order = cells.indices.sorted { CellOrder.compare(cells[$0], cells[$1]) < 0 }
        var ranks = [UInt32](repeating: 0, count: cells.count)
        var rank: UInt32 = 0
        for (place, code) in order.enumerated() {
            if place > 0, CellOrder.compare(cells[order[place - 1]], cells[code]) != 0 { rank += 1 }
            ranks[code] = rank
        }
        return ranks
    }

    /// Computes the key of rows added to the sort, if it is a computed key.
    func add(_ rows: UnsafeBufferPointer<UInt32>) throws {
        if case .computed = source {
            if isComplete { return }
            let start = computed.count
            computed += try key.withCells(rows, store, &heap) { Array($0) }
            for place in start..<computed.count {
                if computed[place].kind == .box,
                    case .wideInteger(let integer) = key.value(computed[place], store, heap)
                {
                    computed[place] = .real(Double(integer))
                }
                if tally != nil { count(computed[place]) }
            }
        } else if tally != nil, case .view(_, let field) = key {
            for row in rows { count(store.table.cell(row, field)) }
        }
    }

    private func count(_ cell: Cell) {
        if !cell.isAbsent { tally?[KindSet(cell).rawValue, default: 0] += 1 }
    }

    /// Records the rows whose values are of other kinds than most, and those for which the key has no value.
    func recordOtherKinds() {
        store.record(key.audit, "sorted(\(text))")
        guard let tally, tally.count > 1,
            let winner = tally.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })
        else { return }
        for (kind, count) in tally.sorted(by: { $0.key < $1.key }) where kind != winner.key {
            store.questions.leftOut.record(
                "sorted(\(text))", text, "is \(KindSet(rawValue: kind).named)", count, areIncluded: true)
        }
    }

    /// Calls a body with the word of each of some rows, and whether it is exact: a loop for each kind of column.
    ///
    /// - Parameters:
    ///   - count: the number of rows.
    ///   - row: returns each row, and its place in the scan.
    ///   - body: called with the index, the word, and whether equal words mean equal values.
    @inline(__always)
    func forEachWord(
        _ count: Int, _ row: (Int) -> (row: UInt32, place: UInt32), _ body: (Int, UInt64, Bool) -> Void
    ) {
        let inversion = inversion
        switch source {
        case .ranks(let codes, let ranks, _):
            ranks.withUnsafeBufferPointer { ranks in
                for index in 0..<count { body(index, UInt64(ranks[Int(codes[Int(row(index).row)])]) ^ inversion, true) }
            }
        case .view(.cells(let cells), _):
            for index in 0..<count {
                if index + SelectionVector.lookahead < count {
                    cubby_prefetch(cells + Int(row(index + SelectionVector.lookahead).row))
                    cells[Int(row(index + SelectionVector.lookahead / 2).row)].prefetchText()
                }
                let cell = cells + Int(row(index).row)
                let word = cell.pointee.isText ? CellOrder.prefix(Cell.text(at: cell)) : CellOrder.prefix(cell.pointee)
                body(index, word ^ inversion, false)
            }
        default:
            for index in 0..<count {
                if index + SelectionVector.lookahead < count {
                    prefetch(
                        row(index + SelectionVector.lookahead).row,
                        textOf: row(index + SelectionVector.lookahead / 2).row)
                }
                let (row, place) = row(index)
                let (word, isExact) = word(row, place)
                body(index, word, isExact)
            }
        }
    }

    /// The word of a row's value, and whether equal words mean equal values.
    @inline(__always)
    func word(_ row: UInt32, _ place: UInt32) -> (word: UInt64, isExact: Bool) {
        let word: UInt64
        var isExact = true
        switch source {
        case .ranks(let codes, let ranks, _): word = UInt64(ranks[Int(codes[Int(row)])])
        // Absent values have the word 0, before all others; the lowest two values share the word 1.
        case .view(.numbers(let numbers), _):
            let bits = numbers.words[Int(row)]
            let ordered = numbers.kind == .integer ? bits ^ 1 << 63 : CellOrder.ordered(Double(bitPattern: bits))
            (word, isExact) = numbers.isPresent(row) ? (max(ordered, 1), ordered > 1) : (0, false)
        case .view(.absent, _): word = 0
        default:
            word = withText(row, place) { $0.map { CellOrder.prefix($0) } } ?? CellOrder.prefix(cell(row, place))
            isExact = false
        }
        return (word ^ inversion, isExact)
    }

    func cell(_ row: UInt32, _ place: UInt32) -> Cell {
        switch source {
        case .view(_, let field): store.table.cell(row, field)
        case .ranks(let codes, _, let dictionary): dictionary.cells[Int(codes[Int(row)])]
        case .computed: computed[Int(place)]
        }
    }

    /// Calls a body with the bytes of a text, or with nil if it is not a text.
    @inline(__always)
    func withText<Result>(
        _ row: UInt32, _ place: UInt32, _ body: (UnsafeBufferPointer<UInt8>?) -> Result
    ) -> Result {
        if case .view(.cells(let cells), _) = source {
            return body(cells[Int(row)].isText ? Cell.text(at: cells + Int(row)) : nil)
        }
        if case .view(_, store.table.keyField) = source { return store.table.withKey(row) { body($0) } }
        let cell = cell(row, place)
        return cell.isText ? cell.withText { body($0) } : body(nil)
    }

    /// Prefetches a row's cell, and another row's text.
    @inline(__always)
    func prefetch(_ row: UInt32, textOf next: UInt32) {
        switch source {
        case .view(.cells(let cells), _):
            cubby_prefetch(cells + Int(row))
            cells[Int(next)].prefetchText()
        case .view(.mappedTexts(let column), _):
            column.cells.prefetch(row)
            column.prefetchText(next)
        case .view(.rows, let field): store.table.prefetch(row, field)
        default: return
        }
    }

    /// Negative, 0 or positive if the first row is before, equal to or after the second.
    func compare(_ first: (row: UInt32, place: UInt32), _ second: (row: UInt32, place: UInt32)) -> Int {
        if case .view(.cells(let cells), _) = source {
            let (left, right) = (cells + Int(first.row), cells + Int(second.row))
            let order =
                left.pointee.isText && right.pointee.isText
                ? CellOrder.compareText(Cell.text(at: left), Cell.text(at: right))
                : CellOrder.compare(left.pointee, right.pointee)
            return isDescending ? -order : order
        }
        let (left, right) = (word(first.row, first.place), word(second.row, second.place))
        if left.word != right.word { return left.word < right.word ? -1 : 1 }
        if left.isExact, right.isExact { return 0 }
        let order = withText(first.row, first.place) { left in
            withText(second.row, second.place) { right -> Int in
                if let left, let right { return CellOrder.compareText(left, right) }
                return CellOrder.compare(cell(first.row, first.place), cell(second.row, second.place))
            }
        }
        return isDescending ? -order : order
    }
}
