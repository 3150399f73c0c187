package import PropertyList

/// The values of Foundation's small immutable classes without references.
package indirect enum FoundationValue: Sendable, Hashable {
    /// NSUUID: sixteen bytes.
    case uuid([UInt8])
    /// NSURL: its text, relative to `base` if there is one.
    case url(String, base: FoundationValue?)
    /// NSValue of a point.
    case point(x: Double, y: Double)
    /// NSValue of a size.
    case size(width: Double, height: Double)
    /// NSValue of a rectangle.
    case rect(x: Double, y: Double, width: Double, height: Double)
    /// NSValue of a range.
    case range(location: Int64, length: Int64)
    /// NSValue of edge insets.
    case edgeInsets(top: Double, left: Double, bottom: Double, right: Double)
    /// NSIndexSet: ranges in ascending order.
    case indexSet([Range<Int64>], isMutable: Bool)
    /// NSIndexPath.
    case indexPath([Int64])
    /// NSTimeZone: its name and the bytes of its zone file.
    case timeZone(name: String, data: [UInt8])
    /// NSLocale, by identifier.
    case locale(String)
    /// NSRegularExpression.
    case regularExpression(pattern: String, options: Int64)
    /// NSAffineTransform: m11, m12, m21, m22, tX, tY.
    case affineTransform([Float])
    /// NSDecimalNumber.
    case decimal(ArchivedDecimal)

    /// The value's class in an archive.
    package var archivedClass: ArchivedClass {
        switch self {
        case .uuid: ArchivedClass("NSUUID")
        case .url: ArchivedClass("NSURL")
        case .point, .size, .rect, .range, .edgeInsets: ArchivedClass("NSValue")
        case .indexSet(_, let isMutable):
            isMutable
                ? ArchivedClass("NSMutableIndexSet", superclasses: ["NSIndexSet", "NSObject"])
                : ArchivedClass("NSIndexSet")
        case .indexPath: ArchivedClass("NSIndexPath")
        case .timeZone: ArchivedClass("NSTimeZone")
        case .locale: ArchivedClass("NSLocale")
        case .regularExpression: ArchivedClass("NSRegularExpression")
        case .affineTransform: ArchivedClass("NSAffineTransform")
        case .decimal: ArchivedClass("NSDecimalNumber", superclasses: ["NSNumber", "NSValue", "NSObject"])
        }
    }
}

extension FoundationValue {
    /// The text of a URL, resolved against its base; nil for other values.
    package var absoluteURL: String? {
        guard case .url(let text, let base) = self else { return nil }
        guard let above = base?.absoluteURL else { return text }
        return URLReference(text).resolved(against: URLReference(above))
    }
}

/// The parts of a URL, as RFC 3986 separates them (appendix B) and resolves one against another (section 5.2).
private struct URLReference {
    var scheme: Substring?
    var authority: Substring?
    var path: Substring
    var query: Substring?
    var fragment: Substring?

    init(_ text: String) {
        var rest = text[...]
        func suffix(after mark: Character) -> Substring? {
            guard let place = rest.firstIndex(of: mark) else { return nil }
            defer { rest = rest[..<place] }
            return rest[rest.index(after: place)...]
        }
        fragment = suffix(after: "#")
        query = suffix(after: "?")
        if let colon = rest.firstIndex(of: ":"), colon > rest.startIndex, !rest[..<colon].contains("/") {
            scheme = rest[..<colon]
            rest = rest[rest.index(after: colon)...]
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: "/") ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        }
        path = rest
    }

    func resolved(against base: URLReference) -> String {
        var target = self
        if scheme == nil {
            target.scheme = base.scheme
            if authority == nil {
                target.authority = base.authority
                if path.isEmpty {
                    target.path = base.path
                    target.query = query ?? base.query
                } else if !path.hasPrefix("/") {
                    let folder = base.path.lastIndex(of: "/").map { base.path[...$0] } ?? ""
                    target.path = folder.isEmpty && base.authority != nil ? "/" + path : folder + path
                }
            }
        }
        return target.text
    }

    private var text: String {
        var text = scheme.map { "\($0):" } ?? ""
        if let authority { text += "//\(authority)" }
        text += Self.removingDots(path)
        if let query { text += "?\(query)" }
        if let fragment { text += "#\(fragment)" }
        return text
    }

    /// Removes `.` and `..` from a path.
    private static func removingDots(_ path: Substring) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.contains(".") || parts.contains("..") else { return String(path) }
        var resolved: [Substring] = []
        for part in parts {
            if part == ".." {
                resolved = resolved.count > 1 ? resolved.dropLast() : [""]
            } else if part != "." {
                resolved.append(part)
            }
        }
        if parts.last == "." || parts.last == ".." { resolved.append("") }
        return resolved.joined(separator: "/")
    }
}

/// A decimal number of up to 38 digits and a power of ten, as in NSDecimalNumber.
package struct ArchivedDecimal: Sendable, Hashable, CustomStringConvertible {
    /// The digits as an integer; archives store eight 16-bit units, least significant first.
    package var mantissa: UInt128
    /// The power of ten.
    package var exponent: Int8
    /// Whether it is below zero.
    package var isNegative: Bool
    /// Whether this is not a number; then mantissa and exponent are ignored.
    package var isNaN: Bool

    /// Creates a decimal number from its parts.
    package init(mantissa: UInt128, exponent: Int8 = 0, isNegative: Bool = false) {
        self.mantissa = mantissa
        self.exponent = exponent
        // A zero has no sign: an archive's zero with one is what is not a number.
        self.isNegative = isNegative && mantissa != 0
        isNaN = false
    }

    /// Reads the parts that an archive stores: the 16-bit units of the digits, least significant first, how many of them
    /// are in use, and the order of their bytes. Nil if they are out of range.
    init?(
        units: some RandomAccessCollection<UInt8>, length: Int64, exponent: Int64, isNegative: Bool, isBigEndian: Bool
    ) {
        guard units.count == 16, (0...8).contains(length), let exponent = Int8(exactly: exponent) else { return nil }
        let bytes = Array(units)
        var mantissa: UInt128 = 0
        for index in stride(from: Int(length) - 1, through: 0, by: -1) {
            let (first, second) = (UInt128(bytes[index * 2]), UInt128(bytes[index * 2 + 1]))
            mantissa = mantissa << 16 | (isBigEndian ? first << 8 | second : second << 8 | first)
        }
        self.init(mantissa: mantissa, exponent: exponent, isNegative: isNegative)
    }

    /// Not a number.
    package static var nan: ArchivedDecimal {
        var value = ArchivedDecimal(mantissa: 0)
        value.isNaN = true
        return value
    }

    /// Parses decimal digits with an optional sign and point; nil for other text and for too many digits.
    package init?(text: String) {
        // By bytes: a character of a hostile text may be all of it.
        var digits = text.utf8[...]
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
        let parts = digits.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let (whole, fraction) = (parts.first ?? digits, parts.count == 2 ? parts[1] : digits.suffix(0))
        guard !(whole.isEmpty && fraction.isEmpty), let exponent = Int8(exactly: -fraction.count) else { return nil }
        var mantissa: UInt128 = 0
        for part in [whole, fraction] {
            for digit in part {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
                let (shifted, isTooLong) = mantissa.multipliedReportingOverflow(by: 10)
                let (sum, isTooLarge) = shifted.addingReportingOverflow(UInt128(digit - UInt8(ascii: "0")))
                guard !isTooLong, !isTooLarge else { return nil }
                mantissa = sum
            }
        }
        self.init(mantissa: mantissa, exponent: exponent, isNegative: isNegative)
    }

    /// The same number without zeros at the end.
    private var stripped: ArchivedDecimal {
        var result = self
        while result.mantissa != 0, result.mantissa % 10 == 0, result.exponent < .max {
            result.mantissa /= 10
            result.exponent += 1
        }
        return result
    }

    /// The number as a value of a property list: an integer if it has no fraction and at most 128 bits, or else the
    /// nearest real.
    package var propertyListValue: PropertyListValue {
        if isNaN { return .real(.nan) }
        if mantissa == 0 { return .integer(0) }
        let number = stripped
        if number.exponent >= 0, let integer = Int128(number.description) {
            return Int64(exactly: integer).map { .integer($0) } ?? .wideInteger(integer)
        }
        return .real(Double(description) ?? .nan)
    }

    /// Whether ``propertyListValue`` has all the digits.
    package var isExactAsValue: Bool {
        guard case .real(let real) = propertyListValue, !isNaN else { return true }
        let number = stripped
        // A real keeps fifteen decimal digits.
        if number.mantissa < 1_000_000_000_000_000 { return true }
        guard let shown = ArchivedDecimal(text: real.description)?.stripped else { return false }
        return shown.mantissa == number.mantissa && shown.exponent == number.exponent
    }

    /// The number in decimal digits.
    package var description: String {
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

extension ArchiveValue {
    /// The number of an NSDecimalNumber, also of one in its archive's form; nil for something else.
    package var decimal: ArchivedDecimal? {
        switch self {
        case .value(.decimal(let decimal)): return decimal
        case .unknown(let object):
            let known = FoundationClass(name: object.archivedClass.name)
            guard known == .decimalNumber || known == .decimalPlaceholder,
                case .integer(let length)? = object.object(forKey: "NS.length")
            else { return nil }
            var isNegative = false
            if case .boolean(true)? = object.object(forKey: "NS.negative") { isNegative = true }
            if length == 0, isNegative { return .nan }
            var isBigEndian = false
            if case .integer(2)? = object.object(forKey: "NS.mantissa.bo") { isBigEndian = true }
            guard case .data(let units)? = object.object(forKey: "NS.mantissa"),
                case .integer(let exponent)? = object.object(forKey: "NS.exponent")
            else { return nil }
            return ArchivedDecimal(
                units: units, length: length, exponent: exponent, isNegative: isNegative, isBigEndian: isBigEndian)
        default: return nil
        }
    }
}
