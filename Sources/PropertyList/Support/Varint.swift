/// Variable-length integers: seven bits per byte, lowest first, the high bit set in all bytes but the last.
///
/// A value of this type decodes one number from single bytes, which may come from several buffers.
package struct Varint {
    /// The result of a byte.
    @frozen package enum Step {
        /// The number continues.
        case more
        /// The number is complete.
        case number(UInt64)
        /// The number does not fit into 64 bits.
        case overflow
    }

    /// Maximum size of a number.
    package static let maximumSize = 10

    @usableFromInline var value: UInt64 = 0
    @usableFromInline var shift: UInt64 = 0

    @inlinable package init() {}

    /// Whether a number is incomplete.
    @inlinable var isWithinNumber: Bool { shift > 0 }

    /// Decodes the next byte.
    @inlinable
    package mutating func take(_ byte: UInt8) -> Step {
        guard shift < 63 || byte <= 1 else { return .overflow }
        value |= UInt64(byte & 0x7F) &<< shift
        if byte >= 0x80 {
            shift &+= 7
            return .more
        }
        defer { (value, shift) = (0, 0) }
        return .number(value)
    }

    /// Writes a number to memory that has room for `maximumSize` bytes.
    ///
    /// - Returns: the number of bytes written.
    @inlinable
    package static func store(_ number: UInt64, at target: UnsafeMutableRawPointer) -> Int {
        var rest = number
        var size = 0
        while rest >= 0x80 {
            target.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: size, as: UInt8.self)
            rest >>= 7
            size &+= 1
        }
        target.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: size, as: UInt8.self)
        return size &+ 1
    }

    /// Appends a number to bytes.
    @inlinable
    package static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// All numbers of the bytes; nil when one runs past the end or past 64 bits. Complexity: O(bytes).
    package static func numbers(in bytes: [UInt8]) -> [UInt64]? {
        var decoder = Varint()
        var numbers: [UInt64] = []
        for byte in bytes {
            switch decoder.take(byte) {
            case .more: continue
            case .number(let number): numbers.append(number)
            case .overflow: return nil
            }
        }
        return decoder.isWithinNumber ? nil : numbers
    }

    /// A signed number in zigzag encoding, in which numbers near 0 of either sign are small.
    @inlinable
    package static func zigzag(_ number: Int64) -> UInt64 { UInt64(bitPattern: number << 1 ^ number >> 63) }

    /// The signed number of a zigzag encoding.
    @inlinable
    package static func signed(_ zigzag: UInt64) -> Int64 {
        Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1)
    }
}

/// The offsets of a file's objects in ascending order, delta-encoded; most gaps take one byte.
final class DeltaOffsets {
    /// The number of offsets decoded at a time.
    private static let pieceLength = 1 << 13

    private let gaps: ScratchList<UInt8>

    /// - Parameter output: creates the scratch file for long lists.
    init(_ output: any PropertyListOutput) {
        gaps = ScratchList(output)
    }

    /// Adds gaps in the encoding of ``Varint``; the first offset counts from 0.
    func append(gaps bytes: UnsafeBufferPointer<UInt8>) {
        gaps.append(contentsOf: bytes)
    }

    /// Calls a function once with all offsets, in order; the list is empty afterwards.
    func forEachPiece(
        _ body: (UnsafeBufferPointer<Int>) throws(PropertyListError) -> Void
    ) throws(PropertyListError) {
        let offsets = GrowableBuffer<Int>(capacity: Self.pieceLength)
        var (place, count) = (0, 0)
        var gap = Varint()
        try gaps.forEachPiece { (bytes) throws(PropertyListError) in
            for byte in bytes {
                guard case .number(let distance) = gap.take(byte) else { continue }
                place &+= Int(truncatingIfNeeded: distance)
                offsets[count] = place
                count &+= 1
                guard count == Self.pieceLength else { continue }
                try body(UnsafeBufferPointer(start: offsets.base, count: count))
                count = 0
            }
        }
        try body(UnsafeBufferPointer(start: offsets.base, count: count))
    }
}

/// A list of numbers that moves to a scratch file when it is long: a non-generic ``ScratchList``, whose calls from
/// other modules need no specialisation.
package final class NumberList {
    private let list: ScratchList<UInt32>

    /// - Parameter output: creates the scratch file; nil keeps all numbers in memory.
    package init(_ output: (any PropertyListOutput)?) {
        list = ScratchList(output)
    }

    package var count: Int { list.count }

    package func append(_ number: UInt32) { list.append(number) }

    /// Calls a function once with all numbers, in order; the list is empty afterwards.
    package func forEachPiece(
        _ body: (UnsafeBufferPointer<UInt32>) throws(PropertyListError) -> Void
    ) throws(PropertyListError) {
        try list.forEachPiece(body)
    }
}
