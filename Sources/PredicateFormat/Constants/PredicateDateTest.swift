public import PropertyList

/// A comparison of a date with a constant on the right. ISO 8601 text counts as its date.
@usableFromInline
package enum PredicateDateTest: Sendable {
    case compare(PredicateOperator, Double)
    case between(Double, Double)
    case always(Bool)

    /// The test for a constant; nil for `IN`, which the general comparison evaluates.
    init?(_ operation: PredicateOperator, _ constant: PropertyListValue) {
        switch operation {
        case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            if let date = constant.predicateDate {
                self = .compare(operation, date.secondsSinceReferenceDate)
            } else {
                self = .always(operation == .notEqual)
            }
        case .between:
            guard case .array(let bounds) = constant, bounds.count == 2, let lower = bounds[0].predicateDate,
                let upper = bounds[1].predicateDate
            else {
                self = .always(false)
                return
            }
            self = .between(lower.secondsSinceReferenceDate, upper.secondsSinceReferenceDate)
        case .in:
            return nil
        case .contains, .beginsWith, .endsWith, .like, .matches:
            self = .always(false)
        }
    }

    /// Inlined into scans of other modules like `PredicateIntegerTest.holds(_:)`.
    @inlinable @inline(__always)
    package func holds(_ date: PropertyListDate) -> Bool {
        let seconds = date.secondsSinceReferenceDate
        switch self {
        case .compare(let operation, let wanted):
            return operation.accepts(seconds < wanted ? -1 : seconds == wanted ? 0 : seconds > wanted ? 1 : nil)
        case .between(let lower, let upper):
            return lower <= seconds && seconds <= upper
        case .always(let verdict):
            return verdict
        }
    }
}

extension PropertyListValue {
    /// The value as a date, if it is a date or ISO 8601 text.
    package var predicateDate: PropertyListDate? {
        switch self {
        case .date(let date): date
        case .string(let text): ISO8601.parse(text)
        default: nil
        }
    }
}
