import PredicateFormat
import PropertyList

/// A key of a query as an operator reads it: a cell for each row of a batch.
enum VectorKey {
    case view(ColumnView, ItemField)
    /// What stands before the first space of a text.
    case firstWord(ColumnView, ItemField)
    case numbers(VectorExpression, otherwise: (UInt32) -> PropertyListValue?)
    case values((UInt32) throws -> PropertyListValue?)

    init(_ key: ItemKey, _ query: ItemQuery) {
        let store = query.store
        switch key {
        case .field(let field): self = .view(store.view(field), field)
        case .expression(let expression, _):
            if case .keyPath(let path) = expression, path.rest == ["firstWord"],
                let field = store.fields.existing(path.field), field != .itemKey
            {
                self = .firstWord(store.view(field), field)
                return
            }
            let value = PredicateCompiler<UInt32>(accessors: query.accessor).value(expression)
            if let numbers = VectorExpression(expression, store) {
                self = .numbers(numbers, otherwise: value)
            } else {
                self = .values(value)
            }
        case .function(let function):
            self = .values { row in
                guard store.table.state(row) == .live else { return nil }
                return try function(store.item(row: row))
            }
        }
    }

    /// Calls a body with the cell of each of some rows. Texts are good until the store is changed, or as long as the heap.
    func withCells<Result>(
        _ rows: UnsafeBufferPointer<UInt32>, _ store: ItemStore, _ heap: inout CellHeap,
        _ body: (UnsafeMutableBufferPointer<Cell>) throws -> Result
    ) throws -> Result {
        try withUnsafeTemporaryAllocation(of: Cell.self, capacity: rows.count) { cells in
            try read(rows, store, &heap, cells)
            return try body(cells)
        }
    }

    /// Reads the cell of each of some rows.
    func read(
        _ rows: UnsafeBufferPointer<UInt32>, _ store: ItemStore, _ heap: inout CellHeap,
        _ cells: UnsafeMutableBufferPointer<Cell>
    ) throws {
        switch self {
        case .view(let view, let field): Self.read(view, field, rows, store, &heap, cells)
        case .firstWord(let view, let field):
            Self.read(view, field, rows, store, &heap, cells)
            for place in cells.indices where !cells[place].isAbsent { cells[place] = Self.firstWord(cells[place]) }
        case .numbers(let expression, let otherwise):
            let batch = UnsafeMutableBufferPointer(mutating: rows)
            expression.withNumbers(batch) { numbers, states in
                for place in rows.indices {
                    switch states[place] {
                    case VectorExpression.State.absent: cells[place] = .absent
                    case VectorExpression.State.real: cells[place] = .real(numbers[place])
                    case VectorExpression.State.integer: cells[place] = .integer(Int64(numbers[place]))
                    default: cells[place] = otherwise(rows[place]).map { heap.cell($0) } ?? .absent
                    }
                }
            }
        case .values(let value):
            for place in rows.indices { cells[place] = try value(rows[place]).map { heap.cell($0) } ?? .absent }
        }
    }

    private static func read(
        _ view: ColumnView, _ field: ItemField, _ rows: UnsafeBufferPointer<UInt32>, _ store: ItemStore,
        _ heap: inout CellHeap, _ cells: UnsafeMutableBufferPointer<Cell>
    ) {
        switch view {
        case .absent: cells.update(repeating: .absent)
        case .integers(let values, let presence):
            for place in rows.indices {
                let row = rows[place]
                cells[place] = ColumnView.isPresent(row, presence) ? .integer(values[Int(row)]) : .absent
            }
        case .dates(let values, let presence):
            for place in rows.indices {
                let row = rows[place]
                cells[place] = ColumnView.isPresent(row, presence) ? .date(values[Int(row)]) : .absent
            }
        case .reals(let values, let presence, let integral):
            for place in rows.indices {
                let row = rows[place]
                guard ColumnView.isPresent(row, presence) else {
                    cells[place] = .absent
                    continue
                }
                let number = values[Int(row)]
                cells[place] = ColumnView.isPresent(row, integral) ? .integer(Int64(number)) : .real(number)
            }
        case .codes(let codes, let dictionary):
            dictionary.cells.withUnsafeBufferPointer { entries in
                for place in rows.indices { cells[place] = entries[Int(codes[Int(rows[place])])] }
            }
        case .cells(let column):
            for place in rows.indices { cells[place] = column[Int(rows[place])] }
        case .rows:
            if field == .name || field == .serialNumber {
                store.table.materialiseTexts(UnsafeMutableBufferPointer(mutating: rows), field)
            }
            for place in rows.indices {
                if field == .itemKey {
                    cells[place] = store.table.withKey(rows[place]) { heap.text($0) }
                    continue
                }
                let cell = store.table.cell(rows[place], field)
                // A boxed value is the store's: the key's readers have a heap of their own.
                cells[place] = cell.kind == .box ? heap.cell(store.heap.value(ofBox: cell)) : cell
            }
        }
    }

    private static func firstWord(_ cell: Cell) -> Cell {
        guard cell.isText else { return .absent }
        return cell.withText { text in
            var count = 0
            while count < text.count, text[count] != 0x20 { count += 1 }
            let word = UnsafeBufferPointer(rebasing: text[..<count])
            // A long word is a part of a long text, which stays where it is.
            return count <= Cell.shortTextLimit || word.baseAddress == nil
                ? Cell.shortText(word) : word.baseAddress.map { Cell.longText($0, count: count) } ?? .absent
        }
    }
}
