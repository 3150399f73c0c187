/// Numbers of a file's texts, parsed without a `String`.
package enum DecimalText {
    /// The integer of a text of decimal digits, after a minus sign or not; nil for another text, for -0, which is a real,
    /// and beyond 64 bits.
    package static func integer(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        guard text.count > start else { return nil }
        if isNegative, text[1...].allSatisfy({ $0 == 0x30 }) { return nil }
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

    /// The finite real of a text of any number of digits; nil for one beyond the reals.
    package static func general(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        guard text.count <= 400, isPlain(text) else { return nil }
        return nearest(string(text), text)
    }

    /// Whether all characters are those of decimal numbers. Swift's parser takes hexadecimal ones, infinities and NaN.
    package static func isPlain(_ text: some Collection<UInt8>) -> Bool {
        text.allSatisfy { byte in
            byte &- 0x30 < 10 || byte == 0x2E || byte == 0x2D || byte == 0x2B || isExponentSign(byte)
        }
    }

    fileprivate static func nearest(_ text: some StringProtocol, _ bytes: some Collection<UInt8>) -> Double? {
        guard let value = Double(text), value.isFinite, value != 0 || !hasValue(bytes) else { return nil }
        return value
    }

    /// Whether a digit before the exponent is not 0, so that the number is not 0, however small it is.
    package static func hasValue(_ text: some Collection<UInt8>) -> Bool {
        text.prefix { !isExponentSign($0) }.contains { 0x31...0x39 ~= $0 }
    }

    private static func isExponentSign(_ byte: UInt8) -> Bool { byte | 0x20 == UInt8(ascii: "e") }

    private static func string(_ text: UnsafeBufferPointer<UInt8>) -> String { String(decoding: text, as: UTF8.self) }
}

extension Double {
    /// The real nearest to a decimal text; nil for another text, and for a number beyond the reals: one larger than any, or
    /// smaller than any and not 0, which would become infinity or 0 in silence.
    package init?(decimal text: some StringProtocol) {
        guard DecimalText.isPlain(text.utf8), let value = DecimalText.nearest(text, text.utf8) else { return nil }
        self = value
    }
}

/// What a text's digits are, without the rounding of a real.
extension DecimalText {
    /// `mantissa` × 10^`exponent`, with no zero at the mantissa's end.
    private struct Number: Equatable {
        var mantissa: Int128
        var exponent: Int
    }

    /// The number of a text; nil for another text, and for digits beyond 128 bits.
    private static func number(_ text: UnsafeBufferPointer<UInt8>) -> Number? {
        let isNegative = text.first == UInt8(ascii: "-")
        var index = isNegative || text.first == UInt8(ascii: "+") ? 1 : 0
        var mantissa: Int128 = 0
        var (digits, zeros, exponent) = (0, 0, 0)
        var isBehindPoint = false
        while index < text.count, !isExponentSign(text[index]) {
            let digit = text[index] &- 0x30
            if text[index] == UInt8(ascii: "."), !isBehindPoint {
                isBehindPoint = true
            } else {
                guard digit < 10 else { return nil }
                digits += 1
                if isBehindPoint { exponent -= 1 }
                if digit == 0 {
                    zeros += 1
                } else {
                    guard let shifted = times10(mantissa, zeros + 1) else { return nil }
                    let step = Int128(digit)
                    let (sum, isTooLarge) =
                        isNegative ? shifted.subtractingReportingOverflow(step) : shifted.addingReportingOverflow(step)
                    if isTooLarge { return nil }
                    (mantissa, zeros) = (sum, 0)
                }
            }
            index += 1
        }
        guard digits > 0 else { return nil }
        if index < text.count {
            guard let given = Int32(string(UnsafeBufferPointer(rebasing: text[(index + 1)...]))) else { return nil }
            exponent += Int(given)
        }
        return Number(mantissa: mantissa, exponent: mantissa == 0 ? 0 : exponent + zeros)
    }

    /// A number × 10^`power`; nil beyond 128 bits.
    private static func times10(_ number: Int128, _ power: Int) -> Int128? {
        if number == 0 { return 0 }
        guard power <= 38 else { return nil }
        var product = number
        for _ in 0..<power {
            let (next, isTooLarge) = product.multipliedReportingOverflow(by: 10)
            if isTooLarge { return nil }
            product = next
        }
        return product
    }

    /// The integer that a decimal text is, such as `12`, `12.00` and `1.2e1`; nil for another text, for one with a fraction,
    /// for -0, and beyond 128 bits.
    package static func whole(_ text: UnsafeBufferPointer<UInt8>) -> Int128? {
        guard let number = number(text), number.exponent >= 0 else { return nil }
        if number.mantissa == 0, text.first == UInt8(ascii: "-") { return nil }
        return times10(number.mantissa, number.exponent)
    }

    /// Whether a text has an exponent, as programs write reals.
    package static func hasExponent(_ text: UnsafeBufferPointer<UInt8>) -> Bool { text.contains(where: isExponentSign) }

    /// Whether a text has an exponent, a point and no more than the 17 digits that identify a real: `9.9999999999999992e+22`.
    package static func isWrittenReal(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let digits = text.prefix { !isExponentSign($0) }
        return digits.count < text.count && digits.contains(0x2E) && digits.count { 0x30...0x39 ~= $0 } <= 17
    }

    /// Whether the nearest real of a text has its whole digits. From 2^53 on most whole numbers are not reals; with an
    /// exponent a text is one if it is the real's own, as `1e23` is, or is beyond 128 bits.
    package static func hasWholeDigits(_ real: Double, of text: UnsafeBufferPointer<UInt8>) -> Bool {
        if real.magnitude < 0x1p53 { return true }
        guard let whole = whole(text) else { return hasExponent(text) }
        return Int128(exactly: real) == whole || isWrittenReal(text)
            || hasExponent(text) && hasAllDigits(real, of: text)
    }

    /// Whether the nearest real of a text has all of its digits: it is the number, or its own shortest text is the same.
    package static func hasAllDigits(_ real: Double, of text: UnsafeBufferPointer<UInt8>) -> Bool {
        if let whole = whole(text), Int128(exactly: real) == whole { return true }
        guard let number = number(text) else { return false }
        var shortest = real.description
        return shortest.withUTF8(Self.number) == number
    }
}
