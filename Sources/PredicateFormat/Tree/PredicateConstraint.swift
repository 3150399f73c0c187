package import PropertyList

/// A condition on one field that every matching object satisfies. An index can narrow a search by it.
package struct PredicateConstraint: Sendable, Hashable {
    /// A relation between the field's value and constants other than nil.
    package enum Relation: Sendable, Hashable {
        /// The value equals this one.
        case equal(PropertyListValue)
        /// It is before this one.
        case lessThan(PropertyListValue)
        /// It is before this one or equals it.
        case lessThanOrEqual(PropertyListValue)
        /// It is after this one.
        case greaterThan(PropertyListValue)
        /// It is after this one or equals it.
        case greaterThanOrEqual(PropertyListValue)
        /// From the first to the second, both included.
        case between(PropertyListValue, PropertyListValue)
        /// It equals one of these.
        case among([PropertyListValue])
        /// Text that begins with these bytes.
        case beginsWith(String)
    }

    /// The field's name.
    package let field: String
    /// The relation of its value to constants.
    package let relation: Relation

    /// Whether the constraint is equivalent to its part of the predicate, so that rows from an index need no test of
    /// that part.
    package let isExact: Bool

    /// The equivalent tree.
    package var node: PredicateNode {
        let sides: (PredicateOperator, PropertyListValue) =
            switch relation {
            case .equal(let value): (.equal, value)
            case .lessThan(let value): (.lessThan, value)
            case .lessThanOrEqual(let value): (.lessThanOrEqual, value)
            case .greaterThan(let value): (.greaterThan, value)
            case .greaterThanOrEqual(let value): (.greaterThanOrEqual, value)
            case .between(let lower, let upper): (.between, .array([lower, upper]))
            case .among(let values): (.in, .array(values))
            case .beginsWith(let text): (.beginsWith, .string(text))
            }
        return .comparison(PredicateComparison(.keyPath(PredicateKeyPath(field)), sides.0, .constant(sides.1)))
    }

    /// The date of a constant that is compared with a field of dates; ISO 8601 text counts too.
    package static func date(_ constant: PropertyListValue) -> PropertyListDate? {
        constant.predicateDate
    }

    /// The constraints among the parts of a conjunction.
    static func constraints(of node: PredicateNode) -> [PredicateConstraint] {
        switch node {
        case .and(let parts): parts.flatMap(constraints)
        case .comparison(let comparison): constraint(of: comparison).map { [$0] } ?? []
        case .constant, .not, .or: []
        }
    }

    private static func constraint(of comparison: PredicateComparison) -> PredicateConstraint? {
        guard comparison.modifier == .direct, comparison.options.isEmpty else { return nil }
        let sides: (FormatExpression, PredicateOperator, FormatExpression)
        if case .constant = comparison.left, let exchanged = comparison.operation.exchanged {
            sides = (comparison.right, exchanged, comparison.left)
        } else {
            sides = (comparison.left, comparison.operation, comparison.right)
        }
        guard case .keyPath(let path) = sides.0, path.rest.isEmpty, !path.isSelf, case .constant(let value) = sides.2,
            value != .null
        else { return nil }
        func made(_ relation: Relation, isExact: Bool = true) -> PredicateConstraint {
            PredicateConstraint(field: path.field, relation: relation, isExact: isExact)
        }
        switch sides.1 {
        case .equal: return made(.equal(value))
        case .lessThan: return made(.lessThan(value))
        case .lessThanOrEqual: return made(.lessThanOrEqual(value))
        case .greaterThan: return made(.greaterThan(value))
        case .greaterThanOrEqual: return made(.greaterThanOrEqual(value))
        case .between:
            guard case .array(let bounds) = value, bounds.count == 2, !bounds.contains(.null) else { return nil }
            return made(.between(bounds[0], bounds[1]))
        case .in:
            guard let elements = value.predicateElements, !elements.contains(.null) else { return nil }
            return made(.among(elements))
        case .beginsWith:
            guard case .string(let text) = value else { return nil }
            return made(.beginsWith(text))
        case .like:
            guard case .string(let text) = value else { return nil }
            let wildcard = PredicateWildcard(text, [])
            return wildcard.prefix.isEmpty ? nil : made(.beginsWith(wildcard.prefix), isExact: false)
        case .notEqual, .contains, .endsWith, .matches:
            return nil
        }
    }
}
