/// A row in an ordered index, in 16 bytes: most comparisons need nothing else.
package struct IndexEntry: BitwiseCopyable, Equatable {
    /// The value's beginning, ordered as the values are; all of it for values in dollars and dates.
    var prefix: UInt64
    /// The beginning of the item's key, ordered as keys are: equal values are in the order of their keys.
    var code: UInt32
    package var row: UInt32
}

extension IndexEntry {
    /// A key's first characters as a number: the order of the numbers is that of the keys as far as it tells them
    /// apart, upper-case UUIDs by their first eight digits.
    static func code(of key: UnsafeBufferPointer<UInt8>) -> UInt32 {
        var code: UInt32 = 0
        for index in 0..<8 {
            let shift = UInt32(28 - 4 * index)
            guard index < key.count, key[index] >= 0x30 else { return code }
            let byte = key[index]
            switch byte {
            case 0x30...0x39: code |= UInt32(byte - 0x30) << shift
            // Between the digits and the letters: before all that go on with A.
            case ..<0x41: return code | 10 << shift
            case 0x41...0x46: code |= UInt32(byte - 0x37) << shift
            default: return code | UInt32((UInt64(16) << shift) - 1)
            }
        }
        return code
    }
}
