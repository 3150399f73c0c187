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

    package init(
        of expression: FormatExpression, kindOfPath: (PredicateKeyPath) -> PredicateKind = { _ in .unknown }
    ) {
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
            return PredicateMethod(exactly: selector)?.signature.result ?? .unknown
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
    /// The field's name.
    package let field: String
    /// The relation of its value to the constant: an order, `==`, `BETWEEN`, `IN` or `BEGINSWITH`.
    package let operation: PredicateOperator
    /// The constant: an array of two bounds for `BETWEEN`, an array for `IN`, text for `BEGINSWITH`; nowhere nil.
    package let constant: PropertyListValue

    /// Whether the constraint is equivalent to its part of the predicate, so that rows from an index need no test of
    /// that part.
    package let isExact: Bool

    /// The equivalent tree.
    package var node: PredicateNode { .comparing(PredicateKeyPath(field), operation, constant) }

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
        func made(
            _ operation: PredicateOperator, _ constant: PropertyListValue, isExact: Bool = true
        ) -> PredicateConstraint {
            PredicateConstraint(field: path.field, operation: operation, constant: constant, isExact: isExact)
        }
        switch (sides.1, value) {
        case (.equal, _), (.lessThan, _), (.lessThanOrEqual, _), (.greaterThan, _), (.greaterThanOrEqual, _),
            (.beginsWith, .string):
            return made(sides.1, value)
        case (.between, .array(let bounds)):
            return bounds.count == 2 && !bounds.contains(.null) ? made(.between, value) : nil
        case (.in, _):
            guard let elements = value.predicateElements, !elements.contains(.null) else { return nil }
            return made(.in, .array(elements))
        case (.like, .string(let text)):
            let prefix = PredicateWildcard(text, []).prefix
            return prefix.isEmpty ? nil : made(.beginsWith, .string(prefix), isExact: false)
        default: return nil
        }
    }
}
