/// A predicate as a tree.
public indirect enum PredicateNode: Sendable, Hashable, CustomStringConvertible {
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

    /// Canonical format text; see `FormatPredicate.format`.
    public var description: String {
        var printer = PredicatePrinter()
        printer.print(self, within: .none)
        return printer.text
    }
}
