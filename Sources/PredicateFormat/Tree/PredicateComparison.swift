/// A comparison of two expressions: `ANY tags ==[c] "gift"`.
public struct PredicateComparison: Sendable, Hashable {
    /// The quantifier for a collection on the left.
    public enum Modifier: String, Sendable, Hashable, CaseIterable {
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
    public var modifier: Modifier
    /// The expression before the operator.
    public var left: FormatExpression
    /// The operator.
    public var operation: PredicateOperator
    /// The options for comparing text.
    public var options: PredicateOptions
    /// The expression after the operator.
    public var right: FormatExpression

    /// A comparison of two expressions.
    public init(
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
    var fieldsAndOthers: [(String, FormatExpression)] {
        [(left, right), (right, left)].compactMap { side, other in
            guard case .keyPath(let path) = side, path.rest.isEmpty, !path.isSelf else { return nil }
            return (path.field, other)
        }
    }
}
