import Glibc

/// The distinct values of a dictionary-encoded column, numbered from 1 in order of appearance; code 0 means no value.
struct CellDictionary {
    /// The cells by code. Their texts lie in the store's heap.
    private(set) var cells: [Cell] = [.absent]
    /// Codes by hash, open addressing; 0 is a free slot.
    private var slots: [UInt32] = []
    private let hasher = KeyHasher()

    /// The number of distinct values.
    var count: Int { cells.count - 1 }

    /// Whether a cell can be an entry: its bits or its text determine its value.
    static func takes(_ cell: Cell) -> Bool {
        switch cell.kind {
        case .no, .yes, .integer, .real, .date, .shortText, .longText: true
        case .absent, .single, .box: false
        }
    }

    /// The code of a value, which is added if it is new. O(1).
    @inline(__always)
    mutating func code(for cell: Cell) -> UInt32 {
        if (cells.count + 1) * 2 > slots.count { grow() }
        let slot = slot(of: cell)
        if slots[slot] != 0 { return slots[slot] }
        let code = UInt32(cells.count)
        cells.append(cell)
        slots[slot] = code
        return code
    }

    /// The entry for a text, whose bytes then need not be stored twice.
    func entry(for text: UnsafeBufferPointer<UInt8>) -> Cell? {
        if slots.isEmpty { return nil }
        // A temporary cell for the look-up, which points to the caller's bytes.
        let cell =
            text.count <= Cell.shortTextLimit
            ? Cell.shortText(text) : text.baseAddress.map { Cell.longText($0, count: text.count) } ?? Cell(.shortText)
        let code = slots[slot(of: cell)]
        return code == 0 ? nil : cells[Int(code)]
    }

    /// Replaces the cells by equal ones whose texts lie elsewhere.
    mutating func replaceCells(_ replacement: (Cell) -> Cell) {
        for code in cells.indices.dropFirst() { cells[code] = replacement(cells[code]) }
    }

    @inline(__always)
    private func slot(of cell: Cell) -> Int {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash(cell)) & mask
        while slots[slot] != 0, !Self.areEqual(cells[Int(slots[slot])], cell) { slot = (slot + 1) & mask }
        return slot
    }

    @inline(__always)
    private func hash(_ cell: Cell) -> UInt64 {
        guard cell.kind == .longText else { return hasher.hash(PackedKey(high: cell.head, low: cell.tail)) >> 20 }
        return cell.withText { hasher.hash(text: $0) }
    }

    @inline(__always)
    private static func areEqual(_ first: Cell, _ second: Cell) -> Bool {
        if first == second { return true }
        guard first.head == second.head, first.kind == .longText else { return false }
        return CellOrder.compare(first, second) == 0
    }

    private mutating func grow() {
        slots = [UInt32](repeating: 0, count: max(64, slots.count * 2))
        for code in cells.indices.dropFirst() { slots[slot(of: cells[code])] = UInt32(code) }
    }
}
