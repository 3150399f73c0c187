import PropertyList

/// A tree prepared for evaluation: constants are on the right, as tests, and expressions are compiled once.
@usableFromInline
package indirect enum PredicatePlan: Sendable {
    case constant(Bool)
    case all([PredicatePlan])
    case any([PredicatePlan])
    case not(PredicatePlan)
    /// An expression and the test of its value.
    case test(FormatExpression, PredicateComparison.Modifier, PredicateConstantTest)
    /// Both sides depend on the object.
    case comparison(PredicateComparison)

    @usableFromInline
    package init(_ node: PredicateNode) {
        switch node {
        case .constant(let verdict): self = .constant(verdict)
        case .not(let inner): self = .not(PredicatePlan(inner))
        case .and(let parts): self = .all(parts.map { PredicatePlan($0) })
        case .or(let parts): self = .any(parts.map { PredicatePlan($0) })
        case .comparison(let comparison): self.init(comparison)
        }
    }

    private init(_ comparison: PredicateComparison) {
        if case .constant(let value) = comparison.right {
            let test = PredicateConstantTest(comparison.operation, comparison.options, value)
            if case .constant(let left) = comparison.left {
                self = .constant(comparison.holds(left, value))
            } else {
                self = .test(comparison.left, comparison.modifier, test)
            }
            return
        }
        if case .constant(let value) = comparison.left, comparison.modifier == .direct,
            let operation = comparison.operation.exchanged
        {
            self = .test(comparison.right, .direct, PredicateConstantTest(operation, comparison.options, value))
            return
        }
        self = .comparison(comparison)
    }

    /// The equivalent tree for display, with constants on the right.
    package var node: PredicateNode {
        switch self {
        case .constant(let verdict): .constant(verdict)
        case .all(let parts): .and(parts.map(\.node))
        case .any(let parts): .or(parts.map(\.node))
        case .not(let inner): .not(inner.node)
        case .test(let expression, let modifier, let test):
            .comparison(
                PredicateComparison(
                    expression, test.operation, .constant(test.constant), options: test.options, modifier: modifier))
        case .comparison(let comparison): .comparison(comparison)
        }
    }
}
