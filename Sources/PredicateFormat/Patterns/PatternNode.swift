/// A regular expression as a tree.
indirect enum PatternNode {
    case empty
    case characters(PatternSet)
    case sequence([PatternNode])
    /// A group, of one alternative or several.
    case alternatives([PatternNode])
    /// `most` is nil without an upper bound.
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
    /// `$`, `\Z`: the end, or before the line end that is the text's last character.
    case lastEnd
    /// `\b`
    case word
    /// `\B`
    case notWord
}
