import Glibc

/// An item's key in sixteen bytes: a UUID in its canonical, upper-case text packed, or a cell that holds another text.
///
/// Which of the two it is stands in the item's flags.
struct PackedKey: BitwiseCopyable, Equatable {
    var high: UInt64
    var low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    init(text cell: Cell) {
        high = cell.head
        low = cell.tail
    }

    var cell: Cell {
        var cell = Cell(.absent, low)
        cell.head = high
        return cell
    }

    static let textCount = 36

    /// The packed form of 36 characters such as `6F9619FF-8B86-4D01-B42D-00CF4FC964FF`; nil for any other text,
    /// lower-case digits included, so that the text comes back as it was.
    @inline(__always)
    init?(uuid text: UnsafeBufferPointer<UInt8>) {
        guard text.count == Self.textCount, let bytes = text.baseAddress,
            bytes[8] == 0x2D, bytes[13] == 0x2D, bytes[18] == 0x2D, bytes[23] == 0x2D
        else { return nil }
        var invalid: UInt8 = 0
        @inline(__always) func digits(_ range: Range<Int>) -> UInt64 {
            var word: UInt64 = 0
            for index in range {
                let byte = bytes[index]
                let digit = byte &- 0x30
                let letter = byte &- 0x41
                let isDigit = digit < 10
                invalid |= isDigit || letter < 6 ? 0 : 1
                word = word << 4 | UInt64((isDigit ? digit : letter &+ 10) & 15)
            }
            return word
        }
        high = digits(0..<8) << 32 | digits(9..<13) << 16 | digits(14..<18)
        low = digits(19..<23) << 48 | digits(24..<36)
        if invalid != 0 { return nil }
    }

    /// Writes the 36 characters.
    func writeUUID(to bytes: UnsafeMutablePointer<UInt8>) {
        var out = 0
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 {
                bytes[out] = 0x2D
                out += 1
            }
            let word = index < 16 ? high : low
            let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (index & 15))) & 15
            bytes[out] = digit < 10 ? 0x30 + digit : 0x37 + digit
            out += 1
        }
    }

    var uuidString: String {
        String(unsafeUninitializedCapacity: Self.textCount) { buffer in
            if let base = buffer.baseAddress { writeUUID(to: base) }
            return Self.textCount
        }
    }

    /// The 128 bits given, marked as a UUID of a version and the usual variant.
    static func uuid(high: UInt64, low: UInt64, version: UInt64) -> PackedKey {
        PackedKey(
            high: high & ~0xF000 | version << 12,
            low: low & ~(3 << 62) | 2 << 62)
    }
}
