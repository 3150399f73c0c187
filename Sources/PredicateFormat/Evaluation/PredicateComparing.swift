import PropertyList

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
        func isIn(_ element: PropertyListValue, _ others: [PropertyListValue]) -> Bool {
            others.contains { Interruption.isDueAtStep || isEqual(element, $0, options, depth: depth + 1) }
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
