/// Texts whose characters can be told from their bytes: each is one scalar, or one with the accents that follow it.
enum PlainCharacters {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// Whether each byte is a character: ASCII without carriage returns, which make one character with a line feed.
    @inline(__always)
    static func areBytes(_ text: Bytes) -> Bool {
        let raw = UnsafeRawBufferPointer(text)
        let ones: UInt64 = 0x0101_0101_0101_0101
        var place = 0
        var seen: UInt64 = 0
        while place + 8 <= raw.count {
            let word = raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            let returns = word ^ (ones &* 0x0D)
            seen |= word | ((returns &- ones) & ~returns)
            place += 8
        }
        while place < raw.count {
            if raw[place] == 0x0D { return false }
            seen |= UInt64(raw[place])
            place += 1
        }
        return seen & (ones &* 0x80) == 0
    }

    /// Whether a text is made of them: the usual characters of Latin, Greek, Cyrillic and East Asian scripts, of which
    /// none but accents joins with those before it.
    static func make(up text: Bytes) -> Bool {
        var place = 0
        var isAfterControl = false
        while place < text.count {
            let (scalar, length) = PatternText.anyScalar(text, place)
            switch scalar {
            case 0x0D: return false
            case ..<0x20, 0x7F..<0xA0, 0xAD: isAfterControl = true
            case 0x300..<0x370:
                // An accent behind a control character is a character of its own.
                if isAfterControl { return false }
            case ..<0x483, 0x48A..<0x590, 0x1E00..<0x2000, 0x2010..<0x2028, 0x2030..<0x205F, 0x20A0..<0x20D0,
                0x3000..<0x302A, 0x3041..<0x3097, 0x309B..<0x3130, 0x4E00..<0xA000, 0xAC00..<0xD7A4,
                0xFF01..<0xFF61:
                isAfterControl = false
            default: return false
            }
            place += length
        }
        return true
    }

    /// Whether a place that begins a scalar, or the text's end, is between two characters.
    @inline(__always)
    static func isBorder(_ text: Bytes, _ place: Int) -> Bool { place == 0 || !isAccent(text, place) }

    /// The end of the character at a place.
    @inline(__always)
    static func end(_ text: Bytes, _ place: Int) -> Int {
        var end = place + PatternText.anyScalar(text, place).length
        while isAccent(text, end) { end += 2 }
        return end
    }

    /// The start of the character that ends at a place.
    static func start(_ text: Bytes, _ place: Int) -> Int {
        var start = place
        repeat {
            start -= 1
            while start > 0 && text[start] & 0xC0 == 0x80 { start -= 1 }
        } while start > 0 && isAccent(text, start)
        return start
    }

    /// U+0300 to U+036F.
    @inline(__always)
    private static func isAccent(_ text: Bytes, _ place: Int) -> Bool {
        guard place + 1 < text.count, text[place] & 0xFE == 0xCC else { return false }
        return text[place] == 0xCC || text[place + 1] < 0xB0
    }
}
