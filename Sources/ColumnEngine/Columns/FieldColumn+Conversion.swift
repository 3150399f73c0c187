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
