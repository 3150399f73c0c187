/// The values of one field, row by row, in the encoding that fits them.
///
/// The first value decides the encoding; a value that does not fit converts the column, once. Rows from ``count`` on
/// are unset, so that a field that newer items lack takes no memory for them.
///
/// A declared field's encoding never changes. Its texts are cells, its numbers have no validity bitmap, and its rows
/// may still be in a mapped archive. Values of another kind, which archives contain, are in ``misfits``.
final class FieldColumn {
    enum Encoding: Hashable {
        /// Words of 64 bits and a validity bitmap: integers, reals, or the seconds of dates since the reference date.
        /// Among reals may be integers that a real represents exactly; another bitmap marks them.
        case numbers(Cell.Kind)
        /// Codes of a dictionary, for repeated values.
        case codes
        /// Cells, for texts that rarely repeat, and for mixed kinds.
        case cells
        /// A hash table of the rows that have a value, if these are few.
        case sparse

        static let integers = Encoding.numbers(.integer), reals = Encoding.numbers(.real)
        static let dates = Encoding.numbers(.date)
    }

    // As in the store: exclusive access is not checked at run time.

    @exclusivity(unchecked) private(set) var encoding: Encoding
    /// Nil for a field without a declaration.
    let declared: DeclaredKind?
    /// The cell of an unset row.
    let unset: Cell
    /// Rows from this number on are unset.
    @exclusivity(unchecked) var count = 0
    /// The number of rows with a value; not counted for a declared field.
    @exclusivity(unchecked) private(set) var held = 0
    // The values, in the one that the encoding names.
    @exclusivity(unchecked) var numbers = NumberRows()
    @exclusivity(unchecked) var coded = CodedRows()
    @exclusivity(unchecked) var cells = Column<Cell>(minimumCapacity: 1)
    @exclusivity(unchecked) private(set) var entries: [UInt32: Cell] = [:]
    /// The cells of a declared field that are not of its kind. Texts' columns have them in ``cells``, too; a column of
    /// numbers or dates that has some is read row by row.
    @exclusivity(unchecked) private(set) var misfits = MisfitCells()
    /// The number of rows with a value when a dictionary was last rejected.
    @exclusivity(unchecked) private(set) var heldAtDecision = 0

    /// A dictionary with at most this many distinct values is kept whatever it saves.
    static let smallDictionary = 1024
    /// A share of values of 1/16 makes a column dense, one of 1/64 sparse again.
    static let denseShare = 16, sparseShare = 64

    /// An empty column for values like this first one.
    init(like cell: Cell) {
        encoding = Self.encoding(for: cell)
        (declared, unset) = (nil, .absent)
    }

    init(_ field: ItemSchema.Field) {
        encoding =
            switch field.kind.kind {
            case .text, .mixed: .cells
            case .integer: .integers
            case .date: .dates
            }
        (declared, unset) = (field.kind, field.unset)
    }

    /// Whether the encoding never changes.
    @inline(__always)
    var isDeclared: Bool { declared != nil }

    static func encoding(for cell: Cell) -> Encoding {
        switch cell.kind {
        case .integer, .real, .date: .numbers(cell.kind)
        default: CellDictionary.takes(cell) ? .codes : .cells
        }
    }

    // MARK: Reading

    @inline(__always)
    func isPresent(_ row: UInt32) -> Bool { isDeclared || numbers.isPresent(row) }

    @inline(__always)
    func cell(_ row: UInt32) -> Cell {
        switch encoding {
        case .sparse: return entries[row] ?? .absent
        case _ where Int(row) >= count: return unset
        case .numbers(let kind):
            if let misfit = misfits[row] { return misfit }
            return isPresent(row) ? numbers.cell(row, kind) : .absent
        case .codes: return coded[row]
        case .cells: return cells[row]
        }
    }

    /// The existing cell for a text, which then need not be stored twice.
    func entry(for text: UnsafeBufferPointer<UInt8>) -> Cell? {
        encoding == .codes ? coded.dictionary.entry(for: text) : nil
    }

    // MARK: Changing

    /// Sets a row's value, or removes it with an absent cell.
    func set(_ row: UInt32, _ cell: Cell) {
        if isDeclared { return setDeclared(row, cell) }
        if cell.isAbsent { return clear(row) }
        // Twice if a column that is no longer sparse holds another kind.
        while !takes(cell) { convert(for: cell) }
        if encoding == .sparse {
            if entries.updateValue(cell, forKey: row) == nil { held += 1 }
            return
        }
        if Int(row) >= count { extend(to: Int(row) + 1) }
        switch encoding {
        case .numbers(let kind):
            record(row)
            numbers.set(row, cell, kind)
        case .codes:
            if coded.set(row, cell) { held += 1 }
            let distinct = coded.dictionary.count
            if distinct > Self.smallDictionary, distinct > held / 2 { convertToCells() }
        case .cells, .sparse:
            if cells[row].isAbsent { held += 1 }
            cells[row] = cell
        }
    }

    /// Sets a row's value.
    ///
    /// - Returns: the value before; absent in a row that is new here.
    func replace(_ row: UInt32, _ cell: Cell) -> Cell {
        let old = Int(row) < count || encoding == .sparse ? self.cell(row) : .absent
        set(row, cell)
        return old
    }

    private func setDeclared(_ row: UInt32, _ cell: Cell) {
        if !misfits.isEmpty || !fits(cell) { return setAmongMisfits(row, cell) }
        place(row, cell)
    }

    /// Whether a cell is of the declared kind.
    @inline(__always)
    func fits(_ cell: Cell) -> Bool { declared?.accepts(cell) ?? true }

    @inline(never)
    private func setAmongMisfits(_ row: UInt32, _ cell: Cell) {
        if fits(cell) {
            misfits.remove(row)
            place(row, cell)
        } else {
            misfits.set(row, cell)
            place(row, encoding == .cells ? cell : unset)
        }
    }

    /// Forgets that a row's cell is not of the declared kind.
    func forgetMisfit(_ row: UInt32) { misfits.remove(row) }

    private func place(_ row: UInt32, _ cell: Cell) {
        extend(to: Int(row) + 1)
        if encoding == .cells { cells[row] = cell } else { numbers.words[row] = cell.tail }
    }

    /// Removes a row's value.
    func clear(_ row: UInt32) {
        switch encoding {
        case _ where isDeclared:
            if Int(row) < count { setDeclared(row, unset) }
            return
        case .sparse:
            if entries.removeValue(forKey: row) != nil { held -= 1 }
        case _ where Int(row) >= count: return
        case .numbers:
            if !isPresent(row) { return }
            held -= 1
            numbers.setPresent(row, false)
        case .codes:
            if !coded.clear(row) { return }
            held -= 1
        case .cells:
            if cells[row].isAbsent { return }
            held -= 1
            cells[row] = .absent
        }
        if encoding != .sparse, count > 1024, held * Self.sparseShare < count { convertToSparse() }
    }

    private func takes(_ cell: Cell) -> Bool {
        switch encoding {
        case .numbers(let kind):
            cell.kind == kind || kind == .real && cell.kind == .integer && Self.isExact(cell.integerValue)
        case .codes: CellDictionary.takes(cell)
        case .cells: true
        // A value that is not rare makes the column dense.
        case .sparse: (held + 1) * Self.denseShare <= max(count, 1024)
        }
    }

    /// Whether a real represents the integer exactly, and no other integer rounds to it.
    static func isExact(_ integer: Int64) -> Bool { integer.magnitude < 1 << 53 }

    private func record(_ row: UInt32) {
        if !isPresent(row) {
            held += 1
            numbers.setPresent(row, true)
        }
    }

    /// Reserves capacity for rows below `wanted`; for loops over all rows, and before a row is set.
    func extend(to wanted: Int) {
        guard wanted > count else { return }
        count = wanted
        switch encoding {
        case .numbers:
            numbers.extend(
                to: wanted, unset: unset.tail, hasValidity: !isDeclared, hasIntegral: encoding == .reals)
        case .codes: coded.extend(to: wanted)
        case .cells: cells.pad(to: wanted, unset)
        case .sparse: break
        }
    }

    /// Reserves capacity for rows of a declared field.
    func reserve(_ wanted: Int) {
        if encoding == .cells { cells.reserve(wanted) } else { numbers.words.reserve(wanted) }
    }
}

/// Conversion between encodings: when a new value does not fit the current one, and when counting shows that another is
/// smaller.
extension FieldColumn {
    /// Converts the column to an encoding that can also hold a value.
    func convert(for cell: Cell) {
        switch encoding {
        case .numbers(.integer) where cell.kind == .real && areExact:
            numbers.makeReals(count)
            encoding = .reals
        case .sparse: convertToDense()
        default: convertToCells()
        }
    }

    private var areExact: Bool {
        (0..<UInt32(count)).allSatisfy { !isPresent($0) || Self.isExact(Int64(bitPattern: numbers.words[$0])) }
    }

    func convertToCells() {
        var fresh = Column<Cell>(minimumCapacity: max(count, 1))
        for row in 0..<UInt32(count) { fresh.append(cell(row)) }
        heldAtDecision = held
        become(.cells)
        cells = fresh
    }

    func convertToSparse() {
        var fresh: [UInt32: Cell] = [:]
        for row in 0..<UInt32(count) {
            let cell = cell(row)
            if !cell.isAbsent { fresh[row] = cell }
        }
        become(.sparse)
        entries = fresh
    }

    /// Chooses a new encoding for the values of the hash table.
    private func convertToDense() {
        let old = entries.sorted { $0.key < $1.key }
        become(old.first.map { Self.encoding(for: $0.value) } ?? .cells)
        let rows = count
        (count, held) = (0, 0)
        extend(to: rows)
        for (row, cell) in old { set(row, cell) }
    }

    private func become(_ encoding: Encoding) {
        numbers = NumberRows()
        coded = CodedRows()
        cells = Column(minimumCapacity: 1)
        entries = [:]
        self.encoding = encoding
    }

    /// Dictionary-encodes repeated texts. It is tried when there are four times as many as at the last rejection, and
    /// accepted if at least three values in four are repetitions. O(n), amortised O(1) per added value.
    ///
    /// - Parameter discard: called with each cell whose text is no longer needed.
    func chooseEncoding(_ discard: (Cell) -> Void) {
        guard encoding == .cells, held >= 4 * max(heldAtDecision, 256) else { return }
        heldAtDecision = held
        let dictionary = CellDictionary()
        for row in 0..<UInt32(count) where !cells[row].isAbsent {
            guard CellDictionary.takes(cells[row]) else { return }
            _ = dictionary.code(for: cells[row])
            if dictionary.count > max(Self.smallDictionary, held / 4) { return }
        }
        let fresh = CodedRows(dictionary, cells, count, discard)
        become(.codes)
        coded = fresh
    }

    /// Replaces each cell of the rows in use by an equal one whose text lies elsewhere, and clears the other rows. No
    /// snapshot shares the column then.
    func replaceCells(isUsed: (UInt32) -> Bool, _ replacement: (Cell) -> Cell) {
        switch encoding {
        case .numbers: misfits.replace(isUsed: isUsed) { replacement($1) }
        case .codes: coded.replaceCells(replacement)
        case .cells:
            // Rows that are still in the archive stay there.
            for row in 0..<UInt32(count) where cells.isPresent(row) && !cells[row].isAbsent {
                let isLive = isUsed(row)
                cells[row] = isLive ? replacement(cells[row]) : unset
                if !isLive { held -= 1 }
            }
            misfits.replace(isUsed: isUsed) { row, _ in cells[row] }
        case .sparse:
            for (row, cell) in entries { entries[row] = isUsed(row) ? replacement(cell) : nil }
            held = entries.count
        }
    }
}
