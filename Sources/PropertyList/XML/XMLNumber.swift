/// The texts of numbers in XML property lists.
enum XMLNumber {
    static func trimmed(_ text: String) -> Substring {
        var rest = text[...]
        while let first = rest.unicodeScalars.first, isSpace(first) { rest.unicodeScalars.removeFirst() }
        while let last = rest.unicodeScalars.last, isSpace(last) { rest.unicodeScalars.removeLast() }
        return rest
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r"
    }

    /// An integer: an optional sign, then decimal digits, or `0x` and hexadecimal ones; from -2^63 to 2^64-1.
    static func integer(_ text: String) -> Int128? {
        var digits = trimmed(text)
        var isNegative = false
        if digits.hasPrefix("-") || digits.hasPrefix("+") { isNegative = digits.removeFirst() == "-" }
        var radix = 10
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            digits = digits.dropFirst(2)
            radix = 16
        }
        // The standard parser would accept a second sign.
        guard let first = digits.utf8.first, first != 0x2B, first != 0x2D, digits.utf8.count <= 4096,
            let magnitude = UInt64(digits, radix: radix)
        else { return nil }
        let value = isNegative ? -Int128(magnitude) : Int128(magnitude)
        return value >= Int128(Int64.min) ? value : nil
    }

    /// A real: decimal, with or without an exponent, or a name of infinity or not-a-number in any case.
    static func real(_ text: String) -> Double? {
        let digits = trimmed(text)
        guard !digits.isEmpty, digits.utf8.count <= 4096 else { return nil }
        switch digits.lowercased() {
        case "nan", "+nan", "-nan": return .nan
        case "inf", "infinity", "+inf", "+infinity": return .infinity
        case "-inf", "-infinity": return -.infinity
        default: break
        }
        guard digits.utf8.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }) else { return nil }
        return Double(digits)
    }
}
