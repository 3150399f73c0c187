/// A field column's state when a snapshot was taken.
final class SharedFieldColumn: @unchecked Sendable {
    // Guard: `SharedColumn`'s for the memory; the rest are values.
    private let encoding: FieldColumn.Encoding
    private let isDeclared: Bool
    private let unset: Cell
    /// Whether an item may lack the field.
    var isOptional: Bool { unset.isAbsent }
    private let count: Int
    private let words: SharedColumn<UInt64>
    private let presence: SharedColumn<UInt64>
    private let integral: SharedColumn<UInt64>
    private let codes: SharedColumn<UInt32>
    private let cells: SharedColumn<Cell>
    private let dictionary: [Cell]
    private let entries: [UInt32: Cell]
    private let misfits: [UInt32: Cell]
    /// Whether some cells are not of the field's declared kind.
    let hasMisfits: Bool

    /// Copies nothing: the column copies before later changes.
    init(_ column: FieldColumn) {
        encoding = column.encoding
        isDeclared = column.isDeclared
        unset = column.unset
        count = column.count
        words = column.words.share()
        presence = column.presence.share()
        integral = column.integral.share()
        codes = column.codes.share()
        cells = column.cells.share()
        dictionary = column.dictionary.cells
        entries = column.entries
        misfits = column.misfits
        hasMisfits = column.hasMisfits
    }

    /// The cell of a row; nil if it is only in the archive.
    @inline(__always)
    func cell(_ row: UInt32) -> Cell? {
        if encoding == .sparse { return entries[row] ?? .absent }
        guard Int(row) < count else { return unset }
        switch encoding {
        case .integers, .dates:
            if hasMisfits, let misfit = misfits[row] { return misfit }
            let kind: Cell.Kind = encoding == .integers ? .integer : .date
            return isPresent(row) ? words[row].map { Cell(kind, $0) } : .absent
        case .reals:
            guard isPresent(row), let bits = words[row] else { return .absent }
            return has(integral, row) ? .integer(Int64(Double(bitPattern: bits))) : Cell(.real, bits)
        case .codes: return dictionary[Int(codes[row] ?? 0)]
        case .cells, .sparse: return cells[row]
        }
    }

    @inline(__always)
    private func isPresent(_ row: UInt32) -> Bool { isDeclared || has(presence, row) }

    private func has(_ bits: borrowing SharedColumn<UInt64>, _ row: UInt32) -> Bool {
        (bits[row >> 6] ?? 0) & 1 << UInt64(row & 63) != 0
    }
}
