package import PropertyList

/// The kind of a field or an expression, as far as it is known before evaluation.
package enum PredicateKind: Sendable, Hashable, CaseIterable {
    /// The kind is unknown.
    case unknown
    /// Always nil.
    case absent
    /// Text.
    case string
    /// An integer, a real or a truth value.
    case number
    /// A date.
    case date
    /// Bytes.
    case data
    /// An array, a set or a dictionary.
    case collection

    /// The kind of a value.
    package init(of value: PropertyListValue) {
        switch value {
        case .null: self = .absent
        case .boolean, .integer, .wideInteger, .real, .single: self = .number
        case .date: self = .date
        case .data: self = .data
        case .string, .utf16: self = .string
        case .array, .set, .dictionary: self = .collection
        case .uid: self = .unknown
        }
    }

    package init(of expression: FormatExpression) {
        self.init(of: expression, kindOfPath: { _ in .unknown })
    }

    package init(of expression: FormatExpression, kindOfPath: (PredicateKeyPath) -> PredicateKind) {
        switch expression {
        case .constant(let value): self.init(of: value)
        case .keyPath(let path) where path.rest.isEmpty: self = path.isSelf ? .unknown : kindOfPath(path)
        case .keyPath(let path):
            let known = path.isSelf ? .unknown : kindOfPath(path)
            let start = path.isSelf ? .unknown : kindOfPath(PredicateKeyPath(path.field))
            self = known == .unknown ? Self.kind(ofPath: path.rest, from: start) : known
        case .property(let base, let keys):
            self = Self.kind(ofPath: keys, from: PredicateKind(of: base, kindOfPath: kindOfPath))
        case .aggregate: self = .collection
        case .negated: self = .number
        // The difference of two dates is a number, so the kind of a sum or a difference is unknown.
        case .arithmetic(_, let operation, _):
            self = operation == .add || operation == .subtract ? .unknown : .number
        case .element(_, .size): self = .number
        case .element: self = .unknown
        case .function(let function, let arguments): self = Self.kind(of: function, arguments)
        case .conditional(_, let first, let second):
            let kind = PredicateKind(of: first, kindOfPath: kindOfPath)
            self = kind == PredicateKind(of: second, kindOfPath: kindOfPath) ? kind : .unknown
        case .subquery: self = .collection
        case .local: self = .unknown
        }
    }

    private static func kind(ofPath keys: [String], from start: PredicateKind) -> PredicateKind {
        switch start {
        case .string, .number, .date, .data:
            // Of a dictionary, any of these names may be a key.
            guard let property = keys.first.flatMap(PredicateProperty.init), keys.count == 1 else { return .unknown }
            return property == .itself ? start : property.kind
        case .unknown, .absent, .collection: break
        }
        switch keys.last {
        case "@count"?: return .number
        default: return keys.contains("@sum") || keys.contains("@avg") ? .number : .unknown
        }
    }

    private static func kind(of function: PredicateFunction, _ arguments: [FormatExpression]) -> PredicateKind {
        switch function {
        case .abs, .floor, .ceiling, .trunc, .sqrt, .exp, .ln, .log, .count, .sum, .average, .median, .stddev, .length,
            .random, .onesComplement:
            return .number
        case .method:
            guard arguments.count > 1, case .constant(.string(let selector)) = arguments[1] else { return .unknown }
            return PredicateMethod(exactly: selector)?.result ?? .unknown
        case .now, .inZone: return .date
        case .mode: return .collection
        case .lowercase, .uppercase: return .string
        case .min, .max: return .unknown
        case .cast:
            switch arguments.last {
            case .constant(.string("NSDate"))?: return .date
            case .constant(.string("NSString"))?: return .string
            case .constant(.string("NSData"))?: return .data
            default: return .number
            }
        }
    }

    /// Whether arithmetic may apply.
    var isComputable: Bool {
        switch self {
        case .unknown, .absent, .number, .date: true
        case .string, .data, .collection: false
        }
    }

    /// The kind's name in error messages.
    package var named: String {
        switch self {
        case .unknown: "of unknown kind"
        case .absent: "nil"
        case .string: "text"
        case .number: "a number"
        case .date: "a date"
        case .data: "data"
        case .collection: "a collection"
        }
    }
}

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
