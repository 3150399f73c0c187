import Platform
public import PropertyList
import TimeZones

/// The functions of the format language: `length(name)`, `CAST("1906-10-17", "NSDate")`.
///
/// Foundation's names with colons, as `lowercase:(name)`, are names of the same functions. An argument of an unsupported
/// kind gives nil.
@usableFromInline package enum PredicateFunction: String, Sendable, Hashable, CaseIterable {
    /// `CAST(value, "NSDate")`, `"NSNumber"`, `"NSString"` or `"NSData"` (hexadecimal text). A number is converted to a
    /// date as seconds since 2001.
    case cast = "CAST"
    /// Of one number.
    case abs, floor, ceiling, trunc, sqrt
    /// `log` has base 10, as in Foundation.
    case exp, ln, log
    /// Of a collection, or of any number of values; `count` of a collection alone.
    case count, sum, average, min, max, median, stddev
    /// The most frequent values, as an array.
    case mode
    /// Of a text; the length in UTF-16 code units, of data in bytes.
    case length, lowercase, uppercase
    /// The bits of a whole number inverted: `~flags`.
    case onesComplement = "onesComplement:"
    /// `FUNCTION(receiver, "selector", …)`: one of the methods that strings, numbers and dates have.
    case method = "FUNCTION"
    /// `inZone(date, "Europe/Berlin")`: the date whose parts in UTC are those of the zone's local time.
    case inZone
    /// The time of evaluation, for each object.
    case now
    /// `random()`, from 0 to below 1, or `random(n)`, an integer from 0 to below n; a new one for each object.
    case random

    /// Foundation's names of functions that have another name here.
    private static let aliases: [String: PredicateFunction] = ["castobject:totype:": .cast, "randomn:": .random]

    /// The function with a name, ignoring case; nil when there is none.
    init?(named name: String) {
        var wanted = name.lowercased()
        if wanted.last == ":", wanted != "function:", wanted != "cast:",
            let function = Self(named: String(wanted.dropLast()))
        {
            self = function
            return
        }
        if wanted == "onescomplement" { wanted += ":" }
        let found = Self.aliases[wanted] ?? Self.allCases.first { $0.rawValue.lowercased() == wanted }
        guard let found else { return nil }
        self = found
    }

    /// The number of arguments. A function over a collection takes one collection or any number of values.
    var argumentCounts: ClosedRange<Int> {
        switch self {
        case .cast, .inZone: 2...2
        case .sum, .average, .min, .max, .median, .stddev, .mode: 1...64
        case .now: 0...0
        case .method: 2...8
        case .random: 0...1
        default: 1...1
        }
    }

    /// Whether a kind of argument has a result.
    func takes(_ kind: PredicateKind, at index: Int) -> Bool {
        if kind == .unknown || kind == .absent { return true }
        switch self {
        case .abs, .floor, .ceiling, .trunc, .sqrt, .exp, .ln, .log, .random, .onesComplement: return kind == .number
        case .lowercase, .uppercase: return kind == .string
        case .length: return kind == .string || kind == .data || kind == .collection
        case .count: return kind == .collection
        case .sum, .average, .median, .stddev: return kind == .number || kind == .collection
        case .inZone: return kind == (index == 0 ? .date : .string)
        case .cast: return kind != .collection
        case .min, .max, .mode, .now, .method: return true
        }
    }

    /// Whether equal arguments give equal results.
    var isPure: Bool { self != .now && self != .random }

    @usableFromInline
    func apply(_ arguments: [PropertyListValue?]) -> PropertyListValue? {
        if self == .now { return .date(.now()) }
        if self == .random, arguments.isEmpty { return .real(Double.random(in: 0..<1)) }
        guard let first = arguments.first, let value = first else { return nil }
        switch self {
        case .cast:
            guard arguments.count == 2, case .string(let type)? = arguments[1] else { return nil }
            return Self.cast(value, to: type)
        case .inZone:
            guard case .date(let date) = value, arguments.count == 2, case .string(let name)? = arguments[1] else {
                return nil
            }
            return (try? Zone.named(name)).flatMap { Self.local(date, in: $0) }.map { .date($0) }
        case .random:
            guard case .integer(let bound)? = PredicateNumber(value)?.truncated?.value, bound > 0 else { return nil }
            return .integer(Int64.random(in: 0..<bound))
        case .abs, .floor, .ceiling, .trunc, .sqrt, .exp, .ln, .log:
            return PredicateNumber(value).flatMap(number)?.value
        case .onesComplement:
            return PredicateNumber(value)?.whole.flatMap { PredicateNumber.integer(~$0).value }
        case .method:
            guard arguments.count > 1, case .string(let selector)? = arguments[1] else { return nil }
            return PredicateMethod(exactly: selector)?.apply(value, Array(arguments.dropFirst(2)))
        case .count:
            return PredicateKeyValueCoding.value(value, ["@count"])
        case .now:
            return nil
        case .sum, .average, .min, .max, .median, .stddev, .mode:
            let values = Self.computed(arguments)
            switch self {
            case .sum: return PredicateKeyValueCoding.sum(values)
            case .average: return PredicateKeyValueCoding.average(values)
            case .median: return PredicateStatistics.median(values)
            case .stddev: return PredicateStatistics.standardDeviation(values)
            case .mode: return PredicateStatistics.mode(values)
            default: return PredicateKeyValueCoding.extreme(values, self == .min ? .lessThan : .greaterThan)
            }
        case .length:
            return PredicateKeyValueCoding.value(value, ["length"])
        case .lowercase: return value.text == nil ? nil : PredicateProperty.value("lowercaseString", of: value)
        case .uppercase: return value.text == nil ? nil : PredicateProperty.value("uppercaseString", of: value)
        }
    }

    /// What a computation over several values takes: the elements of a collection, or the arguments; without nil.
    static func computed(_ arguments: [PropertyListValue?]) -> [PropertyListValue] {
        let elements = arguments.count == 1 ? arguments[0]?.predicateElements : nil
        return (elements ?? arguments.compactMap { $0 }).filter { $0 != .null }
    }

    private func number(_ value: PredicateNumber) -> PredicateNumber? {
        switch (self, value) {
        case (.exp, _): return Self.finite(Platform.exp(value.asDouble))
        case (.ln, _): return value.asDouble > 0 ? Self.finite(Platform.log(value.asDouble)) : nil
        case (.log, _): return value.asDouble > 0 ? Self.finite(Platform.log10(value.asDouble)) : nil
        case (.sqrt, _): return value.asDouble >= 0 ? .real(value.asDouble.squareRoot()) : nil
        case (.abs, .integer(let number)): return number == .min ? nil : .integer(Swift.abs(number))
        case (_, .integer): return value
        case (.abs, .real(let number)): return .real(Swift.abs(number))
        case (.floor, .real(let number)): return .real(number.rounded(.down))
        case (.ceiling, .real(let number)): return .real(number.rounded(.up))
        case (.trunc, .real(let number)): return .real(number.rounded(.towardZero))
        default: return nil
        }
    }

    private static func local(_ date: PropertyListDate, in zone: Zone) -> PropertyListDate? {
        guard let seconds = date.wholeSecondsSince1970 else { return nil }
        let offset = zone.offset(at: Int64(seconds)).seconds
        return PropertyListDate(secondsSinceReferenceDate: date.secondsSinceReferenceDate + Double(offset))
    }

    private static func finite(_ number: Double) -> PredicateNumber? { number.isFinite ? .real(number) : nil }

    /// The types of `CAST`.
    static let castTypes = ["NSDate", "NSNumber", "NSDecimalNumber", "NSString", "NSData"]

    private static func cast(_ value: PropertyListValue, to type: String) -> PropertyListValue? {
        switch (type, value) {
        case ("NSDate", .date), ("NSString", .string), ("NSData", .data):
            return value
        case ("NSDate", .string(let text)):
            return ISO8601.nearest(text).map { .date($0) }
        case ("NSDate", _):
            guard let seconds = PredicateNumber(value)?.asDouble, seconds.isFinite else { return nil }
            return .date(PropertyListDate(secondsSinceReferenceDate: seconds))
        case ("NSNumber", .string(let text)), ("NSDecimalNumber", .string(let text)):
            return Int64(text).map { .integer($0) } ?? Double(text).map { .real($0) }
        case ("NSNumber", .date(let date)), ("NSDecimalNumber", .date(let date)):
            return .real(date.secondsSinceReferenceDate)
        case ("NSNumber", _), ("NSDecimalNumber", _):
            return PredicateNumber(value)?.value
        case ("NSString", .date(let date)):
            return date.wholeSecondText.map { .string($0) }
        case ("NSString", _):
            switch PredicateNumber(value) {
            case .integer(let number)?: return .string(String(number))
            case .real(let number)?: return .string(String(number))
            case nil: return nil
            }
        case ("NSData", .string(let text)):
            return bytes(hexadecimal: text).map { .data($0) }
        default:
            return nil
        }
    }

    private static func bytes(hexadecimal text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// The methods with arguments that `FUNCTION` calls, by Foundation's selectors.
///
/// A selector without arguments is a property: `FUNCTION(path, "lastPathComponent")` is `path.lastPathComponent`.
enum PredicateMethod: String, CaseIterable {
    case hasPrefix = "hasPrefix:"
    case hasSuffix = "hasSuffix:"
    case containsString = "containsString:"
    case appendingString = "stringByAppendingString:"
    case appendingPathComponent = "stringByAppendingPathComponent:"
    case appendingPathExtension = "stringByAppendingPathExtension:"
    case substringFromIndex = "substringFromIndex:"
    case substringToIndex = "substringToIndex:"
    case replacing = "stringByReplacingOccurrencesOfString:withString:"
    case componentsSeparated = "componentsSeparatedByString:"
    case componentsJoined = "componentsJoinedByString:"
    case objectAtIndex = "objectAtIndex:"
    case containsObject = "containsObject:"
    case dateByAdding = "dateByAddingTimeInterval:"
    case timeIntervalSince = "timeIntervalSinceDate:"

    /// The kinds of the receiver and the arguments, and that of the result.
    var signature: (kinds: [PredicateKind], result: PredicateKind) {
        switch self {
        case .hasPrefix, .hasSuffix, .containsString: ([.string, .string], .number)
        case .appendingString, .appendingPathComponent, .appendingPathExtension: ([.string, .string], .string)
        case .componentsSeparated: ([.string, .string], .collection)
        case .substringFromIndex, .substringToIndex: ([.string, .number], .string)
        case .replacing: ([.string, .string, .string], .string)
        case .componentsJoined: ([.collection, .string], .string)
        case .objectAtIndex: ([.collection, .number], .unknown)
        case .containsObject: ([.collection, .unknown], .number)
        case .dateByAdding: ([.date, .number], .date)
        case .timeIntervalSince: ([.date, .date], .number)
        }
    }

    /// The result; nil for an argument of another kind, or an index outside.
    func apply(_ receiver: PropertyListValue, _ arguments: [PropertyListValue?]) -> PropertyListValue? {
        guard let first = arguments.first, let argument = first else { return nil }
        switch (receiver, argument) {
        case (.string(let text), .string(let other)): return apply(text, other, arguments)
        case (.string(let text), _):
            let units = Array(text.utf16)
            guard let place = PredicateNumber(argument)?.whole.flatMap({ Int(exactly: $0) }), 0...units.count ~= place
            else { return nil }
            // Nil when the units begin or end within a character.
            switch self {
            case .substringFromIndex: return String(validating: units[place...], as: UTF16.self).map { .string($0) }
            case .substringToIndex: return String(validating: units[..<place], as: UTF16.self).map { .string($0) }
            default: return nil
            }
        case (.date(let date), _):
            switch (self, argument) {
            case (.timeIntervalSince, .date): return PredicateArithmetic.subtract.apply(receiver, argument)
            case (.dateByAdding, _): return PredicateArithmetic.add.apply(.date(date), argument)
            default: return nil
            }
        default: return apply(receiver.predicateElements, argument)
        }
    }

    private func apply(_ text: String, _ other: String, _ arguments: [PropertyListValue?]) -> PropertyListValue? {
        // By bytes, as all comparisons of texts without options.
        let (bytes, wanted) = (Array(text.utf8), Array(other.utf8))
        switch self {
        case .hasPrefix: return .boolean(bytes.starts(with: wanted))
        case .hasSuffix: return .boolean(bytes.reversed().starts(with: wanted.reversed()))
        case .containsString: return .boolean(PredicateComparing.holds(.string(text), .contains, .string(other), []))
        case .appendingString: return .string(text + other)
        case .appendingPathComponent: return .string(PredicatePath.appending(other, to: text))
        case .appendingPathExtension: return .string(text + "." + other)
        case .replacing:
            guard arguments.count == 2, case .string(let replacement)? = arguments[1] else { return nil }
            return .string(Self.pieces(bytes, wanted).joined(separator: replacement))
        case .componentsSeparated: return .array(Self.pieces(bytes, wanted).map { .string($0) })
        default: return nil
        }
    }

    private func apply(_ elements: [PropertyListValue]?, _ argument: PropertyListValue) -> PropertyListValue? {
        guard let elements else { return nil }
        switch self {
        case .containsObject: return .boolean(PredicateComparing.holds(argument, .in, .array(elements), []))
        case .objectAtIndex:
            guard let place = PredicateNumber(argument)?.whole.flatMap({ Int(exactly: $0) }),
                elements.indices.contains(place)
            else { return nil }
            return elements[place] == .null ? nil : elements[place]
        case .componentsJoined:
            guard case .string(let separator) = argument else { return nil }
            return .string(elements.map { PredicateText.description(of: $0) ?? "" }.joined(separator: separator))
        default: return nil
        }
    }

    /// A text divided at each occurrence of another, which is not empty.
    private static func pieces(_ text: [UInt8], _ separator: [UInt8]) -> [String] {
        var pieces: [String] = []
        var start = 0
        let search = ByteSearch(separator, foldsCase: false)
        while !separator.isEmpty, !Interruption.isDueAtStep,
            let place = text.withUnsafeBufferPointer({ search.firstOffset(in: $0, from: start) })
        {
            pieces.append(String(decoding: text[start..<place], as: UTF8.self))
            start = place + separator.count
        }
        return pieces + [String(decoding: text[start...], as: UTF8.self)]
    }
}
