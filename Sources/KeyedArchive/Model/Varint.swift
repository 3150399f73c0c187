/// Numbers in base 128, least significant first, the high bit for more: as index sets and attributed strings have them.
enum Varint {
    static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// All numbers of the bytes, or nil when one runs past the end or past 64 bits.
    static func decode(_ bytes: [UInt8]) -> [UInt64]? {
        var numbers: [UInt64] = []
        var value: UInt64 = 0
        var shift: UInt64 = 0
        for byte in bytes {
            let digit = UInt64(byte & 0x7F)
            guard shift < 64, shift < 63 || digit <= 1 else { return nil }
            value |= digit << shift
            shift += 7
            if byte & 0x80 == 0 {
                numbers.append(value)
                value = 0
                shift = 0
            }
        }
        return shift == 0 ? numbers : nil
    }
}
