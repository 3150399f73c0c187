/// The relation that a comparison tests.
public enum PredicateOperator: String, Sendable, Hashable, CaseIterable {
    /// `==`, written `=` as well: equal values; nil equals nil.
    case equal = "=="
    /// `!=`, `<>`: not equal.
    case notEqual = "!="
    /// `<`: before in order.
    case lessThan = "<"
    /// `<=`, `=<`: before in order, or equal.
    case lessThanOrEqual = "<="
    /// `>`: after in order.
    case greaterThan = ">"
    /// `>=`, `=>`: after in order, or equal.
    case greaterThanOrEqual = ">="
    /// From the first to the second element of the array on the right, both included.
    case between = "BETWEEN"
    /// An element of the collection on the right, or a substring of the text on the right.
    case `in` = "IN"
    /// A collection with the element on the right, or a text with that substring.
    case contains = "CONTAINS"
    /// Text that begins with the text on the right.
    case beginsWith = "BEGINSWITH"
    /// Text that ends with the text on the right.
    case endsWith = "ENDSWITH"
    /// Text that matches wildcards: `*` any run of characters, `?` one.
    case like = "LIKE"
    /// Text that a regular expression matches as a whole.
    case matches = "MATCHES"

    /// The equivalent operator for exchanged sides; nil when there is none.
    var exchanged: PredicateOperator? {
        switch self {
        case .equal, .notEqual: self
        case .lessThan: .greaterThan
        case .lessThanOrEqual: .greaterThanOrEqual
        case .greaterThan: .lessThan
        case .greaterThanOrEqual: .lessThanOrEqual
        case .in: .contains
        case .contains: .in
        case .between, .beginsWith, .endsWith, .like, .matches: nil
        }
    }

    var isOrdering: Bool {
        switch self {
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: true
        default: false
        }
    }

    /// Whether the order of left to right satisfies an ordering, `==` or `!=`. Unordered values satisfy only `!=`.
    @inlinable
    package func accepts(_ order: Int?) -> Bool {
        guard let order else { return self == .notEqual }
        switch self {
        case .equal: return order == 0
        case .notEqual: return order != 0
        case .lessThan: return order < 0
        case .lessThanOrEqual: return order <= 0
        case .greaterThan: return order > 0
        case .greaterThanOrEqual: return order >= 0
        case .between, .in, .contains, .beginsWith, .endsWith, .like, .matches: return false
        }
    }
}
