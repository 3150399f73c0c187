import PropertyList

/// Text styles in which each value has exactly one text: printing the value in the style reproduces the text.
///
/// A column gets a kind if all its texts have one style, since no two different texts then become the same value.
/// Complexity: linear in the text; allocates only for reals of more than fifteen digits.
struct CanonicalStyle: OptionSet {
    let rawValue: UInt8

    /// No leading zeros and no signed zero: `7`, `-12`.
    static let integer = CanonicalStyle(rawValue: 1)
    /// No redundant zeros: `5.875`, `13`.
    static let decimal = CanonicalStyle(rawValue: 2)
    /// At least one digit after the point: `5.875`, `13.0`, `0.0`.
    static let float = CanonicalStyle(rawValue: 4)
    /// The same, with zero as `0`.
    static let floatWithBareZero = CanonicalStyle(rawValue: 8)
    /// `true` and `false`.
    static let boolean = CanonicalStyle(rawValue: 16)
    /// `1906-10-17`.
    static let day = CanonicalStyle(rawValue: 32)
    /// `1906-10-17T09:30:00Z`, with the digits that identify the date; other years as `+012026-01-01T00:00:00Z`.
    static let moment = CanonicalStyle(rawValue: 64)

    static let all: CanonicalStyle = [.integer, .decimal, .float, .floatWithBareZero, .boolean, .day, .moment]
    private static let reals: CanonicalStyle = [.decimal, .float, .floatWithBareZero]

    /// The kind of a column whose texts all have these styles.
    var kind: ItemFieldKind {
        if contains(.integer) { return .integer }
        if !isDisjoint(with: Self.reals) { return .real }
        if contains(.boolean) { return .boolean }
        return isDisjoint(with: [.day, .moment]) ? .string : .date
    }

    /// The styles of a text.
    static func of(_ text: UnsafeBufferPointer<UInt8>) -> CanonicalStyle {
        guard let first = text.first else { return [] }
        switch first {
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            if text.count >= 10, text[4] == UInt8(ascii: "-") {
                return FileText.date(text) == nil ? [] : text.count == 10 ? .day : .moment
            }
            return number(text, from: 0)
        case UInt8(ascii: "-") where text.count < 21: return number(text, from: 1)
        case UInt8(ascii: "-"): return longYear(text).union(number(text, from: 1))
        case UInt8(ascii: "+"): return longYear(text)
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return FileText.boolean(text) == nil ? [] : .boolean
        default: return []
        }
    }

    /// A date beyond the years 0 to 9999.
    private static func longYear(_ text: UnsafeBufferPointer<UInt8>) -> CanonicalStyle {
        guard text.count < 400, text.count > 8, text[7] == UInt8(ascii: "-"),
            let date = ISO8601.parse(FileText.string(text))
        else { return [] }
        return text.elementsEqual(date.exchangeText.utf8) ? .moment : []
    }

    private static func number(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> CanonicalStyle {
        var end = start
        while end < text.count, text[end].isDigit { end += 1 }
        let digits = end - start
        let isZero = digits == 1 && text[start] == UInt8(ascii: "0")
        if digits == 0 || text[start] == UInt8(ascii: "0") && !isZero { return [] }
        guard end < text.count else { return whole(text, digits, isZero: isZero, isNegative: start > 0) }
        guard text[end] == UInt8(ascii: "."), end + 1 < text.count else { return [] }
        var hasValue = !isZero
        for index in (end + 1)..<text.count {
            guard text[index].isDigit else { return [] }
            if text[index] != UInt8(ascii: "0") { hasValue = true }
        }
        let endsInZero = text[text.count - 1] == UInt8(ascii: "0")
        // 13.0 ends in a single zero; 13.00 and 2006.10 are not the only texts for their values.
        if endsInZero, text.count - end > 2 { return [] }
        guard hasValue else { return start > 0 ? [] : .float }
        // Reals preserve fifteen decimal digits.
        guard text.count - start - 1 <= 15 || FileText.isShortest(text) else { return [] }
        return endsInZero ? [.float, .floatWithBareZero] : reals
    }

    private static func whole(
        _ text: UnsafeBufferPointer<UInt8>, _ digits: Int, isZero: Bool, isNegative: Bool
    ) -> CanonicalStyle {
        if isZero { return isNegative ? [] : [.integer, .decimal, .floatWithBareZero] }
        if digits <= 15 { return [.integer, .decimal] }
        return FileText.integer(text) == nil ? [] : .integer
    }
}

extension UInt8 {
    @inline(__always)
    var isDigit: Bool { self &- 0x30 < 10 }
}
