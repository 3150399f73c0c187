import CPlatform
import Glibc

/// A field's value in sixteen bytes.
///
/// Numbers, dates and texts of up to fourteen bytes lie in the cell itself; longer texts, arrays, dictionaries, data
/// and wide integers lie in a `CellHeap`. Byte 0 is the kind. A short text has its length in byte 1 and its bytes from
/// byte 2 on; a long text has its length in bytes 4 to 7 and its address in the second word.
package struct Cell: BitwiseCopyable, Equatable {
    var head: UInt64
    package var tail: UInt64

    package enum Kind: UInt8, BitwiseCopyable {
        case absent, no, yes, integer, real, single, date, shortText, longText, box
    }

    package static let shortTextLimit = 14
    package static let absent = Cell(.absent)
    /// Instead of the old value in a change: the value in the mapped archive, which was not read.
    package static let archived = Cell(.absent, 1)

    @inline(__always)
    package init(_ kind: Kind, _ tail: UInt64 = 0) {
        head = UInt64(kind.rawValue)
        self.tail = tail
    }

    @inline(__always)
    package var kind: Kind {
        // The raw values are the cases' own numbers: the initialiser would cost a call and a switch on each access.
        let value = UInt8(truncatingIfNeeded: head)
        return value <= Kind.box.rawValue ? unsafeBitCast(value, to: Kind.self) : .absent
    }

    package var isAbsent: Bool { head & 0xFF == 0 }

    /// Whether it is a real of double precision.
    package var isReal: Bool { kind == .real }

    package var isText: Bool {
        let kind = UInt8(truncatingIfNeeded: head)
        return kind == Kind.shortText.rawValue || kind == Kind.longText.rawValue
    }

    static func boolean(_ value: Bool) -> Cell { Cell(value ? .yes : .no) }
    package static func integer(_ value: Int64) -> Cell { Cell(.integer, UInt64(bitPattern: value)) }
    static func real(_ value: Double) -> Cell { Cell(.real, value.bitPattern) }
    static func single(_ value: Float) -> Cell { Cell(.single, UInt64(value.bitPattern)) }
    package static func date(_ secondsSinceReferenceDate: Double) -> Cell {
        Cell(.date, secondsSinceReferenceDate.bitPattern)
    }
    static func box(_ index: Int) -> Cell { Cell(.box, UInt64(index)) }

    package static func longText(_ address: UnsafePointer<UInt8>, count: Int) -> Cell {
        var cell = Cell(.longText, UInt64(UInt(bitPattern: address)))
        cell.head |= UInt64(UInt32(count)) << 32
        return cell
    }

    /// A text of at most fourteen bytes.
    @inline(__always)
    package static func shortText(_ bytes: UnsafeBufferPointer<UInt8>) -> Cell {
        // The bytes as two words, by overlapping loads that stay within the text.
        let text = UnsafeRawBufferPointer(bytes)
        let count = bytes.count
        var (low, high) = (UInt64(0), UInt64(0))
        if count >= 8 {
            low = UInt64(littleEndian: text.loadUnaligned(as: UInt64.self))
            let last = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
            high = last >> UInt64(8 * (16 - count))
        } else if count >= 4 {
            let last = UInt32(littleEndian: text.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
            low =
                UInt64(UInt32(littleEndian: text.loadUnaligned(as: UInt32.self))) | UInt64(last)
                << UInt64(8 * (count - 4))
        } else {
            for index in 0..<count { low |= UInt64(bytes[index]) << UInt64(8 * index) }
        }
        var cell = Cell(.shortText)
        cell.head |= UInt64(count) << 8 | low << 16
        cell.tail = low >> 48 | high << 16
        return cell
    }

    package var integerValue: Int64 { Int64(bitPattern: tail) }
    package var realValue: Double { Double(bitPattern: tail) }
    var boxIndex: Int { Int(tail) }

    /// The text's size in a heap in bytes.
    package var heapByteCount: Int { kind == .longText ? Int(head >> 32) : 0 }

    /// The bytes of a text cell; empty for another kind. Valid while the cell at `pointer` and its heap are unchanged.
    @inline(__always)
    static func text(at pointer: UnsafePointer<Cell>) -> UnsafeBufferPointer<UInt8> {
        let head = pointer.pointee.head
        switch UInt8(truncatingIfNeeded: head) {
        case Kind.shortText.rawValue:
            let bytes = UnsafeRawPointer(pointer).assumingMemoryBound(to: UInt8.self)
            return UnsafeBufferPointer(start: bytes + 2, count: Int(head >> 8 & 0xFF))
        case Kind.longText.rawValue:
            return UnsafeBufferPointer(
                start: UnsafePointer<UInt8>(bitPattern: UInt(pointer.pointee.tail)), count: Int(head >> 32))
        default:
            return UnsafeBufferPointer(start: nil, count: 0)
        }
    }

    /// Prefetches a long text's bytes.
    @inline(__always)
    func prefetchText() {
        if UInt8(truncatingIfNeeded: head) == Kind.longText.rawValue {
            cubby_prefetch(UnsafeRawPointer(bitPattern: UInt(tail)))
        }
    }

    /// Calls `body` with the bytes of a text cell.
    @inline(__always)
    package func withText<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var copy = self
        return try withUnsafeMutablePointer(to: &copy) { pointer throws(Failure) in
            try body(Cell.text(at: pointer))
        }
    }
}

extension Cell {
    /// A cell that points to a caller's bytes.
    static func temporary(_ text: UnsafeBufferPointer<UInt8>) -> Cell {
        if text.count <= shortTextLimit { return shortText(text) }
        return text.baseAddress.map { longText($0, count: text.count) } ?? Cell(.shortText)
    }
}

/// The order of cells: absent, truth values and numbers, dates, text, then the rest by kind.
package enum CellOrder {
    static let textRank: UInt64 = 4

    static func rank(_ cell: Cell) -> UInt64 {
        switch cell.kind {
        case .absent: 0
        case .no, .yes: 1
        case .integer, .real, .single: 2
        case .date: 3
        case .shortText, .longText: 4
        case .box: 5
        }
    }

    /// A number whose order agrees with that of the cells, with ties: rank, then the top seven bytes.
    static func prefix(_ cell: Cell) -> UInt64 {
        let detail: UInt64
        switch cell.kind {
        case .absent, .no, .box: detail = 0
        case .yes: detail = 1
        case .integer, .real, .single, .date: detail = ordered(number(cell)) >> 8
        case .shortText, .longText: return cell.withText { prefix($0) }
        }
        return rank(cell) << 56 | detail
    }

    static func prefix(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var word: UInt64 = 4 << 56
        if text.count >= 8 {
            return word | UInt64(bigEndian: UnsafeRawBufferPointer(text).loadUnaligned(as: UInt64.self)) >> 8
        }
        for index in 0..<min(7, text.count) { word |= UInt64(text[index]) << UInt64(48 - index * 8) }
        return word
    }

    /// Maps a real to a number in the same order.
    static func ordered(_ number: Double) -> UInt64 {
        // Both zeros map to one number, and so do all NaNs.
        if number == 0 { return 1 << 63 }
        if number.isNaN { return .max }
        let bits = number.bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    static func number(_ cell: Cell) -> Double {
        switch cell.kind {
        case .integer: Double(cell.integerValue)
        case .single: Double(Float(bitPattern: UInt32(truncatingIfNeeded: cell.tail)))
        default: cell.realValue
        }
    }

    /// Negative, 0 or positive if the first cell is before, equal to or after the second.
    package static func compare(_ first: Cell, _ second: Cell) -> Int {
        let (left, right) = (rank(first), rank(second))
        if left != right { return left < right ? -1 : 1 }
        switch left {
        case 1: return Int(first.head & 0xFF) - Int(second.head & 0xFF)
        case 2: return compareNumbers(first, second)
        case 3: return first.realValue < second.realValue ? -1 : first.realValue > second.realValue ? 1 : 0
        case 4:
            return first.withText { left in second.withText { right in compareText(left, right) } }
        default: return 0
        }
    }

    private static func compareNumbers(_ first: Cell, _ second: Cell) -> Int {
        if first.kind == .integer, second.kind == .integer {
            return first.integerValue < second.integerValue ? -1 : first.integerValue > second.integerValue ? 1 : 0
        }
        let (left, right) = (number(first), number(second))
        if left.isNaN || right.isNaN { return (left.isNaN ? 1 : 0) - (right.isNaN ? 1 : 0) }
        if left != right { return left < right ? -1 : 1 }
        // A large integer may have been rounded for the comparison with a real.
        if first.kind == .integer { return compareExactly(first.integerValue, right) }
        if second.kind == .integer { return -compareExactly(second.integerValue, left) }
        return 0
    }

    private static func compareExactly(_ integer: Int64, _ real: Double) -> Int {
        guard let other = Int64(exactly: real) else { return real < 0 ? 1 : -1 }
        return integer < other ? -1 : integer > other ? 1 : 0
    }

    @inline(__always)
    static func compareText(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
        let common = min(left.count, right.count)
        if common > 0, let first = left.baseAddress, let second = right.baseAddress {
            let order = memcmp(first, second, common)
            if order != 0 { return Int(order) }
        }
        return left.count - right.count
    }
}

/// The distinct values of a dictionary-encoded column, numbered from 1 in order of appearance; code 0 means no value.
final class CellDictionary {
    // As in the store: exclusive access is not checked at run time.

    /// The cells by code. Their texts lie in the store's heap.
    @exclusivity(unchecked) private(set) var cells: [Cell] = [.absent]
    /// The codes.
    @exclusivity(unchecked) private var index = HashIndex()

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
    func code(for cell: Cell) -> UInt32 {
        let hasher = index.hasher
        let hash = Self.hash(cell, hasher)
        if let code = find(cell, hash) { return code }
        let code = UInt32(cells.count)
        cells.append(cell)
        index.insert(code, hash: hash) { Self.hash(cells[Int($0)], hasher) }
        return code
    }

    /// The entry for a text, whose bytes then need not be stored twice.
    func entry(for text: UnsafeBufferPointer<UInt8>) -> Cell? {
        // A temporary cell for the look-up, which points to the caller's bytes.
        let cell = Cell.temporary(text)
        return find(cell, Self.hash(cell, index.hasher)).map { cells[Int($0)] }
    }

    /// Replaces the cells by equal ones whose texts lie elsewhere.
    func replaceCells(_ replacement: (Cell) -> Cell) {
        for code in cells.indices.dropFirst() { cells[code] = replacement(cells[code]) }
    }

    @inline(__always)
    private func find(_ cell: Cell, _ hash: UInt64) -> UInt32? {
        index.find(hash) { Self.areEqual(cells[Int($0)], cell) }
    }

    @inline(__always)
    private static func hash(_ cell: Cell, _ hasher: KeyHasher) -> UInt64 {
        guard cell.kind == .longText else { return hasher.hash(PackedKey(high: cell.head, low: cell.tail)) }
        return cell.withText { hasher.hash(text: $0) }
    }

    @inline(__always)
    static func areEqual(_ first: Cell, _ second: Cell) -> Bool {
        if first == second { return true }
        guard first.head == second.head, first.kind == .longText else { return false }
        return CellOrder.compare(first, second) == 0
    }
}
