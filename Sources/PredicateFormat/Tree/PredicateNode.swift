package import PropertyList

/// A predicate as a tree.
@usableFromInline package indirect enum PredicateNode: Sendable, Hashable, CustomStringConvertible {
    /// `TRUEPREDICATE` or `FALSEPREDICATE`.
    case constant(Bool)
    /// Two expressions and an operator.
    case comparison(PredicateComparison)
    /// The condition does not hold.
    case not(PredicateNode)
    /// All of them hold; true when empty.
    case and([PredicateNode])
    /// One of them holds; false when empty.
    case or([PredicateNode])

    /// A comparison of a property with a constant.
    package static func comparing(
        _ path: PredicateKeyPath, _ operation: PredicateOperator, _ value: PropertyListValue,
        options: PredicateOptions = []
    ) -> PredicateNode {
        .comparison(PredicateComparison(.keyPath(path), operation, .constant(value), options: options))
    }

    /// Canonical format text; see `FormatPredicate.format`.
    @usableFromInline package var description: String { PredicatePrinter.text { $0.print(self, within: .none) } }

    /// The same for a message: the beginning of a long text.
    package var excerpt: String { PredicatePrinter.text(limit: 200) { $0.print(self, within: .none) } }

    /// The comparisons of the tree, from left to right.
    var comparisons: [PredicateComparison] {
        switch self {
        case .constant: []
        case .comparison(let comparison): [comparison]
        case .not(let inner): inner.comparisons
        case .and(let parts), .or(let parts): parts.flatMap(\.comparisons)
        }
    }

    /// The tree with other key paths.
    func replacingPaths(_ replaced: (PredicateKeyPath) -> PredicateKeyPath) -> PredicateNode {
        switch self {
        case .constant: return self
        case .comparison(var comparison):
            comparison.left = comparison.left.replacingPaths(replaced)
            comparison.right = comparison.right.replacingPaths(replaced)
            return .comparison(comparison)
        case .not(let inner): return .not(inner.replacingPaths(replaced))
        case .and(let parts): return .and(parts.map { $0.replacingPaths(replaced) })
        case .or(let parts): return .or(parts.map { $0.replacingPaths(replaced) })
        }
    }
}

/// A comparison of two expressions: `ANY tags ==[c] "gift"`.
@usableFromInline package struct PredicateComparison: Sendable, Hashable {
    /// The quantifier for a collection on the left.
    @usableFromInline package enum Modifier: String, Sendable, Hashable, CaseIterable {
        /// The left side as it is.
        case direct = ""
        /// At least one element; written `SOME` as well.
        case any = "ANY"
        /// Every element; true for an empty collection.
        case all = "ALL"
        /// No element.
        case none = "NONE"
    }

    /// The quantifier for a collection on the left.
    package var modifier: Modifier
    /// The expression before the operator.
    @usableFromInline package var left: FormatExpression
    /// The operator.
    package var operation: PredicateOperator
    /// The options for comparing text.
    package var options: PredicateOptions
    /// The expression after the operator.
    @usableFromInline package var right: FormatExpression

    /// A comparison of two expressions.
    package init(
        _ left: FormatExpression, _ operation: PredicateOperator, _ right: FormatExpression,
        options: PredicateOptions = [], modifier: Modifier = .direct
    ) {
        self.modifier = modifier
        self.left = left
        self.operation = operation
        self.options = options
        self.right = right
    }

    /// Each side that is a field, with the other side.
    var fieldsAndOperands: [(String, FormatExpression)] {
        [(left, right), (right, left)].compactMap { side, other in
            guard case .keyPath(let path) = side, path.rest.isEmpty, !path.isSelf else { return nil }
            return (path.field, other)
        }
    }
}

/// The relation that a comparison tests.
@usableFromInline package enum PredicateOperator: String, Sendable, Hashable, CaseIterable {
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

/// The options of a text comparison, as letters after its operator: `[c]`, `[cd]`, `[n]`.
public struct PredicateOptions: OptionSet, Sendable, Hashable, CustomStringConvertible {
    /// The bits of the options.
    public let rawValue: UInt8

    /// Options by their bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// `[c]`: letters of different case are equal.
    public static let caseInsensitive = PredicateOptions(rawValue: 1)

    /// `[d]`: letters with different accents are equal.
    public static let diacriticInsensitive = PredicateOptions(rawValue: 2)

    /// `[n]`: the texts are normalized already, and are compared as they are; the other options have no effect.
    package static let normalized = PredicateOptions(rawValue: 4)

    /// `[l]`: texts that a locale does not tell apart are equal, such as é as one character and as two. An order of a
    /// locale is not part of the language.
    package static let localeSensitive = PredicateOptions(rawValue: 8)

    /// The options that change how texts are compared.
    var inForce: PredicateOptions {
        if contains(.normalized) { return [] }
        // Both fold canonically equivalent texts as well.
        let folding = intersection([.caseInsensitive, .diacriticInsensitive])
        return folding.isEmpty ? intersection(.localeSensitive) : folding
    }

    private static let letters: [(Character, PredicateOptions)] = [
        ("c", .caseInsensitive), ("d", .diacriticInsensitive), ("n", .normalized), ("l", .localeSensitive),
    ]

    /// The option of a letter; nil for another.
    init?(letter: Character) {
        guard let option = Self.letters.first(where: { $0.0 == letter })?.1 else { return nil }
        self = option
    }

    /// The notation after an operator: `[cd]`, or nothing.
    public var description: String {
        let letters = String(Self.letters.filter { contains($0.1) }.map(\.0))
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}
