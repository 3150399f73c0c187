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

/// The SHA-256 digest (FIPS 180-4): equal digests mean equal bytes, even against an attacker.
package struct SHA256 {
    /// The number of bytes of a digest.
    package static let byteCount = 32

    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    private var words = [UInt32](repeating: 0, count: 64)
    /// The bytes of an incomplete block.
    private var pending: [UInt8] = []
    private var count: UInt64 = 0

    package init() {}

    /// Adds bytes, at about 200 MB/s.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        count &+= UInt64(bytes.count)
        var start = 0
        if !pending.isEmpty {
            start = min(64 - pending.count, bytes.count)
            pending += bytes[..<start]
            guard pending.count == 64 else { return }
            let block = pending
            block.withUnsafeBytes { addBlocks(of: $0) }
            pending = []
        }
        let whole = start + (bytes.count - start) / 64 * 64
        addBlocks(of: UnsafeRawBufferPointer(rebasing: bytes[start..<whole]))
        pending += bytes[whole...]
    }

    /// The digest of all bytes.
    package consuming func finish() -> [UInt8] {
        // Padding: a 1 bit, zeros, and the number of bits in eight bytes.
        var end = pending + [0x80]
        end += [UInt8](repeating: 0, count: (120 - end.count % 64) % 64)
        end += withUnsafeBytes(of: (count << 3).bigEndian) { Array($0) }
        end.withUnsafeBytes { addBlocks(of: $0) }
        return state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
    }

    private mutating func addBlocks(of bytes: UnsafeRawBufferPointer) {
        for start in stride(from: 0, to: bytes.count, by: 64) { Self.add(bytes[start..<start + 64], &state, &words) }
    }

    /// The digest of bytes.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var digest = SHA256()
        bytes.withUnsafeBytes { digest.update($0) }
        return digest.finish()
    }

    /// The authentication code of bytes in pieces (HMAC, RFC 2104): only who has the key can make it.
    package static func code(of pieces: some Sequence<[UInt8]>, key: [UInt8]) -> [UInt8] {
        let block = 64
        var key = key.count > block ? digest(key) : key
        key += [UInt8](repeating: 0, count: block - key.count)
        var inner = SHA256()
        key.map { $0 ^ 0x36 }.withUnsafeBytes { inner.update($0) }
        for piece in pieces { piece.withUnsafeBytes { inner.update($0) } }
        return digest(key.map { $0 ^ 0x5C } + inner.finish())
    }

    private static func add(_ block: Slice<UnsafeRawBufferPointer>, _ state: inout [UInt32], _ words: inout [UInt32]) {
        state.withUnsafeMutableBufferPointer { state in
            words.withUnsafeMutableBufferPointer { words in
                for place in 0..<16 {
                    words[place] = UInt32(
                        bigEndian: block.base.loadUnaligned(
                            fromByteOffset: block.startIndex + place * 4, as: UInt32.self))
                }
                for place in 16..<64 {
                    let (early, late) = (words[place - 15], words[place - 2])
                    let first = rotate(early, 7) ^ rotate(early, 18) ^ early >> 3
                    let second = rotate(late, 17) ^ rotate(late, 19) ^ late >> 10
                    words[place] = words[place - 16] &+ first &+ words[place - 7] &+ second
                }
                var (a, b, c, d) = (state[0], state[1], state[2], state[3])
                var (e, f, g, h) = (state[4], state[5], state[6], state[7])
                for place in 0..<64 {
                    let first = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
                    let step = h &+ first &+ (e & f ^ ~e & g) &+ constants[place] &+ words[place]
                    let second = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
                    let majority = a & b ^ a & c ^ b & c
                    (h, g, f, e, d, c, b, a) = (g, f, e, d &+ step, c, b, a, step &+ second &+ majority)
                }
                for (place, value) in [a, b, c, d, e, f, g, h].enumerated() { state[place] &+= value }
            }
        }
    }

    @inline(__always)
    private static func rotate(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}

extension UnsafeRawBufferPointer {
    /// Loads a number at an offset. The caller has checked the bounds.
    @inlinable package func littleEndian<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type, at offset: Int
    ) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}

extension [UInt8] {
    /// The bytes as pairs of hexadecimal digits, in lowercase.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The bytes of a text that ``hexadecimal`` made.
    ///
    /// - Parameters:
    ///   - text: pairs of digits; nil for any other text.
    ///   - count: the number of bytes that it has to have.
    package init?(hexadecimal text: String, count: Int) {
        guard text.utf8.count == 2 * count else { return nil }
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 2 * count else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        guard text == bytes.hexadecimal else { return nil }
        self = bytes
    }
}
