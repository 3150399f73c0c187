/// An operator's input from a field: addresses of its column's memory, valid until the store is changed.
///
/// A presence bitmap is nil if every row has a value.
enum ColumnView {
    case integers(UnsafePointer<Int64>, presence: UnsafePointer<UInt64>?)
    case reals(UnsafePointer<Double>, presence: UnsafePointer<UInt64>, integral: UnsafePointer<UInt64>)
    case dates(UnsafePointer<Double>, presence: UnsafePointer<UInt64>?)
    case codes(UnsafePointer<UInt32>, CellDictionary)
    case cells(UnsafePointer<Cell>)
    /// Texts that may still be in a mapped archive.
    case mappedTexts(FieldColumn)
    /// A field that is read row by row: `itemKey`, a rare one, or a declared one of mixed kinds.
    case rows
    /// A field that no item has.
    case absent

    @inline(__always)
    static func isPresent(_ row: UInt32, _ presence: UnsafePointer<UInt64>?) -> Bool {
        guard let presence else { return true }
        return presence[Int(row >> 6)] & 1 << UInt64(row & 63) != 0
    }
}

extension ColumnStore {
    /// The view of a field for a full scan.
    func view(_ field: ItemField) -> ColumnView {
        guard let column = materialise(field) else {
            return field == table.keyField || table.hasKind(field) ? .rows : .absent
        }
        return column.view(rowCount: table.rowCount)
    }

    /// Materialises the column of a field for a query.
    func materialise(_ field: ItemField) -> FieldColumn? {
        table.materialise(field, rowSource) { heap.discard($0) }
    }
}

extension FieldColumn {
    /// The column as an operator reads it, with an element for each row.
    func view(rowCount: Int) -> ColumnView {
        extend(to: rowCount)
        if hasMisfits, encoding != .cells || !cells.isWhole { return .rows }
        let present = UnsafePointer(presence.base)
        let isFull = isDeclared || held == count
        switch encoding {
        case .integers:
            let base = UnsafeRawPointer(words.base).assumingMemoryBound(to: Int64.self)
            return .integers(base, presence: isFull ? nil : present)
        case .reals:
            let base = UnsafeRawPointer(words.base).assumingMemoryBound(to: Double.self)
            return .reals(base, presence: present, integral: UnsafePointer(integral.base))
        case .dates:
            let base = UnsafeRawPointer(words.base).assumingMemoryBound(to: Double.self)
            return .dates(base, presence: isFull ? nil : present)
        case .codes: return .codes(UnsafePointer(codes.base), dictionary)
        case .cells: return cells.isWhole ? .cells(UnsafePointer(cells.base)) : .mappedTexts(self)
        case .sparse: return .rows
        }
    }
}
