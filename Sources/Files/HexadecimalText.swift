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
