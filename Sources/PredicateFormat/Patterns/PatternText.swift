/// Decodes the characters of a text in UTF-8.
enum PatternText {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// The character at an offset whose byte is not ASCII, and its length in bytes. An invalid byte stands for one
    /// U+FFFD.
    static func scalar(_ text: Bytes, _ offset: Int) -> (value: UInt32, length: Int) {
        let lead = UInt32(text[offset])
        let left = text.count - offset
        func trail(_ index: Int) -> UInt32 { UInt32(text[offset + index]) ^ 0x80 }
        if lead < 0xE0 {
            guard lead >= 0xC2, left > 1, trail(1) < 0x40 else { return (0xFFFD, 1) }
            return ((lead & 0x1F) << 6 | trail(1), 2)
        }
        if lead < 0xF0 {
            guard left > 2, trail(1) | trail(2) < 0x40 else { return (0xFFFD, 1) }
            let value = (lead & 0xF) << 12 | trail(1) << 6 | trail(2)
            return value < 0x800 || value & 0xF800 == 0xD800 ? (0xFFFD, 1) : (value, 3)
        }
        guard left > 3, trail(1) | trail(2) | trail(3) < 0x40 else { return (0xFFFD, 1) }
        let value = (lead & 7) << 18 | trail(1) << 12 | trail(2) << 6 | trail(3)
        return lead > 0xF4 || value < 0x10000 || value > 0x10FFFF ? (0xFFFD, 1) : (value, 4)
    }

    /// The character at any offset, and its length in bytes.
    static func anyScalar(_ text: Bytes, _ offset: Int) -> (value: UInt32, length: Int) {
        text[offset] < 0x80 ? (UInt32(text[offset]), 1) : scalar(text, offset)
    }
}
