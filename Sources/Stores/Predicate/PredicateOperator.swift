/// How a comparison relates its two sides.
public enum PredicateOperator: String, Sendable, Hashable, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case lessThan = "<"
    case lessThanOrEqual = "<="
    case greaterThan = ">"
    case greaterThanOrEqual = ">="
    case between = "BETWEEN"
    case `in` = "IN"
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case like = "LIKE"
    case matches = "MATCHES"

    /// The operator that says the same with its sides exchanged; nil when there is none.
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

    /// Whether both sides must be text for the comparison ever to hold.
    var takesText: Bool {
        switch self {
        case .beginsWith, .endsWith, .like, .matches: true
        default: false
        }
    }

    /// Whether an order of left to right satisfies an ordering, `==` or `!=`. Values without an order satisfy `!=` alone.
    func accepts(_ order: Int?) -> Bool {
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
