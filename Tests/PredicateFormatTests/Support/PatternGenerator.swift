import Foundation
import TestSupport

/// Random regular expressions, and short texts that they have a chance to match.
struct PatternGenerator {
    private var random: TestGenerator

    private static let characters = [
        "a", "b", "c", "A", "B", "k", "s", "é", "É", "σ", "Д", "д", "日", "😀", "1", "2", "_", "-", " ", "\u{301}",
        "\u{200D}", "²", "٣",
    ]
    private static let lineEnds = ["\n", "\r\n", "\r", "\u{2028}", "\u{85}"]
    private static let classes = [
        "[abc]", "[^a]", "[a-c]", "[^a-cé]", "[a-z&&[^b]]", "[\\d_]", "[^\\s]", "[é-я]", "[ks]", "[A-Z--[B]]", "[^\\W]",
        "[-a]", "[a\\]]", "[A-Zа-я]",
    ]
    private static let assertions = ["\\b", "\\B", "^", "$", "\\A", "\\Z", "\\z"]

    init(seed: UInt64) { random = TestGenerator(seed: seed) }

    mutating func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    mutating func one(of texts: [String]) -> String { texts[number(below: texts.count)] }

    mutating func text() -> String {
        var text = ""
        for _ in 0..<number(below: 8) {
            switch number(below: 14) {
            case 0: text += one(of: Self.lineEnds)
            case 1...3: text += one(of: Self.characters)
            default: text += one(of: ["a", "b", "c", "A", "é", " "])
            }
        }
        return text
    }

    /// An expression whose groups are nested as deep as `depth` at most.
    mutating func expression(depth: Int = 3) -> String {
        let alternatives = number(below: 4) == 0 ? 2 + number(below: 2) : 1
        return (0..<alternatives).map { _ in
            (0..<number(below: 5)).map { _ in quantified(depth) }.joined()
        }.joined(separator: "|")
    }

    private mutating func quantified(_ depth: Int) -> String {
        let atom = atom(depth)
        let isLookahead = atom.hasPrefix("(?=") || atom.hasPrefix("(?!")
        if isLookahead || Self.assertions.contains(atom) { return atom }
        switch number(below: 12) {
        case 0: return atom + "*"
        case 1: return atom + "+"
        case 2: return atom + "?"
        case 3: return atom + one(of: ["{2}", "{1,2}", "{0,3}", "{1,}"])
        // ICU never ends with some lazy groups that match nothing.
        case 4 where !atom.hasPrefix("("): return atom + one(of: ["*?", "+?", "??", "{2,}?"])
        default: return atom
        }
    }

    private mutating func atom(_ depth: Int) -> String {
        switch number(below: depth > 0 ? 22 : 14) {
        case 0...4: one(of: ["a", "b", "c", "A", "é"])
        case 5: NSRegularExpression.escapedPattern(for: one(of: Self.characters))
        case 6: "."
        case 7: one(of: ["\\d", "\\w", "\\s", "\\D", "\\W", "\\S"])
        case 8: one(of: ["\\p{L}", "\\p{Lu}", "\\P{L}", "[[:alpha:]]", "\\pN"])
        case 9: one(of: Self.classes)
        case 10...13: one(of: Self.assertions)
        case 14, 15: "(" + expression(depth: depth - 1) + ")"
        case 16, 17: "(?:" + expression(depth: depth - 1) + ")"
        case 18: "(?i:" + expression(depth: depth - 1) + ")"
        case 19: "(?=" + expression(depth: depth - 1) + ")"
        case 20: "(?!" + expression(depth: depth - 1) + ")"
        default: one(of: ["(?-i:a)", "\\x61", "\\u00e9", "\\Qa\\E", "\\."])
        }
    }
}
