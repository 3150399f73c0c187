import PredicateFormat
import PropertyList

/// The kind of an indexed field's values, which determines the conditions that the index can evaluate.
///
/// Predicates compare text with dates and truth values with numbers. A field with both kinds is scanned.
enum IndexedKind {
    /// Declared integers and dates, whose prefix is the whole value.
    case integer, date
    case number, dateCell, text, mixed

    /// The ranges of an index whose values are in a relation to constants; nil if the index can't evaluate it.
    func ranges(_ relation: PredicateConstraint.Relation) -> [IndexRange]? {
        if case .among(let constants) = relation {
            var ranges: [IndexRange] = []
            for constant in constants {
                guard let more = self.ranges(.equal(constant)) else { return nil }
                ranges += more
            }
            return ranges
        }
        switch self {
        case .integer: return Self.integers(relation)
        case .number:
            return Self.keys(
                relation, Self.numberKey, from: .cell(.real(-.infinity), .before), to: .cell(.real(.infinity), .behind))
        case .date:
            return Self.keys(relation, Self.dateKey, from: .date(-.infinity, .before), to: .date(.infinity, .behind))
        case .dateCell:
            return Self.keys(
                relation, Self.dateCellKey, from: .cell(.date(-.infinity), .before),
                to: .cell(.date(.infinity), .behind))
        case .text:
            if case .beginsWith(let text) = relation {
                return [IndexRange(lower: .text(text.utf8, .before), upper: .text(text.utf8, .behindBeginning))]
            }
            return Self.keys(relation, Self.textKey, from: .rank(CellOrder.textRank), to: .rank(CellOrder.textRank + 1))
        case .mixed: return nil
        }
    }

    /// The meaning of a constant for a field.
    private enum Answer {
        case key(IndexKey)
        /// No value of the field is comparable with it.
        case nothing
        case unknown
    }

    private typealias MakeKey = (PropertyListValue, IndexKey.Side) -> Answer

    private static func keys(
        _ relation: PredicateConstraint.Relation, _ make: MakeKey, from least: IndexKey, to greatest: IndexKey
    ) -> [IndexRange]? {
        let ends: (Answer, Answer) =
            switch relation {
            case .equal(let value): (make(value, .before), make(value, .behind))
            case .lessThan(let value): (.key(least), make(value, .before))
            case .lessThanOrEqual(let value): (.key(least), make(value, .behind))
            case .greaterThan(let value): (make(value, .behind), .key(greatest))
            case .greaterThanOrEqual(let value): (make(value, .before), .key(greatest))
            case .between(let lower, let upper): (make(lower, .before), make(upper, .behind))
            case .beginsWith: (.nothing, .nothing)
            case .among: (.unknown, .unknown)
            }
        switch ends {
        case (.unknown, _), (_, .unknown): return nil
        case (.key(let lower), .key(let upper)): return [IndexRange(lower: lower, upper: upper)]
        default: return []
        }
    }

    private static func numberKey(_ value: PropertyListValue, _ side: IndexKey.Side) -> Answer {
        switch value {
        case .boolean(let flag): .key(.cell(.integer(flag ? 1 : 0), side))
        case .integer(let number): .key(.cell(.integer(number), side))
        case .real(let number): number.isNaN ? .nothing : .key(.cell(.real(number), side))
        case .single(let number): number.isNaN ? .nothing : .key(.cell(.real(Double(number)), side))
        case .wideInteger: .unknown
        default: .nothing
        }
    }

    private static func dateKey(_ value: PropertyListValue, _ side: IndexKey.Side) -> Answer {
        value.predicateDate.map { .key(.date($0.secondsSinceReferenceDate, side)) } ?? .nothing
    }

    private static func dateCellKey(_ value: PropertyListValue, _ side: IndexKey.Side) -> Answer {
        value.predicateDate.map { .key(.cell(.date($0.secondsSinceReferenceDate), side)) } ?? .nothing
    }

    private static func textKey(_ value: PropertyListValue, _ side: IndexKey.Side) -> Answer {
        switch value {
        case .string(let text): .key(.text(text.utf8, side))
        // A text may be an ISO 8601 date.
        case .date: .unknown
        default: .nothing
        }
    }

    private static func integers(_ relation: PredicateConstraint.Relation) -> [IndexRange]? {
        let test: PredicateIntegerTest? =
            switch relation {
            case .equal(let value): PredicateIntegerTest(.equal, value)
            case .lessThan(let value): PredicateIntegerTest(.lessThan, value)
            case .lessThanOrEqual(let value): PredicateIntegerTest(.lessThanOrEqual, value)
            case .greaterThan(let value): PredicateIntegerTest(.greaterThan, value)
            case .greaterThanOrEqual(let value): PredicateIntegerTest(.greaterThanOrEqual, value)
            case .between(let lower, let upper): PredicateIntegerTest(.between, .array([lower, upper]))
            case .beginsWith, .among: nil
            }
        switch test {
        case .inside(let range)?:
            return [
                IndexRange(lower: .integer(range.lowerBound, .before), upper: .integer(range.upperBound, .behind))
            ]
        case .always(false)?: return []
        default: return nil
        }
    }
}
