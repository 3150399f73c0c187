/// A decimal number of up to 38 digits and a power of ten, as in NSDecimalNumber.
public struct ArchivedDecimal: Sendable, Hashable, CustomStringConvertible {
    /// The digits as an integer; archives store eight 16-bit units, least significant first.
    public var mantissa: UInt128
    /// The power of ten.
    public var exponent: Int8
    /// Whether it is below zero.
    public var isNegative: Bool
    /// Whether this is not a number; then mantissa and exponent are ignored.
    public var isNaN: Bool

    /// Creates a decimal number from its parts.
    public init(mantissa: UInt128, exponent: Int8 = 0, isNegative: Bool = false) {
        self.mantissa = mantissa
        self.exponent = exponent
        self.isNegative = isNegative
        isNaN = false
    }

    /// Not a number.
    public static var nan: ArchivedDecimal {
        var value = ArchivedDecimal(mantissa: 0)
        value.isNaN = true
        return value
    }

    /// Parses decimal digits with an optional sign and point; nil for other text and for too many digits.
    public init?(text: String) {
        var digits = text[...]
        let isNegative = digits.first == "-"
        if isNegative || digits.first == "+" { digits = digits.dropFirst() }
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = parts.count == 2 ? parts[1] : ""
        guard let whole = parts.first, !(whole.isEmpty && fraction.isEmpty),
            (whole + fraction).utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let mantissa = UInt128(whole + fraction), let exponent = Int8(exactly: -fraction.count)
        else { return nil }
        self.init(mantissa: mantissa, exponent: exponent, isNegative: isNegative)
    }

    /// The number in decimal digits.
    public var description: String {
        if isNaN { return "NaN" }
        var digits = String(mantissa)
        if exponent > 0, mantissa != 0 {
            digits += String(repeating: "0", count: Int(exponent))
        } else if exponent < 0 {
            let places = -Int(exponent)
            if digits.count <= places { digits = String(repeating: "0", count: places + 1 - digits.count) + digits }
            let point = digits.index(digits.endIndex, offsetBy: -places)
            digits = digits[..<point] + "." + digits[point...]
        }
        return isNegative ? "-" + digits : digits
    }
}
