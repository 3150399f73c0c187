/// A text to be found in others, ignoring case.
struct FoldedText {
    private let text: String
    /// The text's bytes if it is ASCII, whose search needs no decoding.
    private let ascii: [UInt8]?
    /// Whether a date's text can contain it; making that text is slow.
    let mayBeDate: Bool

    init(_ text: String) {
        self.text = text.lowercased()
        mayBeDate = self.text.utf8.allSatisfy("0123456789-:.+ tz".utf8.contains)
        ascii = text.utf8.allSatisfy { $0 < 0x80 } ? Array(self.text.utf8) : nil
    }

    func isFound(in other: String) -> Bool {
        guard let ascii else { return other.lowercased().contains(text) }
        var other = other
        return other.withUTF8 { bytes in
            guard let first = ascii.first else { return true }
            var start = 0
            while start + ascii.count <= bytes.count {
                if Self.folded(bytes[start]) == first,
                    (1..<ascii.count).allSatisfy({ Self.folded(bytes[start + $0]) == ascii[$0] })
                {
                    return true
                }
                start += 1
            }
            return false
        }
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
