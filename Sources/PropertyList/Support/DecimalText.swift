/// Numbers of a file's texts, parsed without a `String`.
package enum DecimalText {
    /// The integer of a text of decimal digits, after a minus sign or not; nil for another text, and beyond 64 bits.
    package static func integer(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        guard text.count > start else { return nil }
        guard text.count - start <= 18 else { return text.count < 400 ? Int64(string(text)) : nil }
        var number: Int64 = 0
        for index in start..<text.count {
            let digit = text[index] &- 0x30
            guard digit < 10 else { return nil }
            number = number &* 10 &+ Int64(digit)
        }
        return isNegative ? -number : number
    }

    /// The finite real of a text, such as `12.5`, `-0.001` and `1e-7`; nil for another text.
    ///
    /// Up to fifteen digits take one exact division, which rounds like the general algorithm.
    package static func real(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        let isNegative = text.first == UInt8(ascii: "-")
        var index = isNegative ? 1 : 0
        var (digits, fraction) = (0, 0)
        var mantissa: Int64 = 0
        var isBehindPoint = false
        while index < text.count {
            let byte = text[index]
            index += 1
            if byte == UInt8(ascii: "."), !isBehindPoint, digits > 0 {
                isBehindPoint = true
                continue
            }
            let digit = byte &- 0x30
            guard digit < 10, digits < 15 else { return general(text) }
            mantissa = mantissa &* 10 &+ Int64(digit)
            digits += 1
            if isBehindPoint { fraction += 1 }
        }
        guard digits > 0 else { return nil }
        let value = real(mantissa, fraction: fraction)
        return isNegative ? -value : value
    }

    /// The real of at most fifteen digits, so many of them behind the point.
    package static func real(_ digits: Int64, fraction: Int) -> Double { Double(digits) / powers[fraction] }

    private static let powers: [Double] = (0...15).map { power in (0..<power).reduce(1) { value, _ in value * 10 } }

    /// The finite real of a text of any number of digits.
    package static func general(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        // Swift's parser takes hexadecimal numbers, infinities and NaN.
        let isPlain = text.allSatisfy { byte in
            byte &- 0x30 < 10 || byte == 0x2E || byte == 0x2D || byte == 0x2B || byte | 0x20 == 0x65
        }
        guard isPlain, text.count <= 400, let value = Double(string(text)), value.isFinite else { return nil }
        return value
    }

    private static func string(_ text: UnsafeBufferPointer<UInt8>) -> String { String(decoding: text, as: UTF8.self) }
}
