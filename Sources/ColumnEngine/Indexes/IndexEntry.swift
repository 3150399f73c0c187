/// A row in an ordered index, in 16 bytes that decide most comparisons.
package struct IndexEntry: BitwiseCopyable, Equatable {
    /// The beginning of the value, in the values' order; all of it for declared integers and dates.
    var prefix: UInt64
    /// The beginning of the item's key, in the keys' order: equal values are ordered by key.
    var code: UInt32
    package var row: UInt32
}

extension IndexEntry {
    /// A key's first characters as a number in the keys' order, with ties; for upper-case UUIDs their first eight
    /// digits.
    static func code(of key: UnsafeBufferPointer<UInt8>) -> UInt32 {
        var code: UInt32 = 0
        for index in 0..<8 {
            let shift = UInt32(28 - 4 * index)
            guard index < key.count, key[index] >= 0x30 else { return code }
            let byte = key[index]
            switch byte {
            case 0x30...0x39: code |= UInt32(byte - 0x30) << shift
            // Between the digits and the letters: before all keys that continue with A.
            case ..<0x41: return code | 10 << shift
            case 0x41...0x46: code |= UInt32(byte - 0x37) << shift
            default: return code | UInt32((UInt64(16) << shift) - 1)
            }
        }
        return code
    }
}
