/// Two expressions and what must hold between them: `ANY tags ==[c] "gift"`.
public struct PredicateComparison: Sendable, Hashable {
    /// How a collection on the left is judged.
    public enum Modifier: String, Sendable, Hashable, CaseIterable {
        /// The left side as it is.
        case direct = ""
        /// At least one element; written `SOME` as well.
        case any = "ANY"
        /// Every element, and so an empty collection too.
        case all = "ALL"
        /// No element.
        case none = "NONE"
    }

    public var modifier: Modifier
    public var left: ItemPredicateExpression
    public var operation: PredicateOperator
    public var options: PredicateOptions
    public var right: ItemPredicateExpression

    public init(
        _ left: ItemPredicateExpression, _ operation: PredicateOperator, _ right: ItemPredicateExpression,
        options: PredicateOptions = [], modifier: Modifier = .direct
    ) {
        self.modifier = modifier
        self.left = left
        self.operation = operation
        self.options = options
        self.right = right
    }
}
