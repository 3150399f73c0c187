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

    /// A digest in hexadecimal digits.
    package static func text(_ digest: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    /// The digest of hexadecimal digits; nil for any other text.
    package static func digest(ofText text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 2 * byteCount else { return nil }
        var digest: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[place...place + 1], as: UTF8.self), radix: 16) else {
                return nil
            }
            digest.append(byte)
        }
        // Numbers may have a sign, digits may not.
        return text == self.text(digest) ? digest : nil
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
