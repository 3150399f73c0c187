/// The characters that match at one position of a regular expression, with ICU's semantics.
indirect enum PatternSet: Hashable, Sendable {
    case range(UInt32, UInt32)
    case digit
    case word
    case space
    case lineEnd
    case union([PatternSet])
    case intersection(PatternSet, PatternSet)
    case difference(PatternSet, PatternSet)
    case symmetricDifference(PatternSet, PatternSet)
    case inverted(PatternSet)
    /// Every case of the other set's characters.
    case anyCase(PatternSet)
    /// A one-character expression evaluated by the standard library: `\p{Greek}`, `[[:alpha:]]`.
    case expression(String)

    static let any = PatternSet.range(0, 0x10FFFF)

    static func scalar(_ scalar: Unicode.Scalar) -> PatternSet { .range(scalar.value, scalar.value) }

    /// Whether the set contains a character. `expressions` evaluates a one-character expression.
    func takes(_ scalar: Unicode.Scalar, _ expressions: (String, Unicode.Scalar) -> Bool) -> Bool {
        switch self {
        case .range(let first, let last): first <= scalar.value && scalar.value <= last
        case .digit: scalar.properties.generalCategory == .decimalNumber
        case .word: Self.isWord(scalar)
        case .space: scalar.properties.isWhitespace
        case .lineEnd: Self.isLineEnd(scalar)
        case .union(let sets): sets.contains { $0.takes(scalar, expressions) }
        case .intersection(let a, let b): a.takes(scalar, expressions) && b.takes(scalar, expressions)
        case .difference(let a, let b): a.takes(scalar, expressions) && !b.takes(scalar, expressions)
        case .symmetricDifference(let a, let b): a.takes(scalar, expressions) != b.takes(scalar, expressions)
        case .inverted(let set): !set.takes(scalar, expressions)
        case .anyCase(let set): PatternCase.variants(of: scalar).contains { set.takes($0, expressions) }
        case .expression(let source): expressions(source, scalar)
        }
    }

    /// The only character of the set; nil when there are several.
    var only: Unicode.Scalar? {
        guard case .range(let first, let last) = self, first == last else { return nil }
        return Unicode.Scalar(first)
    }

    static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    /// Whether `\w` matches a character.
    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation: true
        default: scalar.properties.isAlphabetic || scalar.properties.isJoinControl
        }
    }
}
