package import PropertyList

/// Compares two values of any kinds. Every operator is defined here.
///
/// Nil equals only nil and is unordered. Numbers of all kinds compare exactly, text by its bytes or folded, dates with
/// dates and with ISO 8601 text. Other pairs of kinds are unequal and unordered.
enum PredicateComparing {
    /// Collections nested deeper than this are unequal, because the comparison is recursive.
    private static let depthLimit = 256

    static func holds(
        _ left: PropertyListValue?, _ operation: PredicateOperator, _ right: PropertyListValue?,
        _ written: PredicateOptions
    ) -> Bool {
        let options = written.inForce
        switch operation {
        case .equal: return isEqual(left, right, options)
        case .notEqual: return !isEqual(left, right, options)
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            guard let left, let right, let order = order(left, right, options: options) else { return false }
            return operation.accepts(order)
        case .between:
            guard let left, case .array(let bounds)? = right, bounds.count == 2,
                let lower = order(left, bounds[0], options: options),
                let upper = order(left, bounds[1], options: options)
            else { return false }
            return lower >= 0 && upper <= 0
        case .in:
            return contains(right, left, options)
        case .contains:
            return contains(left, right, options)
        case .beginsWith, .endsWith, .like, .matches:
            guard let text = left?.text, let right = right?.text,
                let test = PredicateTextTest(operation, options, .string(right))
            else { return false }
            return PredicateFolding.withBytes(text, test.holds)
        }
    }

    /// Negative, zero or positive when the first is before, equal to or after the second; nil when they are unordered.
    static func order(_ left: PropertyListValue, _ right: PropertyListValue, options: PredicateOptions) -> Int? {
        switch (left, right) {
        case (.integer(let a), .integer(let b)):
            return a < b ? -1 : a == b ? 0 : 1
        case (.string(let a), .string(let b)):
            if options.isEmpty {
                return PredicateFolding.withBytes(a) { a in
                    PredicateFolding.withBytes(b) { PredicateNeedle.order(a, $0) }
                }
            }
            let needle = PredicateNeedle(b, options)
            return PredicateFolding.withBytes(a, needle.order(of:))
        case (.date, .date), (.date, .string), (.string, .date):
            guard let a = left.predicateDate?.secondsSinceReferenceDate,
                let b = right.predicateDate?.secondsSinceReferenceDate
            else { return nil }
            return a < b ? -1 : a == b ? 0 : a > b ? 1 : nil
        case (.utf16, _), (_, .utf16):
            // Half of a surrogate pair compares as the U+FFFD that shows for it.
            guard let a = left.text, let b = right.text else { return nil }
            return order(.string(a), .string(b), options: options)
        default:
            guard let a = PredicateNumber(left), let b = PredicateNumber(right) else { return nil }
            return PredicateNumber.order(a, b)
        }
    }

    private static func isEqual(
        _ left: PropertyListValue?, _ right: PropertyListValue?, _ options: PredicateOptions, depth: Int = 0
    ) -> Bool {
        guard depth < depthLimit else { return false }
        switch (left ?? .null, right ?? .null) {
        case (.null, .null): return true
        case (.null, _), (_, .null): return false
        case (.data(let a), .data(let b)): return a == b
        case (.uid(let a), .uid(let b)): return a == b
        case (.array(let a), .array(let b)):
            return a.count == b.count
                && zip(a, b).allSatisfy { !Interruption.isDueAtStep && isEqual($0, $1, options, depth: depth + 1) }
        case (.set(let a), .set(let b)):
            return isEqualUnordered(a, b, options, depth: depth)
        case (.dictionary(let a), .dictionary(let b)):
            return a.count == b.count
                && a.entries.allSatisfy { key, value in
                    if Interruption.isDueAtStep { return false }
                    return b[key].map { isEqual(value, $0, options, depth: depth + 1) } ?? false
                }
        case (let a, let b): return order(a, b, options: options) == 0
        }
    }

    private static func isEqualUnordered(
        _ left: [PropertyListValue], _ right: [PropertyListValue], _ options: PredicateOptions, depth: Int
    ) -> Bool {
        func isIn(_ element: PropertyListValue, _ elements: [PropertyListValue]) -> Bool {
            elements.contains { Interruption.isDueAtStep || isEqual(element, $0, options, depth: depth + 1) }
        }
        return left.allSatisfy { isIn($0, right) } && right.allSatisfy { isIn($0, left) }
    }

    /// Whether a collection contains an element, or a text a substring.
    private static func contains(
        _ whole: PropertyListValue?, _ part: PropertyListValue?, _ options: PredicateOptions
    ) -> Bool {
        guard let whole else { return false }
        if let text = whole.text {
            guard let piece = part?.text else { return false }
            let needle = PredicateNeedle(piece, options)
            return PredicateFolding.withBytes(text, needle.isContained(in:))
        }
        return whole.predicateElements?.contains { Interruption.isDueAtStep || isEqual($0, part, options) } ?? false
    }
}

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

    package var asDouble: Double {
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

/// Statistical functions over numbers.
enum PredicateStatistics {
    /// The median; for an even count the mean of the two middle numbers. Nil for none, and if a value is not a number.
    static func median(_ values: [PropertyListValue]) -> PropertyListValue? {
        let numbers = values.compactMap { PredicateNumber($0) }.sorted { $0.asDouble < $1.asDouble }
        guard !numbers.isEmpty, numbers.count == values.count else { return nil }
        let middle = numbers.count / 2
        if numbers.count % 2 == 1 { return numbers[middle].value }
        return PredicateKeyValueCoding.average([numbers[middle - 1].value, numbers[middle].value])
    }

    /// The population standard deviation, a real; nil for none, and if a value is not a number.
    static func standardDeviation(_ values: [PropertyListValue]) -> PropertyListValue? {
        let numbers = values.compactMap { PredicateNumber($0)?.asDouble }
        guard !numbers.isEmpty, numbers.count == values.count else { return nil }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return .real((squares / Double(numbers.count)).squareRoot())
    }

    /// The most frequent values, in the order of their first occurrence; nil for none.
    static func mode(_ values: [PropertyListValue]) -> PropertyListValue? {
        var counts: [PropertyListValue: Int] = [:]
        for value in values where !Interruption.isDueAtStep { counts[value, default: 0] += 1 }
        guard let most = counts.values.max() else { return nil }
        var found: [PropertyListValue] = []
        for value in values where !Interruption.isDueAtStep && counts[value] == most {
            found.append(value)
            counts[value] = 0
        }
        return .array(found)
    }
}
