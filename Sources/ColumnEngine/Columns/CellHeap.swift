import Glibc
package import PropertyList

/// A block of memory to which texts are appended; written bytes never change.
///
/// A snapshot on another thread shares the blocks: it reads only bytes that existed when it was taken.
final class TextChunk: @unchecked Sendable {  // Guard: append-only; no reader knows bytes that are still unwritten.
    let base: UnsafeMutablePointer<UInt8>
    let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        base = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    }

    deinit {
        base.deallocate()
    }
}

/// The storage of cells' values that do not fit in sixteen bytes: long texts, and boxed property-list values.
///
/// Values are not freed individually. The owner counts dropped ones (`discard`) and copies the rest into a new heap
/// when half of it is garbage (`ItemStore.compactHeap`).
package struct CellHeap {
    private(set) var chunks: [TextChunk] = []
    private(set) var boxes: [PropertyListValue] = []
    private var cursor: UnsafeMutablePointer<UInt8>?
    private var remaining = 0
    private(set) var textBytes = 0
    private(set) var garbageBytes = 0
    /// The values of mapped items' cells; nil when no archive is mapped.
    var faulted: FaultedValues?

    private static let chunkSize = 1 << 18
    /// The assumed size of a boxed value, for the decision to compact.
    private static let boxWeight = 64

    package init() {}

    /// The same texts and values for another owner, which appends to its own chunks.
    func forked() -> CellHeap {
        var copy = self
        copy.cursor = nil
        copy.remaining = 0
        return copy
    }

    var needsCompaction: Bool {
        garbageBytes > 1 << 20 && garbageBytes > (textBytes + boxes.count * Self.boxWeight) / 2
    }

    mutating func discard(_ cell: Cell) {
        switch cell.kind {
        case .longText:
            if !isMapped(cell) { garbageBytes += cell.heapByteCount }
        case .box:
            if cell.boxIndex & FaultedValues.boxFlag == 0 { garbageBytes += Self.boxWeight }
        default: break
        }
    }

    /// Whether the cell's text lies in the mapped archive.
    private func isMapped(_ cell: Cell) -> Bool {
        faulted.map { $0.mapped.contains(UInt(cell.tail)) } ?? false
    }

    /// The value of a cell of kind `box`.
    func value(ofBox cell: Cell) -> PropertyListValue {
        if let faulted, cell.boxIndex & FaultedValues.boxFlag != 0 { return faulted.value(ofBox: cell.boxIndex) }
        return boxes[cell.boxIndex]
    }

    // MARK: Values to cells

    @inline(__always)
    mutating func text(_ bytes: UnsafeBufferPointer<UInt8>) -> Cell {
        bytes.count <= Cell.shortTextLimit ? Cell.shortText(bytes) : longText(bytes)
    }

    mutating func text(_ string: String) -> Cell {
        var string = string
        return string.withUTF8 { text($0) }
    }

    private mutating func longText(_ bytes: UnsafeBufferPointer<UInt8>) -> Cell {
        let count = bytes.count
        textBytes += count
        let start: UnsafeMutablePointer<UInt8>
        if count > Self.chunkSize / 4 {
            // A chunk of its own, so that the rest of the current one is not wasted.
            let chunk = TextChunk(capacity: count)
            chunks.append(chunk)
            start = chunk.base
        } else if let cursor, count <= remaining {
            start = cursor
            self.cursor = cursor + count
            remaining -= count
        } else {
            let chunk = TextChunk(capacity: Self.chunkSize)
            chunks.append(chunk)
            start = chunk.base
            cursor = start + count
            remaining = Self.chunkSize - count
        }
        if let source = bytes.baseAddress { memcpy(start, source, count) }
        return .longText(start, count: count)
    }

    package mutating func cell(_ value: PropertyListValue) -> Cell {
        switch value {
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .real(let value): return .real(value)
        case .single(let value): return .single(value)
        case .date(let value): return .date(value.secondsSinceReferenceDate)
        case .string(let value): return text(value)
        case .null, .wideInteger, .data, .utf16, .uid, .array, .set, .dictionary:
            boxes.append(value)
            return .box(boxes.count - 1)
        }
    }

    /// The same value in this heap, from a cell of another.
    mutating func adopt(_ cell: Cell, from other: borrowing CellHeap) -> Cell {
        switch cell.kind {
        case .longText where !other.isMapped(cell):
            return cell.withText { text($0) }
        case .box where cell.boxIndex & FaultedValues.boxFlag == 0:
            boxes.append(other.boxes[cell.boxIndex])
            return .box(boxes.count - 1)
        default:
            return cell
        }
    }

    // MARK: Cells to values

    package static func string(_ cell: Cell) -> String {
        cell.withText { String(decoding: $0, as: UTF8.self) }
    }

    package func value(_ cell: Cell) -> PropertyListValue? {
        switch cell.kind {
        case .absent: nil
        case .no: .boolean(false)
        case .yes: .boolean(true)
        case .integer: .integer(cell.integerValue)
        case .real: .real(cell.realValue)
        case .single: .single(Float(bitPattern: UInt32(truncatingIfNeeded: cell.tail)))
        case .date: .date(PropertyListDate(secondsSinceReferenceDate: cell.realValue))
        case .shortText, .longText: .string(Self.string(cell))
        case .box: value(ofBox: cell)
        }
    }

    /// Whether two cells hold the same value, of the same kind.
    func areEqual(_ first: Cell, _ second: Cell) -> Bool {
        if first != second, first.kind == .box, second.kind == .box {
            return value(ofBox: first) == value(ofBox: second)
        }
        return CellDictionary.areEqual(first, second)
    }
}

/// The values of mapped items' cells that neither fit into a cell nor lie in the archive: texts beyond ASCII, and boxed
/// values.
///
/// A class, so that an earlier copy of the store's heap sees values added later, too.
package final class FaultedValues: @unchecked Sendable {
    // Guard: only its owner's thread uses it; a snapshot gets a copy.
    /// Marks the index of a box that is kept here and not in the store's heap.
    static let boxFlag = 1 << 62
    private(set) var heap = CellHeap()
    /// The addresses of the archive's texts.
    let mapped: Range<UInt>

    package init(mapped: Range<UInt>) {
        self.mapped = mapped
    }

    private init(copying other: FaultedValues) {
        heap = other.heap.forked()
        mapped = other.mapped
    }

    package func copy() -> FaultedValues { FaultedValues(copying: self) }

    package func cell(_ value: PropertyListValue) -> Cell {
        let cell = heap.cell(value)
        return cell.kind == .box ? .box(Self.boxFlag | cell.boxIndex) : cell
    }

    func value(ofBox index: Int) -> PropertyListValue {
        heap.boxes[index & ~Self.boxFlag]
    }
}

/// Validation of UTF-8.
package enum UTF8Check {
    package static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        (try? UTF8Span(validating: bytes.span)) != nil
    }
}
