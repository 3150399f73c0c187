import Platform
import PropertyList

/// The properties of values at the end of a key path, as Foundation's classes have them: `name.length`,
/// `price.stringValue`, `path.lastPathComponent`; of a date the parts of its calendar date in UTC, as NSDateComponents
/// has them.
///
/// A property of a collection applies to each element.
package enum PredicateProperty: String, CaseIterable {
    case length, lowercaseString, uppercaseString, capitalizedString
    case lastPathComponent, pathExtension, pathComponents
    case deletingLastPathComponent = "stringByDeletingLastPathComponent"
    case deletingPathExtension = "stringByDeletingPathExtension"
    case intValue, integerValue, longLongValue, doubleValue, floatValue, boolValue, stringValue
    case timeIntervalSince1970, timeIntervalSinceReferenceDate
    case year, month, day, weekday, hour, minute, second
    case description
    case itself = "self"

    /// The properties of a kind of values.
    package static func all(of kind: PredicateKind) -> [PredicateProperty] {
        switch kind {
        case .string:
            [
                .length, .lowercaseString, .uppercaseString, .capitalizedString, .lastPathComponent, .pathExtension,
                .pathComponents, .deletingLastPathComponent, .deletingPathExtension,
            ] + all(of: .number)
        case .number:
            [
                .intValue, .integerValue, .longLongValue, .doubleValue, .floatValue, .boolValue, .stringValue,
                .description, .itself,
            ]
        case .date:
            [
                .timeIntervalSince1970, .timeIntervalSinceReferenceDate, .year, .month, .day, .weekday, .hour, .minute,
                .second, .description, .itself,
            ]
        case .data: [.length, .description, .itself]
        case .unknown, .absent, .collection: allCases
        }
    }

    /// Whether values of a kind have a property of that name. A collection's elements may have any.
    package static func exists(_ name: String, of kind: PredicateKind) -> Bool {
        kind == .collection || all(of: kind).contains { $0.rawValue == name }
    }

    /// The kind of the property's value.
    package var kind: PredicateKind {
        switch self {
        case .length, .intValue, .integerValue, .longLongValue, .doubleValue, .floatValue, .boolValue,
            .timeIntervalSince1970, .timeIntervalSinceReferenceDate, .year, .month, .day, .weekday, .hour, .minute,
            .second:
            .number
        case .lowercaseString, .uppercaseString, .capitalizedString, .lastPathComponent, .pathExtension,
            .deletingLastPathComponent, .deletingPathExtension, .stringValue, .description:
            .string
        case .pathComponents: .collection
        case .itself: .unknown
        }
    }

    /// The property of a value that is not a collection; nil when its kind has none of that name.
    static func value(_ name: String, of value: PropertyListValue) -> PropertyListValue? {
        guard let property = Self(exactly: name) else { return nil }
        if property == .itself { return value }
        switch value {
        case .string(let text): return property.value(of: text)
        case .utf16(let units): return property.value(of: units)
        case .date(let date):
            switch property {
            case .timeIntervalSince1970: return .real(date.secondsSince1970)
            case .timeIntervalSinceReferenceDate: return .real(date.secondsSinceReferenceDate)
            case .description: return .string(date.text)
            default: return CalendarDate(date).flatMap(property.value(of:)).map { .integer(Int64($0)) }
            }
        case .data(let bytes):
            switch property {
            case .length: return .integer(Int64(bytes.count))
            case .description: return PredicateText.description(of: value).map { .string($0) }
            default: return nil
            }
        default: return PredicateNumber(value).flatMap { property.value(of: $0, value) }
        }
    }

    /// The property of a text with surrogates that lack their other half, which stay what they are.
    private func value(of units: [UInt16]) -> PropertyListValue? {
        switch self {
        case .length: .integer(Int64(units.count))
        case .stringValue, .description, .itself: .utf16(units)
        default: HalfPairs.standingIn(for: units).flatMap(value(of:)).map(HalfPairs.restored)
        }
    }

    private func value(of number: PredicateNumber, _ value: PropertyListValue) -> PropertyListValue? {
        switch self {
        case .doubleValue: return .real(number.asDouble)
        case .floatValue: return .real(Double(Float(number.asDouble)))
        // As Foundation: an integer's low bits, a real's nearest integer.
        case .intValue:
            return number.truncated64.map {
                .integer(Int64(number.isReal ? Int32(clamping: $0) : Int32(truncatingIfNeeded: $0)))
            }
        case .integerValue, .longLongValue: return number.truncated64.map { .integer($0) }
        case .boolValue: return .boolean(number.asDouble != 0)
        case .stringValue, .description: return PredicateText.description(of: value).map { .string($0) }
        default: return nil
        }
    }

    private func value(of text: String) -> PropertyListValue? {
        switch self {
        case .length: .integer(Int64(text.utf16.count))
        case .lowercaseString: .string(text.lowercased())
        case .uppercaseString: .string(text.uppercased())
        case .capitalizedString: .string(PredicateText.capitalized(text))
        case .lastPathComponent: .string(PredicatePath.lastComponent(of: text))
        case .pathExtension: .string(PredicatePath.pathExtension(of: text))
        case .pathComponents: .array(PredicatePath.components(of: text).map { .string($0) })
        case .deletingLastPathComponent: .string(PredicatePath.deletingLastComponent(of: text))
        case .deletingPathExtension: .string(PredicatePath.deletingExtension(of: text))
        case .doubleValue: .real(PredicateText.real(text))
        case .floatValue: .real(Double(Float(PredicateText.real(text))))
        case .intValue: .integer(Int64(Int32(clamping: PredicateText.integer(text))))
        case .integerValue, .longLongValue: .integer(PredicateText.integer(text))
        case .boolValue: .boolean(PredicateText.boolean(text))
        case .stringValue, .description, .itself: .string(text)
        case .timeIntervalSince1970, .timeIntervalSinceReferenceDate, .year, .month, .day, .weekday, .hour, .minute,
            .second:
            nil
        }
    }

    /// A part of a calendar date.
    private func value(of date: CalendarDate) -> Int? {
        switch self {
        case .year: date.year
        case .month: date.month
        case .day: date.day
        case .weekday: date.weekday
        case .hour: date.hour
        case .minute: date.minute
        case .second: date.second
        default: nil
        }
    }
}

extension PredicateNumber {
    fileprivate var isReal: Bool { if case .real = self { true } else { false } }

    /// The integral part in 64 bits: of an integer the low bits, of a real the nearest that fits; nil for NaN.
    fileprivate var truncated64: Int64? {
        switch self {
        case .integer(let number): Int64(truncatingIfNeeded: number)
        case .real(let number):
            number.isNaN ? nil : Int64(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
        }
    }
}

/// What Foundation's NSString reads from a text, and how its classes describe themselves as text.
enum PredicateText {
    /// The bytes from the first that is not white space.
    private static func trimmed(_ text: String) -> Substring.UTF8View {
        Substring(text.unicodeScalars.drop { $0.properties.isWhitespace }).utf8
    }

    /// The integer that a text begins with, the nearest one of 64 bits; 0 when it begins with none.
    static func integer(_ text: String) -> Int64 { Int64(strtoll(String(Substring(trimmed(text))), nil, 10)) }

    /// The decimal number that a text begins with; 0 when it begins with none.
    static func real(_ text: String) -> Double {
        let rest = Array(trimmed(text))
        var place = 0
        func isDigit(_ index: Int) -> Bool { index < rest.count && rest[index] &- 0x30 < 10 }
        if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { place = 1 }
        let start = place
        while isDigit(place) { place += 1 }
        var digits = place - start
        if place < rest.count, rest[place] == UInt8(ascii: ".") {
            place += 1
            while isDigit(place) {
                place += 1
                digits += 1
            }
        }
        guard digits > 0 else { return 0 }
        if place < rest.count, rest[place] | 0x20 == UInt8(ascii: "e") {
            var end = place + 1
            if end < rest.count, rest[end] == UInt8(ascii: "-") || rest[end] == UInt8(ascii: "+") { end += 1 }
            if isDigit(end) {
                while isDigit(end) { end += 1 }
                place = end
            }
        }
        return strtod(String(decoding: rest[..<place], as: UTF8.self), nil)
    }

    /// Whether a text begins with Y, y, T, t, or a digit other than 0, after white space, a sign and zeros.
    static func boolean(_ text: String) -> Bool {
        var rest = trimmed(text)
        if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        while rest.first == UInt8(ascii: "0") { rest.removeFirst() }
        guard let first = rest.first else { return false }
        return first &- 0x31 < 9 || "YyTt".utf8.contains(first)
    }

    /// A text with each word's first letter in title case and its others in lower case. A word begins after any
    /// character that is neither a letter with case nor a mark within a word, such as an apostrophe.
    static func capitalized(_ text: String) -> String {
        var result = ""
        var isWithinWord = false
        for scalar in text.unicodeScalars {
            let properties = scalar.properties
            result += isWithinWord ? properties.lowercaseMapping : properties.titlecaseMapping
            if !properties.isCaseIgnorable { isWithinWord = properties.isCased }
        }
        return result
    }

    /// A number, a date, bytes or a text as Foundation describes it; nil for a collection.
    static func description(of value: PropertyListValue) -> String? {
        switch value {
        case .string(let text): return text
        case .utf16: return value.text
        case .date(let date): return date.text
        case .data(let bytes):
            let shown =
                bytes.count > 24
                ? hexadecimal(bytes[..<16]) + " ... " + hexadecimal(bytes[(bytes.count - 8)...])
                : hexadecimal(bytes[...])
            return bytes.isEmpty ? "{length = 0, bytes = 0x}" : "{length = \(bytes.count), bytes = 0x\(shown)}"
        case .single(let number): return decimal("\(number)", Double(number))
        default:
            switch PredicateNumber(value) {
            case .integer(let number)?: return String(number)
            case .real(let number)?: return decimal("\(number)", number)
            case nil: return nil
            }
        }
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The shortest digits of a real as C's `%g` lays them out: a whole number without a fraction, an exponent of at
    /// least two digits.
    private static func decimal(_ shortest: String, _ number: Double) -> String {
        guard number.isFinite else { return number.isNaN ? "nan" : number < 0 ? "-inf" : "inf" }
        if number == 0 { return number.sign == .minus ? "-0" : "0" }
        let isNegative = shortest.hasPrefix("-")
        let parts = (isNegative ? shortest.dropFirst() : shortest[...]).split(separator: "e")
        let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        var digits = mantissa[0] + (mantissa.count > 1 ? mantissa[1] : "")
        var exponent = mantissa[0].count - 1 + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        while digits.count > 1, digits.first == "0" {
            digits.removeFirst()
            exponent -= 1
        }
        while digits.count > 1, digits.last == "0" { digits.removeLast() }
        let sign = isNegative ? "-" : ""
        if exponent < -4 || exponent > 15 {
            let fraction = digits.count > 1 ? "." + digits.dropFirst() : ""
            let size = exponent.magnitude < 10 ? "0\(exponent.magnitude)" : "\(exponent.magnitude)"
            return sign + digits.prefix(1) + fraction + "e" + (exponent < 0 ? "-" : "+") + size
        }
        if exponent < 0 { return sign + "0." + String(repeating: "0", count: -exponent - 1) + digits }
        if digits.count <= exponent + 1 {
            return sign + digits + String(repeating: "0", count: exponent + 1 - digits.count)
        }
        return sign + digits.prefix(exponent + 1) + "." + digits.dropFirst(exponent + 1)
    }
}

/// Paths of files as NSString divides them; nothing is read.
enum PredicatePath {
    /// `/` and the parts between slashes; repeated slashes count as one.
    static func components(of path: String) -> [String] {
        let parts = path.split(separator: "/").map(String.init)
        var all = (path.hasPrefix("/") ? ["/"] : []) + parts
        if path.hasSuffix("/"), !parts.isEmpty { all.append("/") }
        return all
    }

    static func lastComponent(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? (path.hasPrefix("/") ? "/" : "")
    }

    static func pathExtension(of path: String) -> String {
        let name = lastComponent(of: path)
        guard let point = name.lastIndex(of: "."), point > name.startIndex else { return "" }
        let end = String(name[name.index(after: point)...])
        return end.contains(" ") ? "" : end
    }

    static func deletingLastComponent(of path: String) -> String {
        let parts = path.split(separator: "/").dropLast()
        return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
    }

    static func deletingExtension(of path: String) -> String {
        let end = pathExtension(of: path)
        var trimmed = path
        while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
        return end.isEmpty ? trimmed : String(trimmed.dropLast(end.count + 1))
    }

    static func appending(_ component: String, to path: String) -> String {
        if path.isEmpty { return component }
        let end = component.drop { $0.is("/") }
        return path.hasSuffix("/") ? path + end : path + "/" + end
    }
}

/// Surrogates that lack their other half, as characters of the last private plane while a text is worked on as Unicode.
private enum HalfPairs {
    private static let base: UInt32 = 0x10F800

    /// The text with a character for each half; nil when it has some of those characters itself.
    static func standingIn(for units: [UInt16]) -> String? {
        var text = String.UnicodeScalarView()
        var index = 0
        while index < units.count {
            let unit = units[index]
            let pair = units[index...].prefix(2)
            index += 1
            if let scalar = Unicode.Scalar(unit) {
                text.append(scalar)
            } else if pair.count == 2, UTF16.isLeadSurrogate(unit), UTF16.isTrailSurrogate(units[index]) {
                let scalar = String(decoding: pair, as: UTF16.self).unicodeScalars
                if scalar.contains(where: { $0.value >= base }) { return nil }
                text.append(contentsOf: scalar)
                index += 1
            } else if let scalar = Unicode.Scalar(base + UInt32(unit & 0x7FF)) {
                text.append(scalar)
            }
        }
        return String(text)
    }

    /// A value with the halves in the place of their characters.
    static func restored(_ value: PropertyListValue) -> PropertyListValue {
        switch value {
        case .string(let text):
            PropertyListValue(
                utf16: text.unicodeScalars.flatMap { scalar in
                    scalar.value < base ? Array(scalar.utf16) : [UInt16(scalar.value & 0x7FF) | 0xD800]
                })
        case .array(let values): .array(values.map(restored))
        default: value
        }
    }
}
