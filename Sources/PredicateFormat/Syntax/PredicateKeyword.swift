/// The keywords, which ignore case.
enum PredicateKeyword: String, CaseIterable {
    case and = "AND"
    case or = "OR"
    case not = "NOT"
    case any = "ANY"
    case some = "SOME"
    case all = "ALL"
    case none = "NONE"
    case between = "BETWEEN"
    case `in` = "IN"
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case like = "LIKE"
    case matches = "MATCHES"
    case null = "NULL"
    case `nil` = "NIL"
    case `true` = "TRUE"
    case `false` = "FALSE"
    case yes = "YES"
    case no = "NO"
    case `self` = "SELF"
    case truePredicate = "TRUEPREDICATE"
    case falsePredicate = "FALSEPREDICATE"

    private static let longest = 14

    init?(_ word: String) {
        guard word.utf8.count <= Self.longest else { return nil }
        self.init(rawValue: word.uppercased())
    }

    /// The keywords between two operands.
    static let operators: [PredicateKeyword] = [
        .and, .or, .between, .in, .contains, .beginsWith, .endsWith, .like, .matches,
    ]

    /// The comparison of the keyword.
    var comparison: PredicateOperator? {
        switch self {
        case .between: .between
        case .in: .in
        case .contains: .contains
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .like: .like
        case .matches: .matches
        default: nil
        }
    }

    var modifier: PredicateComparison.Modifier? {
        switch self {
        case .any, .some: .any
        case .all: .all
        case .none: PredicateComparison.Modifier.none
        default: nil
        }
    }
}
