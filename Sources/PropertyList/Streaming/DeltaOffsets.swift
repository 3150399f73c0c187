/// The offsets of a file's objects in ascending order, delta-encoded; most gaps take one byte.
final class DeltaOffsets {
    /// The number of bytes decoded at a time.
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
        private var offsets = GrowableBuffer<Int>(capacity: pieceLength)
        private var place = 0
        /// The first bytes of a gap that continues in the next piece.
        private var gap = Varint()

        /// The offsets that end in these bytes, at most one piece; valid until the next call.
        mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<Int> {
            var (place, gap) = (place, gap)
            let target = offsets.base
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
