/// Whether a character of an expression takes a character of a text.
///
/// A class, `\w`, `[^a-z]` or `\p{L}`, is asked of the standard library's own regular expressions, once for each character.
struct PatternTest {
    private enum Kind {
        case scalar(Unicode.Scalar)
        case expression(Regex<AnyRegexOutput>)
    }

    private let kind: Kind
    private var ascii: [Bool?] = []
    private var others: [Unicode.Scalar: Bool] = [:]

    /// A character that stands for itself.
    init(_ scalar: Unicode.Scalar) { kind = .scalar(scalar) }

    /// What an expression of one character takes; nil when it is none.
    init?(_ text: String, ignoringCase: Bool) {
        guard var expression = try? Regex(text) else { return nil }
        expression = expression.matchingSemantics(.unicodeScalar)
        if ignoringCase { expression = expression.ignoresCase() }
        kind = .expression(expression)
        ascii = [Bool?](repeating: nil, count: 128)
    }

    mutating func takes(_ scalar: Unicode.Scalar) -> Bool {
        switch kind {
        case .scalar(let own): return own == scalar
        case .expression(let expression):
            if scalar.isASCII {
                if let known = ascii[Int(scalar.value)] { return known }
            } else if let known = others[scalar] {
                return known
            }
            let verdict = (try? expression.wholeMatch(in: String(scalar))) != nil
            if scalar.isASCII { ascii[Int(scalar.value)] = verdict } else { others[scalar] = verdict }
            return verdict
        }
    }
}
