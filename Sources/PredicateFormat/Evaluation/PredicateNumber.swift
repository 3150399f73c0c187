package import PropertyList

/// A number of any kind with exact comparison and arithmetic: true is 1, and an integer is never rounded to a real.
package enum PredicateNumber {
    case integer(Int128)
    case real(Double)

    package init?(_ value: PropertyListValue) {
        switch value {
        case .integer(let number): self = .integer(Int128(number))
        case .real(let number): self = .real(number)
        case .boolean(let flag): self = .integer(flag ? 1 : 0)
        case .wideInteger(let number): self = .integer(number)
        case .single(let number): self = .real(Double(number))
        case .null, .date, .data, .string, .utf16, .uid, .array, .set, .dictionary: return nil
        }
    }

    /// The number as a property-list value; an integer has the narrowest kind.
    var value: PropertyListValue {
        switch self {
        case .integer(let number): Int64(exactly: number).map { .integer($0) } ?? .wideInteger(number)
        case .real(let number): .real(number)
        }
    }

    var asDouble: Double {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        }
    }

    /// The integer that the number is; nil for a number with a fraction, and for one beyond 128 bits.
    var whole: Int128? {
        switch self {
        case .integer(let number): number
        case .real(let number): Int128(exactly: number)
        }
    }

    /// The integral part; nil for a real outside the range of 128-bit integers.
    var truncated: PredicateNumber? {
        guard case .real(let number) = self else { return self }
        return Int128(exactly: number.rounded(.towardZero)).map { .integer($0) }
    }

    /// Negative, zero or positive when the first is less, equal or greater; nil when one is not a number.
    package static func order(_ first: PredicateNumber, _ second: PredicateNumber) -> Int? {
        switch (first, second) {
        case (.integer(let a), .integer(let b)):
            return a < b ? -1 : a == b ? 0 : 1
        case (.real(let a), .real(let b)):
            return a < b ? -1 : a == b ? 0 : a > b ? 1 : nil
        case (.integer(let a), .real(let b)):
            return order(a, b)
        case (.real(let a), .integer(let b)):
            return order(b, a).map { -$0 }
        }
    }

    private static func order(_ integer: Int128, _ real: Double) -> Int? {
        if real.isNaN { return nil }
        let floor = real.rounded(.down)
        guard let whole = Int128(exactly: floor) else { return real < 0 ? 1 : -1 }
        if integer != whole { return integer < whole ? -1 : 1 }
        return real > floor ? -1 : 0
    }
}
