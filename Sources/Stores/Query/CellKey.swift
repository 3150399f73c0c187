import PropertyList

/// A field's value as a key of a table, without making a string of a text: numbers are equal by value, an integer and
/// a real too. Valid while the store is not changed.
struct CellKey: Hashable {
    private let cell: Cell
    private let box: PropertyListValue?

    var isAbsent: Bool { cell.isAbsent && box == nil }

    init(_ store: ColumnStore, _ row: UInt32, _ field: ItemField) {
        var cell = store.table.cell(row, field)
        var box: PropertyListValue?
        switch cell.kind {
        case .real, .single:
            let number = CellOrder.number(cell)
            cell = Int64(exactly: number).map(Cell.integer) ?? .real(number)
        case .box: box = store.heap.value(cell)
        case .absent where field == .itemKey: box = store.value(row, field)
        default: break
        }
        self.cell = cell
        self.box = box
    }

    static func == (first: CellKey, second: CellKey) -> Bool {
        if first.box != nil || second.box != nil { return first.box == second.box }
        if first.cell == second.cell { return true }
        guard first.cell.kind == .longText, second.cell.kind == .longText else { return false }
        return CellOrder.compare(first.cell, second.cell) == 0
    }

    func hash(into hasher: inout Hasher) {
        if let box {
            hasher.combine(box)
        } else if cell.isText {
            cell.withText { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        } else {
            hasher.combine(cell.head)
            hasher.combine(cell.tail)
        }
    }
}
