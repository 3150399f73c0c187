/// The offsets of a file's objects in ascending order, delta-encoded: the distance from one to the next is mostly a byte.
final class DeltaOffsets {
    /// How many bytes of gaps are read at a time.
    private static let pieceLength = 1 << 13

    private let gaps: ScratchList<UInt8>

    /// - Parameter output: makes the scratch file that takes them when they become many.
    init(_ output: any PropertyListOutput) {
        gaps = ScratchList(output)
    }

    /// Adds gaps as ``Varint`` encodes them; the first offset is from 0.
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
        /// Holds the first bytes of a gap whose last are in the next piece.
        private var gap = Varint()

        /// The places that end in these bytes, which are no more than a piece; valid until the next call.
        mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<Int> {
            var (place, gap) = (place, gap)
            let target = places.base
            var count = 0
            for byte in bytes {
                guard case .number(let distance) = gap.take(byte) else { continue }
                place &+= Int(truncatingIfNeeded: distance)
                target[count] = place
                count &+= 1
            }
            (self.place, self.gap) = (place, gap)
            return UnsafeBufferPointer(start: target, count: count)
        }
    }
}
