package import PropertyList

/// The kind of a field or an expression, as far as it is known before evaluation.
public enum PredicateKind: Sendable, Hashable, CaseIterable {
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
        case .now: return .date
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
