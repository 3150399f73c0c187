/// Numbers of a field as words of 64 bits, row by row: integers, the bits of reals, or seconds since the reference date.
///
/// A bitmap marks the rows that have a value, and another one the reals that are integers. A declared field has neither.
struct NumberRows: ~Copyable {
    var words = Column<UInt64>(minimumCapacity: 1)
    private var validity = Column<UInt64>(minimumCapacity: 1)
    private var integral = Column<UInt64>(minimumCapacity: 1)

    // MARK: Reading

    @inline(__always)
    func isPresent(_ row: UInt32) -> Bool { validity[row >> 6] & 1 << UInt64(row & 63) != 0 }

    /// The cell of a row that has a number, in a column of a kind.
    @inline(__always)
    func cell(_ row: UInt32, _ kind: Cell.Kind) -> Cell {
        if kind == .real, integral[row >> 6] & 1 << UInt64(row & 63) != 0 {
            return .integer(Int64(Double(bitPattern: words[row])))
        }
        return Cell(kind, words[row])
    }

    /// The numbers of a column of a kind, valid until it is changed. `isFull` tells that each row has one.
    func view(_ kind: Cell.Kind, isFull: Bool) -> NumberView {
        NumberView(
            kind: kind, words: UnsafePointer(words.base), validity: isFull ? nil : UnsafePointer(validity.base),
            integral: kind == .real ? UnsafePointer(integral.base) : nil)
    }

    // MARK: Changing

    /// Sets a row's number, in a column of a kind.
    @inline(__always)
    mutating func set(_ row: UInt32, _ cell: Cell, _ kind: Cell.Kind) {
        let isConverted = cell.kind != kind
        words[row] = isConverted ? Double(cell.integerValue).bitPattern : cell.tail
        if kind == .real { Self.setBit(&integral, row, isConverted) }
    }

    /// Marks whether a row has a value.
    mutating func setPresent(_ row: UInt32, _ isPresent: Bool) { Self.setBit(&validity, row, isPresent) }

    private static func setBit(_ bits: inout Column<UInt64>, _ row: UInt32, _ value: Bool) {
        let bit: UInt64 = 1 << UInt64(row & 63)
        if value { bits[row >> 6] |= bit } else { bits[row >> 6] &= ~bit }
    }

    /// Reserves capacity for rows below `wanted`. Without bitmaps for a declared field.
    mutating func extend(to wanted: Int, unset: UInt64, hasValidity: Bool, hasIntegral: Bool) {
        words.pad(to: wanted, unset)
        if hasValidity { validity.pad(to: (wanted + 63) / 64, 0) }
        if hasIntegral { integral.pad(to: (wanted + 63) / 64, 0) }
    }

    /// Makes reals of the integers of the first `count` rows.
    mutating func makeReals(_ count: Int) {
        integral.pad(to: validity.count, 0)
        for row in 0..<UInt32(count) where isPresent(row) {
            words[row] = Double(Int64(bitPattern: words[row])).bitPattern
        }
        for word in 0..<UInt32(validity.count) { integral[word] = validity[word] }
    }

    mutating func share() -> SharedNumberRows {
        SharedNumberRows(words: words.share(), validity: validity.share(), integral: integral.share())
    }
}

/// The state of ``NumberRows`` when a snapshot was taken.
struct SharedNumberRows {
    fileprivate let words: SharedColumn<UInt64>
    fileprivate let validity: SharedColumn<UInt64>
    fileprivate let integral: SharedColumn<UInt64>

    @inline(__always)
    func isPresent(_ row: UInt32) -> Bool { Self.has(validity, row) }

    /// The cell of a row that has a number, in a column of a kind; nil if it is only in the archive.
    @inline(__always)
    func cell(_ row: UInt32, _ kind: Cell.Kind) -> Cell? {
        guard let word = words[row] else { return nil }
        if kind == .real, Self.has(integral, row) { return .integer(Int64(Double(bitPattern: word))) }
        return Cell(kind, word)
    }

    private static func has(_ bits: borrowing SharedColumn<UInt64>, _ row: UInt32) -> Bool {
        (bits[row >> 6] ?? 0) & 1 << UInt64(row & 63) != 0
    }
}

/// Values of a field as codes of a dictionary, row by row.
struct CodedRows: ~Copyable {
    private var codes = Column<UInt32>(minimumCapacity: 1)
    private(set) var dictionary = CellDictionary()

    init() {}

    /// The first `count` of some cells, all of which the dictionary has. `discard` is called with each whose text is no
    /// longer needed.
    init(_ dictionary: CellDictionary, _ cells: borrowing Column<Cell>, _ count: Int, _ discard: (Cell) -> Void) {
        self.dictionary = dictionary
        codes = Column(minimumCapacity: max(count, 1))
        for row in 0..<UInt32(count) {
            let cell = cells[row]
            let code = cell.isAbsent ? 0 : self.dictionary.code(for: cell)
            codes.append(code)
            if self.dictionary.cells[Int(code)] != cell { discard(cell) }
        }
    }

    @inline(__always)
    subscript(row: UInt32) -> Cell { dictionary.cells[Int(codes[row])] }

    /// The address of the codes, valid until the column is changed.
    var base: UnsafePointer<UInt32> { UnsafePointer(codes.base) }

    /// Sets a row's value.
    ///
    /// - Returns: whether it had none.
    mutating func set(_ row: UInt32, _ cell: Cell) -> Bool {
        let code = dictionary.code(for: cell)
        let isNew = codes[row] == 0
        codes[row] = code
        return isNew
    }

    /// Removes a row's value.
    ///
    /// - Returns: whether it had one.
    mutating func clear(_ row: UInt32) -> Bool {
        if codes[row] == 0 { return false }
        codes[row] = 0
        return true
    }

    mutating func extend(to wanted: Int) { codes.pad(to: wanted, 0) }

    @inline(__always)
    func prefetch(_ row: UInt32) { codes.prefetch(row) }

    /// Replaces the dictionary's cells by equal ones whose texts lie elsewhere.
    func replaceCells(_ replacement: (Cell) -> Cell) { dictionary.replaceCells(replacement) }

    mutating func share() -> SharedColumn<UInt32> { codes.share() }
}

/// The cells of a declared field that are not of its kind, by row.
struct MisfitCells {
    private(set) var cells: [UInt32: Cell] = [:]
    /// Whether there are none: asked with every cell.
    private(set) var isEmpty = true

    @inline(__always)
    subscript(row: UInt32) -> Cell? { isEmpty ? nil : cells[row] }

    mutating func set(_ row: UInt32, _ cell: Cell) {
        cells[row] = cell
        isEmpty = false
    }

    mutating func remove(_ row: UInt32) {
        if isEmpty { return }
        cells.removeValue(forKey: row)
        isEmpty = cells.isEmpty
    }

    /// Replaces the cells of the rows in use by equal ones whose texts lie elsewhere, and forgets the others.
    mutating func replace(isUsed: (UInt32) -> Bool, _ replacement: (UInt32, Cell) -> Cell) {
        if isEmpty { return }
        for (row, cell) in cells { cells[row] = isUsed(row) ? replacement(row, cell) : nil }
        isEmpty = cells.isEmpty
    }
}
