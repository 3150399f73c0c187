import CPlatform
import PropertyList

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
