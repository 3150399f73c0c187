/// A regular expression as a tree.
indirect enum PatternNode {
    case empty
    case characters(PatternSet)
    case sequence([PatternNode])
    /// A group of one or more alternatives.
    case alternatives([PatternNode])
    /// `most` is nil for no upper bound.
    case repetition(PatternNode, least: Int, most: Int?)
    case assertion(PatternAssertion)
    /// A lookahead.
    case ahead(PatternNode, isNegative: Bool)

    static func joined(_ nodes: [PatternNode]) -> PatternNode {
        let nodes = nodes.filter { if case .empty = $0 { false } else { true } }
        return nodes.count > 1 ? .sequence(nodes) : nodes.first ?? .empty
    }
}

/// A zero-width assertion.
enum PatternAssertion {
    /// `^`, `\A`
    case start
    /// `\z`
    case end
    /// `$`, `\Z`: the end, or before a final line end.
    case lastEnd
    /// `\b`
    case word
    /// `\B`
    case notWord
}
