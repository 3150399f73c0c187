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

    /// The cell of a row that has a real.
    func real(_ row: UInt32) -> Cell {
        if integral[row >> 6] & 1 << UInt64(row & 63) == 0 { return Cell(.real, words[row]) }
        return .integer(Int64(Double(bitPattern: words[row])))
    }

    /// The addresses of the words, and of the bitmaps, valid until the column is changed.
    var integers: UnsafePointer<Int64> { UnsafeRawPointer(words.base).assumingMemoryBound(to: Int64.self) }
    var reals: UnsafePointer<Double> { UnsafeRawPointer(words.base).assumingMemoryBound(to: Double.self) }
    var validityBits: UnsafePointer<UInt64> { UnsafePointer(validity.base) }
    var integralBits: UnsafePointer<UInt64> { UnsafePointer(integral.base) }

    // MARK: Changing

    @inline(__always)
    mutating func set(_ row: UInt32, _ word: UInt64) {
        words.copyIfShared()
        words[row] = word
    }

    /// Sets a row's number, in a column of reals.
    mutating func setReal(_ row: UInt32, _ cell: Cell) {
        let isInteger = cell.kind == .integer
        set(row, isInteger ? Double(cell.integerValue).bitPattern : cell.tail)
        Self.setBit(&integral, row, isInteger)
    }

    /// Marks whether a row has a value.
    mutating func setPresent(_ row: UInt32, _ isPresent: Bool) { Self.setBit(&validity, row, isPresent) }

    private static func setBit(_ bits: inout Column<UInt64>, _ row: UInt32, _ value: Bool) {
        bits.copyIfShared()
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
        words.copyIfShared()
        integral.copyIfShared()
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
    let words: SharedColumn<UInt64>
    fileprivate let validity: SharedColumn<UInt64>
    fileprivate let integral: SharedColumn<UInt64>

    @inline(__always)
    func isPresent(_ row: UInt32) -> Bool { Self.has(validity, row) }

    /// Whether a row's real is an integer.
    func isIntegral(_ row: UInt32) -> Bool { Self.has(integral, row) }

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
        codes.copyIfShared()
        let isNew = codes[row] == 0
        codes[row] = code
        return isNew
    }

    /// Removes a row's value.
    ///
    /// - Returns: whether it had one.
    mutating func clear(_ row: UInt32) -> Bool {
        if codes[row] == 0 { return false }
        codes.copyIfShared()
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
