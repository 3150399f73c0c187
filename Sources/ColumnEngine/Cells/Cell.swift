import CPlatform

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
    private init(head: UInt64, tail: UInt64) { (self.head, self.tail) = (head, tail) }

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

    /// A text of at most seven bytes, the first one in the lowest byte of the word; the bytes after it are ignored.
    @inline(__always)
    static func shortText(_ bytes: UInt64, count: UInt64) -> Cell {
        let low = bytes & ~(.max << (count * 8))
        return Cell(head: UInt64(Kind.shortText.rawValue) | count << 8 | low << 16, tail: low >> 48)
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
