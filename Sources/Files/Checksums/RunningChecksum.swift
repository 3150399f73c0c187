/// `Checksum.hash` over several pieces.
package struct RunningChecksum {
    private var lanes = Checksum.Lanes(seed: 0)
    private var count = 0
    /// The bytes of an incomplete round.
    private var rest: [UInt8] = []

    package init() {
        rest.reserveCapacity(Checksum.roundLength)
    }

    /// Adds the next piece. Complexity: O(count).
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        count += bytes.count
        var bytes = bytes
        if !rest.isEmpty {
            let missing = min(Checksum.roundLength - rest.count, bytes.count)
            rest.append(contentsOf: bytes[..<missing])
            bytes = UnsafeRawBufferPointer(rebasing: bytes[missing...])
            guard rest.count == Checksum.roundLength else { return }
            rest.withUnsafeBytes { lanes.add(rounds: $0) }
            rest.removeAll(keepingCapacity: true)
        }
        let whole = bytes.count / Checksum.roundLength * Checksum.roundLength
        lanes.add(rounds: UnsafeRawBufferPointer(rebasing: bytes[..<whole]))
        rest.append(contentsOf: bytes[whole...])
    }

    /// The checksum of all pieces.
    package var value: UInt64 {
        rest.withUnsafeBytes { Checksum.finish(lanes, seed: 0, count: count, rest: $0) }
    }
}
