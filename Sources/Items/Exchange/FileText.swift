import ColumnEngine
import PropertyList

/// Parses values from a file's texts. Numbers, booleans and dates of the usual form need no `String`.
enum FileText {
    /// Converts a text to a value of a kind.
    ///
    /// - Throws: `invalidValue` naming the field.
    static func value(
        _ text: UnsafeBufferPointer<UInt8>, _ kind: ItemFieldKind, _ field: @autoclosure () -> String
    ) throws(StoreError) -> PropertyListValue {
        let wanted: String
        switch kind {
        case .integer:
            if let number = integer(text) { return .integer(number) }
            if let number = real(text).flatMap(Int64.init(exactly:)) { return .integer(number) }
            wanted = "an integer"
        case .real:
            if let number = real(text) { return .real(number) }
            wanted = "a number"
        case .number:
            if let number = integer(text) { return .integer(number) }
            if let number = Int128(string(text)) { return .wideInteger(number) }
            if let number = real(text) { return .real(number) }
            wanted = "a number"
        case .boolean:
            if let value = boolean(text) { return .boolean(value) }
            wanted = "true or false"
        case .date:
            if let date = date(text) ?? ISO8601.parse(string(text)) { return .date(date) }
            wanted = "a date in ISO 8601"
        case .string:
            if let string = String(validating: text, as: UTF8.self) { return .string(string) }
            throw StoreError(
                .invalidValue(field: field()),
                "\(field()) takes text in UTF-8, and these bytes are not: \(encodingAdvice)")
        }
        throw FieldValidation.error(field(), wanted, .string(string(text)))
    }

    /// The advice for text that is not UTF-8.
    static let encodingAdvice =
        "give its encoding, such as encoding = \"windows-1252\" (on the command line --encoding windows-1252)"

    static func string(_ text: UnsafeBufferPointer<UInt8>) -> String { String(decoding: text, as: UTF8.self) }

    static func boolean(_ text: UnsafeBufferPointer<UInt8>) -> Bool? {
        if text.elementsEqual("true".utf8) { return true }
        return text.elementsEqual("false".utf8) ? false : nil
    }

    static func integer(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        guard text.count - start <= 18 else { return Int64(string(text)) }
        guard text.count > start else { return nil }
        var number: Int64 = 0
        for index in start..<text.count {
            guard text[index].isDigit else { return Int64(string(text)) }
            number = number &* 10 &+ Int64(text[index] &- 0x30)
        }
        return isNegative ? -number : number
    }

    /// Parses a finite real. Up to fifteen digits take one exact division, which rounds like the general algorithm.
    static func real(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
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
            guard byte.isDigit, digits < 15 else { return general(text) }
            mantissa = mantissa &* 10 &+ Int64(byte &- 0x30)
            digits += 1
            if isBehindPoint { fraction += 1 }
        }
        guard digits > 0 else { return nil }
        let value = Double(mantissa) / powers[fraction]
        return isNegative ? -value : value
    }

    private static let powers: [Double] = (0...15).map { power in (0..<power).reduce(1) { value, _ in value * 10 } }

    private static func general(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        guard text.count <= 400, let value = Double(string(text)), value.isFinite else { return nil }
        return value
    }

    /// Whether a real's text equals Swift's output.
    static func isShortest(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count <= 24, let value = general(text) else { return false }
        return text.elementsEqual(value.description.utf8)
    }

    /// Parses a date such as `1906-10-17` or `1906-10-17T09:30:00.25Z`, whose text is the one that an export has; nil for
    /// any other text.
    static func date(_ text: UnsafeBufferPointer<UInt8>) -> PropertyListDate? {
        guard text.count >= 10, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            let year = number(text, 0, 4), let month = number(text, 5, 2), let day = number(text, 8, 2),
            year > 0 || text.count > 10, (1...12).contains(month),
            (1...CalendarDate.days(inMonth: month, of: year)).contains(day)
        else { return nil }
        let days = CalendarDate.daysSince1970(year: year, month: month, day: day)
        if text.count == 10 { return PropertyListDate(secondsSince1970: days * 86400, fraction: "") }
        guard text.count >= 20, text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"),
            text[16] == UInt8(ascii: ":"), text[text.count - 1] == UInt8(ascii: "Z"),
            let hour = number(text, 11, 2), let minute = number(text, 14, 2), let second = number(text, 17, 2),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let whole = days * 86400 + hour * 3600 + minute * 60 + second
        if text.count == 20 { return PropertyListDate(secondsSince1970: whole, fraction: "") }
        let count = text.count - 21
        guard text[19] == UInt8(ascii: "."), count > 0, text[text.count - 2] != UInt8(ascii: "0"),
            text[20..<20 + count].allSatisfy(\.isDigit)
        else { return nil }
        let digits = String(decoding: text[20..<20 + count], as: UTF8.self)
        let date = PropertyListDate(secondsSince1970: whole, fraction: digits)
        // Three digits identify a date of these years; of more there may be a shorter text.
        return count <= 3 || date.parts?.fraction == digits ? date : nil
    }

    private static func number(_ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int) -> Int? {
        var number = 0
        for index in start..<start + count {
            guard text[index].isDigit else { return nil }
            number = number * 10 + Int(text[index] &- 0x30)
        }
        return number
    }
}

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
