import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Columns of fields")
struct FieldColumnTests {
    typealias Encoding = FieldColumn.Encoding

    private static let exact = Int64(1 << 53 - 1)
    private static let box = Cell.box(0)

    private static func text(_ text: String) -> Cell {
        var heap = CellHeap()
        return heap.text(text)
    }

    /// A column with these cells, and their rows without a value between them.
    private static func column(_ cells: [Cell]) -> FieldColumn {
        let column = FieldColumn(like: cells[0])
        for (row, cell) in cells.enumerated() { column.set(UInt32(row), cell) }
        return column
    }

    @Test(
        "a value that the encoding cannot hold makes it another, and all values stay",
        arguments: [
            ([.integer(1), .integer(.min), .integer(.max)], Encoding.integers),
            ([.real(1), .real(-0.0), .real(.nan), .real(.infinity)], .reals),
            ([.real(0.5), .integer(exact), .integer(-exact), .integer(0)], .reals),
            ([.integer(exact), .integer(-exact), .absent, .real(0.5), .real(7)], .reals),
            ([.integer(exact + 1), .absent, .real(0.5)], .cells),
            ([.integer(.min), .real(0.5)], .cells),
            ([.real(0.5), .integer(1), .integer(exact + 1)], .cells),
            ([.integer(1), .boolean(true)], .cells),
            ([.integer(1), .single(1)], .cells),
            ([.date(5), .date(-0.5)], .dates),
            ([.date(5), .absent, .real(5)], .cells),
            ([.boolean(true), .boolean(false), .integer(1), .real(1), text("x"), .date(1)], .codes),
            ([text("x"), text("x"), .absent, text("")], .codes),
            ([text("x"), text("y"), .single(1)], .cells),
            ([text("x"), .absent, box], .cells),
            ([box, .integer(1)], .cells),
        ] as [([Cell], Encoding)])
    func encodings(cells: [Cell], encoding: Encoding) {
        let column = Self.column(cells)
        #expect(column.encoding == encoding)
        for (row, cell) in cells.enumerated() { #expect(column.cell(UInt32(row)) == cell) }
        #expect(column.held == cells.count { !$0.isAbsent })
        #expect(column.cell(UInt32(cells.count)).isAbsent)
        for row in cells.indices { column.clear(UInt32(row)) }
        #expect(column.held == 0)
        #expect(cells.indices.allSatisfy { column.cell(UInt32($0)).isAbsent })
    }

    @Test("a declared column keeps its encoding, and a row that was given nothing is unset", arguments: 0..<4)
    func declared(number: Int) throws {
        let declaration = [
            ItemSchema.Field.text("title"), .text("note", isOptional: true), .integer("amount"), .date("day"),
        ][number]
        let cells: [Cell] =
            switch declaration.kind.kind {
            case .text, .mixed: [Self.text("x"), Self.text("y")]
            case .integer: [.integer(.min), .integer(7)]
            case .date: [.date(-0.5), .date(5)]
            }
        let unset = declaration.unset
        let column = FieldColumn(declaration)
        let encoding = column.encoding
        column.set(3, cells[0])
        #expect((0..<6).map { column.cell($0) } == [unset, unset, unset, cells[0], unset, unset])
        let shared = SharedFieldColumn(column)
        column.set(3, cells[1])
        column.set(4, cells[1])
        #expect(shared.cell(3) == cells[0] && shared.cell(4) == unset)
        #expect((2..<6).map { column.cell($0) } == [unset, cells[1], cells[1], unset])
        column.clear(3)
        column.clear(100)
        #expect((2..<6).map { column.cell($0) } == [unset, unset, cells[1], unset])
        for row in 0..<5000 as Range<UInt32> { column.set(row, cells[Int(row % 2)]) }
        column.chooseEncoding { _ in Issue.record("a text of a declared column was given up") }
        for row in 1..<5000 as Range<UInt32> { column.clear(row) }
        #expect(column.encoding == encoding && column.cell(0) == cells[0] && column.cell(4999) == unset)
    }

    @Test(
        "a column that few rows have becomes sparse, and dense again for what it holds then",
        arguments: [
            (.integer(1), .integer(2), Encoding.integers), (.integer(1), .real(0.5), .reals),
            (.integer(1), text("x"), .cells), (.real(1), .date(2), .cells), (text("x"), .date(1), .codes),
            (.date(1), .date(2), .dates), (box, .integer(1), .cells),
        ] as [(Cell, Cell, Encoding)])
    func sparse(first: Cell, second: Cell, encoding: Encoding) {
        let rows = UInt32(2048)
        let column = FieldColumn(like: first)
        for row in 0..<rows { column.set(row, first) }
        let dense = column.encoding
        #expect(dense != .sparse)
        let least = rows / UInt32(FieldColumn.sparseShare)
        for row in least..<rows { column.clear(row) }
        #expect(column.encoding == dense)
        column.clear(0)
        #expect(column.encoding == .sparse)
        #expect(column.held == Int(least) - 1)
        // The value that ends it is the first of its kind.
        let most = rows / UInt32(FieldColumn.denseShare)
        for row in least..<most + 1 { column.set(row, first) }
        #expect(column.encoding == .sparse)
        column.set(rows - 1, second)
        #expect(column.encoding == encoding)
        #expect(column.held == Int(most) + 1)
        for row in 0..<rows {
            let wanted = row == rows - 1 ? second : row > 0 && row <= most ? first : .absent
            #expect(column.cell(row) == wanted)
        }
    }

    @Test("values that do not repeat leave the dictionary, and enter it again when four times as many do")
    func dictionaries() {
        var heap = CellHeap()
        func long(_ number: Int) -> Cell { heap.text("a text that is too long for a cell: \(number)") }
        let limit = FieldColumn.smallDictionary
        let column = FieldColumn(like: Self.text(""))
        for row in 0..<limit { column.set(UInt32(row), long(row)) }
        #expect(column.encoding == .codes)
        column.set(UInt32(limit), long(limit))
        #expect(column.encoding == .cells)

        let many = 4 * (limit + 1)
        for row in 0..<many - 1 { column.set(UInt32(row), long(row % 10)) }
        var discarded = 0
        column.chooseEncoding { _ in discarded += 1 }
        #expect(column.encoding == .cells)
        column.set(UInt32(many - 1), long(0))
        column.chooseEncoding { _ in discarded += 1 }
        #expect(column.encoding == .codes)
        #expect(column.coded.dictionary.count == 10)
        #expect(discarded == many - 10)
        for row in 0..<many {
            let number = row == many - 1 ? 0 : row % 10
            #expect(CellHeap.string(column.cell(UInt32(row))).hasSuffix(": \(number)"))
        }
    }

    @Test("what a dictionary cannot take, and too many values, stay cells")
    func noDictionary() {
        for odd in [Self.box, .single(1)] {
            let column = FieldColumn(like: Self.box)
            for row in 0..<UInt32(4096) { column.set(row, row == 4095 ? odd : .integer(1)) }
            column.chooseEncoding { _ in Issue.record("nothing is given up") }
            #expect(column.encoding == .cells)
        }
        let column = FieldColumn(like: Self.box)
        for row in 0..<UInt32(4096) { column.set(row, .integer(Int64(row % 1025))) }
        column.chooseEncoding { _ in Issue.record("nothing is given up") }
        #expect(column.encoding == .cells)
        #expect(column.heldAtDecision == 4096)
    }

    @Test("rows that are not used lose their values when the texts move")
    func replacedCells() {
        for isSparse in [false, true] {
            let column = FieldColumn(like: Self.box)
            for row in 0..<UInt32(100) { column.set(row, .box(Int(row))) }
            if isSparse { column.convertToSparse() }
            column.replaceCells {
                $0 % 2 == 0
            } _: {
                .box($0.boxIndex + 1000)
            }
            for row in 0..<UInt32(100) {
                #expect(column.cell(row) == (row % 2 == 0 ? .box(Int(row) + 1000) : .absent))
            }
            #expect(column.held == 50)
        }
    }

    /// Random cells in random rows beside an array of cells, with snapshots on the way.
    @Test(arguments: 1...20)
    func againstArray(seed: UInt64) {
        var random = TestGenerator(seed: seed)
        var kinds: [Cell] = [.integer(1), .real(0.5), .date(3), Self.text("x"), .boolean(true), Self.box, .single(2)]
        var column: FieldColumn?
        var model = [Cell](repeating: .absent, count: 3000)
        var snapshot: (SharedFieldColumn, [Cell])?
        for _ in 0..<60 {
            let kind = kinds[random.number(kinds.count)]
            if random.number(8) == 0 { kinds.shuffle(using: &random) }
            let rows = random.number(2) == 0 ? model.count : 1 + random.number(model.count)
            let share = [1, 2, 20, 200][random.number(4)]
            let isCleared = random.number(2) == 0
            for row in 0..<rows {
                var cell = Cell.absent
                if random.number(share) == 0 {
                    cell = Self.like(kind, random.number(random.number(2) == 0 ? 5 : 2000))
                } else if !isCleared {
                    continue
                }
                let target = column ?? FieldColumn(like: cell)
                column = target
                target.set(UInt32(row), cell)
                model[row] = cell
            }
            if let (shared, cells) = snapshot, random.number(2) == 0 {
                let areSame = cells.indices.allSatisfy { shared.cell(UInt32($0)) == cells[$0] }
                #expect(areSame, "a snapshot of seed \(seed)")
                snapshot = nil
            }
            guard let column else { continue }
            let isRight = model.indices.allSatisfy { column.cell(UInt32($0)) == model[$0] }
            #expect(isRight, "seed \(seed), \(column.encoding)")
            #expect(column.held == model.count { !$0.isAbsent }, "seed \(seed), \(column.encoding)")
            if snapshot == nil, random.number(2) == 0 { snapshot = (SharedFieldColumn(column), model) }
            if random.number(4) == 0 { column.chooseEncoding { _ in } }
            if random.number(6) == 0 { _ = column.view(rowCount: model.count) }
        }
    }

    /// A cell of a kind, one of as many as there are numbers.
    private static func like(_ kind: Cell, _ number: Int) -> Cell {
        switch kind.kind {
        case .integer: .integer(Int64(number))
        case .real: number % 3 == 0 ? .integer(Int64(number)) : .real(Double(number) / 2)
        case .date: .date(Double(number))
        case .shortText: text("x\(number)")
        case .box: .box(number)
        default: kind
        }
    }
}
