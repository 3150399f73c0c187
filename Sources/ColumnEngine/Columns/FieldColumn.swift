/// The values of one field, row by row, in the encoding that fits them.
///
/// The first value decides the encoding; a value that does not fit converts the column, once. Rows from ``count`` on
/// are unset, so that a field that newer items lack takes no memory for them.
///
/// A declared field's encoding never changes. Its texts are cells, its numbers have no presence bitmap, and its rows
/// may still be in a mapped archive. Values of another kind, which archives contain, are in ``misfits``.
final class FieldColumn {
    enum Encoding: String {
        /// 64-bit integers and a presence bitmap.
        case integers
        /// Reals, and integers that a real represents exactly; a presence bitmap, and one that marks the integers.
        case reals
        /// Seconds since the reference date and a presence bitmap.
        case dates
        /// Codes of a dictionary, for repeated values.
        case codes
        /// Cells, for texts that rarely repeat, and for mixed kinds.
        case cells
        /// A hash table of the rows that have a value, if these are few.
        case sparse
    }

    // As in the store: exclusive access is not checked at run time.

    @exclusivity(unchecked) var encoding: Encoding
    /// Nil for a field without a declaration.
    let declaredKind: FieldKind?
    /// The cell of an unset row.
    let unset: Cell
    /// Rows from this number on are unset.
    @exclusivity(unchecked) var count = 0
    /// The number of rows with a value; not counted for a declared field.
    @exclusivity(unchecked) var held = 0
    @exclusivity(unchecked) var words = Column<UInt64>(minimumCapacity: 1)
    @exclusivity(unchecked) var presence = Column<UInt64>(minimumCapacity: 1)
    @exclusivity(unchecked) var integral = Column<UInt64>(minimumCapacity: 1)
    @exclusivity(unchecked) var codes = Column<UInt32>(minimumCapacity: 1)
    @exclusivity(unchecked) var cells = Column<Cell>(minimumCapacity: 1)
    @exclusivity(unchecked) var dictionary = CellDictionary()
    @exclusivity(unchecked) var entries: [UInt32: Cell] = [:]
    /// The cells of a declared field that are not of its kind, by row. Texts' columns have them in ``cells``, too; a
    /// column of numbers or dates that has some is read row by row.
    @exclusivity(unchecked) private(set) var misfits: [UInt32: Cell] = [:]
    /// Whether there are any.
    @exclusivity(unchecked) private(set) var hasMisfits = false
    /// The number of rows with a value when a dictionary was last rejected.
    @exclusivity(unchecked) var heldAtDecision = 0

    /// A dictionary with at most this many distinct values is kept whatever it saves.
    static let smallDictionary = 1024
    /// A share of values of 1/16 makes a column dense, one of 1/64 sparse again.
    static let denseShare = 16, sparseShare = 64

    /// An empty column for values like this first one.
    init(like cell: Cell) {
        encoding = Self.encoding(for: cell)
        (declaredKind, unset) = (nil, .absent)
    }

    init(_ declaration: FieldDeclaration) {
        encoding =
            switch declaration.kind {
            case .text, .mixed: .cells
            case .integer: .integers
            case .date: .dates
            }
        (declaredKind, unset) = (declaration.kind, declaration.unset)
    }

    /// Whether the encoding never changes.
    @inline(__always)
    var isDeclared: Bool { declaredKind != nil }

    static func encoding(for cell: Cell) -> Encoding {
        switch cell.kind {
        case .integer: .integers
        case .real: .reals
        case .date: .dates
        default: CellDictionary.takes(cell) ? .codes : .cells
        }
    }

    // MARK: Reading

    @inline(__always)
    func isPresent(_ row: UInt32) -> Bool { isDeclared || presence[row >> 6] & 1 << UInt64(row & 63) != 0 }

    @inline(__always)
    func cell(_ row: UInt32) -> Cell {
        if encoding == .sparse { return entries[row] ?? .absent }
        guard Int(row) < count else { return unset }
        switch encoding {
        case .integers:
            if hasMisfits, let misfit = misfits[row] { return misfit }
            return isPresent(row) ? Cell(.integer, words[row]) : .absent
        case .reals: return isPresent(row) ? real(row) : .absent
        case .dates:
            if hasMisfits, let misfit = misfits[row] { return misfit }
            return isPresent(row) ? Cell(.date, words[row]) : .absent
        case .codes: return dictionary.cells[Int(codes[row])]
        case .cells, .sparse: return cells[row]
        }
    }

    private func real(_ row: UInt32) -> Cell {
        if integral[row >> 6] & 1 << UInt64(row & 63) == 0 { return Cell(.real, words[row]) }
        return .integer(Int64(Double(bitPattern: words[row])))
    }

    /// The existing cell for a text, which then need not be stored twice.
    func entry(for text: UnsafeBufferPointer<UInt8>) -> Cell? {
        encoding == .codes ? dictionary.entry(for: text) : nil
    }

    /// Whether the cells' texts belong to the dictionary, and stay when a row loses its value.
    var keepsTexts: Bool { encoding == .codes }

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
        case .integers, .dates:
            note(row)
            words.copyIfShared()
            words[row] = cell.tail
        case .reals:
            note(row)
            words.copyIfShared()
            setBit(&integral, row, cell.kind == .integer)
            words[row] = cell.kind == .integer ? Double(cell.integerValue).bitPattern : cell.tail
        case .codes:
            let code = dictionary.code(for: cell)
            codes.copyIfShared()
            if codes[row] == 0 { held += 1 }
            codes[row] = code
            if dictionary.count > Self.smallDictionary, dictionary.count > held / 2 { convertToCells() }
        case .cells, .sparse:
            cells.copyIfShared()
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
        if hasMisfits || !fits(cell) { return setAmongMisfits(row, cell) }
        place(row, cell)
    }

    /// Whether a cell is of the declared kind.
    @inline(__always)
    func fits(_ cell: Cell) -> Bool {
        switch declaredKind {
        case .integer?: cell.kind == .integer
        case .date?: cell.kind == .date
        case .text?: cell.isText || cell.isAbsent && unset.isAbsent
        case .mixed?, nil: true
        }
    }

    @inline(never)
    private func setAmongMisfits(_ row: UInt32, _ cell: Cell) {
        if fits(cell) {
            misfits.removeValue(forKey: row)
            place(row, cell)
        } else {
            misfits[row] = cell
            place(row, encoding == .cells ? cell : unset)
        }
        hasMisfits = !misfits.isEmpty
    }

    /// Forgets that a row's cell is not of the declared kind.
    func forgetMisfit(_ row: UInt32) {
        guard hasMisfits else { return }
        misfits.removeValue(forKey: row)
        hasMisfits = !misfits.isEmpty
    }

    /// Replaces the misfits of the rows in use by equal ones whose texts lie elsewhere, and forgets the others.
    func replaceMisfits(isUsed: (UInt32) -> Bool, _ replacement: (UInt32, Cell) -> Cell) {
        guard hasMisfits else { return }
        for (row, cell) in misfits { misfits[row] = isUsed(row) ? replacement(row, cell) : nil }
        hasMisfits = !misfits.isEmpty
    }

    private func place(_ row: UInt32, _ cell: Cell) {
        if Int(row) >= count {
            // Snapshots have no row that is new here.
            extend(to: Int(row))
            count += 1
            if encoding == .cells { cells.append(cell) } else { words.append(cell.tail) }
        } else if encoding == .cells {
            cells.copyIfShared()
            cells[row] = cell
        } else {
            words.copyIfShared()
            words[row] = cell.tail
        }
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
        case .integers, .reals, .dates:
            if !isPresent(row) { return }
            held -= 1
            setBit(&presence, row, false)
        case .codes:
            if codes[row] == 0 { return }
            held -= 1
            codes.copyIfShared()
            codes[row] = 0
        case .cells:
            if cells[row].isAbsent { return }
            held -= 1
            cells.copyIfShared()
            cells[row] = .absent
        }
        if encoding != .sparse, count > 1024, held * Self.sparseShare < count { convertToSparse() }
    }

    private func takes(_ cell: Cell) -> Bool {
        switch encoding {
        case .integers: cell.kind == .integer
        case .reals: cell.kind == .real || cell.kind == .integer && Self.isExact(cell.integerValue)
        case .dates: cell.kind == .date
        case .codes: CellDictionary.takes(cell)
        case .cells: true
        // A value that is not rare makes the column dense.
        case .sparse: (held + 1) * Self.denseShare <= max(count, 1024)
        }
    }

    /// Whether a real represents the integer exactly, and no other integer rounds to it.
    static func isExact(_ integer: Int64) -> Bool { integer.magnitude < 1 << 53 }

    private func note(_ row: UInt32) {
        if !isPresent(row) {
            held += 1
            setBit(&presence, row, true)
        }
    }

    private func setBit(_ bits: inout Column<UInt64>, _ row: UInt32, _ value: Bool) {
        bits.copyIfShared()
        let bit: UInt64 = 1 << UInt64(row & 63)
        if value { bits[row >> 6] |= bit } else { bits[row >> 6] &= ~bit }
    }

    /// Makes room for rows below `wanted`; for loops over all rows, and before a row is set.
    func extend(to wanted: Int) {
        guard wanted > count else { return }
        count = wanted
        switch encoding {
        case .integers, .reals, .dates:
            Self.pad(&words, wanted, unset.tail)
            if isDeclared { return }
            Self.pad(&presence, (wanted + 63) / 64, 0)
            if encoding == .reals { Self.pad(&integral, (wanted + 63) / 64, 0) }
        case .codes: Self.pad(&codes, wanted, 0)
        case .cells: Self.pad(&cells, wanted, unset)
        case .sparse: break
        }
    }

    /// Reserves capacity for rows of a declared field.
    func reserve(_ wanted: Int) {
        if encoding == .cells { cells.reserve(wanted) } else { words.reserve(wanted) }
    }

    static func pad<Element: BitwiseCopyable>(_ column: inout Column<Element>, _ wanted: Int, _ element: Element) {
        if wanted > column.count { column.append(repeating: element, wanted - column.count) }
    }
}

/// Conversion between encodings: when a new value does not fit the current one, and when counting shows that another is
/// smaller.
extension FieldColumn {
    /// Converts the column to an encoding that can also hold a value.
    func convert(for cell: Cell) {
        switch encoding {
        case .integers where cell.kind == .real && areExact: convertToReals()
        case .sparse: convertToDense()
        default: convertToCells()
        }
    }

    private var areExact: Bool {
        for row in 0..<UInt32(count) where isPresent(row) && !Self.isExact(Int64(bitPattern: words[row])) {
            return false
        }
        return true
    }

    private func convertToReals() {
        words.copyIfShared()
        integral.copyIfShared()
        Self.pad(&integral, presence.count, 0)
        for row in 0..<UInt32(count) where isPresent(row) {
            words[row] = Double(Int64(bitPattern: words[row])).bitPattern
        }
        for word in 0..<UInt32(presence.count) { integral[word] = presence[word] }
        encoding = .reals
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
        words = Column(minimumCapacity: 1)
        presence = Column(minimumCapacity: 1)
        integral = Column(minimumCapacity: 1)
        codes = Column(minimumCapacity: 1)
        cells = Column(minimumCapacity: 1)
        dictionary = CellDictionary()
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
        var dictionary = CellDictionary()
        for row in 0..<UInt32(count) where !cells[row].isAbsent {
            guard CellDictionary.takes(cells[row]) else { return }
            _ = dictionary.code(for: cells[row])
            if dictionary.count > max(Self.smallDictionary, held / 4) { return }
        }
        var fresh = Column<UInt32>(minimumCapacity: max(count, 1))
        for row in 0..<UInt32(count) {
            let cell = cells[row]
            let code = cell.isAbsent ? 0 : dictionary.code(for: cell)
            fresh.append(code)
            if dictionary.cells[Int(code)] != cell { discard(cell) }
        }
        become(.codes)
        codes = fresh
        self.dictionary = dictionary
    }

    /// Replaces each cell of the rows in use by an equal one whose text lies elsewhere, and clears the other rows. No
    /// snapshot shares the column then.
    func replaceCells(isUsed: (UInt32) -> Bool, _ replacement: (Cell) -> Cell) {
        switch encoding {
        case .integers, .reals, .dates: replaceMisfits(isUsed: isUsed) { replacement($1) }
        case .codes: dictionary.replaceCells(replacement)
        case .cells:
            // Rows that are still in the archive stay there.
            for row in 0..<UInt32(count) where cells.isPresent(row) && !cells[row].isAbsent {
                let isKept = isUsed(row)
                cells[row] = isKept ? replacement(cells[row]) : unset
                if !isKept { held -= 1 }
            }
            replaceMisfits(isUsed: isUsed) { row, _ in cells[row] }
        case .sparse:
            for (row, cell) in entries { entries[row] = isUsed(row) ? replacement(cell) : nil }
            held = entries.count
        }
    }
}
