/// Where the objects of a file begin, in order: for each how far it lies behind the one before, which is mostly a byte.
final class PlaceList {
    /// How many bytes a gap takes at the most.
    static let gapSize = 10
    /// How many bytes of gaps are read at a time.
    private static let pieceLength = 1 << 13

    private let gaps: ScratchList<UInt8>

    /// - Parameter output: makes the scratch file that takes them when they become many.
    init(_ output: any PropertyListOutput) {
        gaps = ScratchList(output)
    }

    /// Writes a gap, seven bits in a byte, the lowest first, and gives its size.
    @inline(__always)
    static func store(_ gap: Int, at target: UnsafeMutablePointer<UInt8>) -> Int {
        var rest = UInt(bitPattern: gap)
        var size = 0
        while rest >= 0x80 {
            target[size] = UInt8(truncatingIfNeeded: rest) | 0x80
            rest >>= 7
            size &+= 1
        }
        target[size] = UInt8(truncatingIfNeeded: rest)
        return size &+ 1
    }

    /// Adds gaps as `store` writes them; the first place lies behind 0.
    func append(gaps bytes: UnsafeBufferPointer<UInt8>) {
        gaps.append(contentsOf: bytes)
    }

    /// Gives all places, in order, once; the list is empty afterwards.
    func forEachPiece(
        _ body: (UnsafeBufferPointer<Int>) throws(PropertyListError) -> Void
    ) throws(PropertyListError) {
        var decoder = Decoder()
        try gaps.forEachPiece { (bytes) throws(PropertyListError) in
            var rest = bytes[...]
            while !rest.isEmpty {
                try body(decoder.decode(UnsafeBufferPointer(rebasing: rest.prefix(Self.pieceLength))))
                rest = rest.dropFirst(Self.pieceLength)
            }
        }
    }

    private struct Decoder: ~Copyable {
        private var places = GrowableBuffer<Int>(capacity: pieceLength)
        private var place = 0
        /// What is read of a gap whose last bytes are in the next piece.
        private var gap: UInt = 0
        private var shift: UInt = 0

        /// The places that end in these bytes, which are no more than a piece; valid until the next call.
        mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<Int> {
            var (place, gap, shift) = (place, gap, shift)
            let target = places.base
            var count = 0
            for byte in bytes {
                gap |= UInt(byte & 0x7F) &<< shift
                shift &+= 7
                if byte >= 0x80 { continue }
                place &+= Int(bitPattern: gap)
                (gap, shift) = (0, 0)
                target[count] = place
                count &+= 1
            }
            (self.place, self.gap, self.shift) = (place, gap, shift)
            return UnsafeBufferPointer(start: target, count: count)
        }
    }
}
