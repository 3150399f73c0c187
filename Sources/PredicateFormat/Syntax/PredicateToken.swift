import PropertyList

/// A token and its range in bytes.
struct PredicateToken {
    enum Kind: Equatable {
        /// A name or a keyword; after a `#` always a name.
        case word(String, escaped: Bool)
        case variable(String)
        case string(String)
        case number(PropertyListValue)
        case sign(String)
        case end
    }

    let kind: Kind
    let start: Int
    let end: Int

    var keyword: PredicateKeyword? {
        guard case .word(let word, escaped: false) = kind else { return nil }
        return PredicateKeyword(word)
    }

    func isSign(_ sign: String) -> Bool { kind == .sign(sign) }

    /// The token's name in error messages.
    var named: String {
        switch kind {
        case .word(let word, _): word
        case .variable(let name): "$\(name)"
        case .string: "the text"
        case .number: "the number"
        case .sign(let sign): sign
        case .end: "the end"
        }
    }
}
