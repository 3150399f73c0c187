/// The 64-bit hash XXH64 (Yann Collet's published algorithm) of journal records and archive names. It is nearly as fast
/// as memory, and independent of the machine.
package enum Checksum {
    private static let p1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let p2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let p3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let p4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let p5: UInt64 = 0x27D4_EB2F_1656_67C5

    private static func rotate(_ word: UInt64, _ bits: UInt64) -> UInt64 {
        word << bits | word >> (64 - bits)
    }

    private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
        rotate(lane &+ input &* p2, 31) &* p1
    }

    private static func merge(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
        (hash ^ round(0, lane)) &* p1 &+ p4
    }

    /// The number of bytes in one round of all lanes.
    static let roundLength = 32

    /// The state of the four lanes.
    struct Lanes {
        private var a: UInt64
        private var b: UInt64
        private var c: UInt64
        private var d: UInt64

        init(seed: UInt64) {
            (a, b, c, d) = (seed &+ p1 &+ p2, seed &+ p2, seed, seed &- p1)
        }

        /// Adds whole rounds.
        mutating func add(rounds bytes: UnsafeRawBufferPointer) {
            var offset = 0
            while offset + roundLength <= bytes.count {
                a = round(a, word(bytes, offset))
                b = round(b, word(bytes, offset + 8))
                c = round(c, word(bytes, offset + 16))
                d = round(d, word(bytes, offset + 24))
                offset += roundLength
            }
        }

        var hash: UInt64 {
            let hash = rotate(a, 1) &+ rotate(b, 7) &+ rotate(c, 12) &+ rotate(d, 18)
            return merge(merge(merge(merge(hash, a), b), c), d)
        }
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The hash of `bytes`. Complexity: O(count), no allocation.
    package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        let whole = bytes.count / roundLength * roundLength
        var lanes = Lanes(seed: seed)
        lanes.add(rounds: UnsafeRawBufferPointer(rebasing: bytes[..<whole]))
        return finish(lanes, seed: seed, count: bytes.count, rest: UnsafeRawBufferPointer(rebasing: bytes[whole...]))
    }

    /// The hash of `count` bytes, with `rest` as the incomplete round.
    static func finish(_ lanes: Lanes, seed: UInt64, count: Int, rest bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = count >= roundLength ? lanes.hash : seed &+ p5
        hash &+= UInt64(count)
        var offset = 0
        while offset + 8 <= bytes.count {
            hash = rotate(hash ^ round(0, word(bytes, offset)), 27) &* p1 &+ p4
            offset += 8
        }
        if offset + 4 <= bytes.count {
            let half = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            hash = rotate(hash ^ UInt64(half) &* p1, 23) &* p2 &+ p3
            offset += 4
        }
        while offset < bytes.count {
            hash = rotate(hash ^ UInt64(bytes[offset]) &* p5, 11) &* p1
            offset += 1
        }
        hash = (hash ^ hash >> 33) &* p2
        hash = (hash ^ hash >> 29) &* p3
        return hash ^ hash >> 32
    }

    /// The hash of `bytes`.
    package static func hash(_ bytes: [UInt8], seed: UInt64 = 0) -> UInt64 {
        bytes.withUnsafeBytes { hash($0, seed: seed) }
    }
}
