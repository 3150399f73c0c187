/// A regular expression as the steps of an automaton. It is immutable and shared by all threads.
struct PatternProgram: Sendable {
    enum Step: Sendable {
        /// A character of the set at this index.
        case one(Int)
        case split(Int, Int)
        case jump(Int)
        case assert(PatternAssertion)
        /// The lookahead from the next step on must match here, or must not; the program continues at `next`.
        case ahead(isNegative: Bool, next: Int)
        /// The end of the expression or of a lookahead.
        case match
    }

    let steps: [Step]
    let sets: [PatternSet]
    let literals: PatternLiterals
    /// Whether a text must not match.
    let isNegative: Bool
    let hasStart: Bool
    let hasLastEnd: Bool
    let hasWords: Bool
    let hasLookahead: Bool

    init(steps: [Step], sets: [PatternSet], literals: PatternLiterals, isNegative: Bool = false) {
        self.steps = steps
        self.sets = sets
        self.literals = literals
        self.isNegative = isNegative
        var (start, lastEnd, words, ahead) = (false, false, false, false)
        for step in steps {
            switch step {
            case .assert(.start): start = true
            case .assert(.lastEnd): lastEnd = true
            case .assert(.word), .assert(.notWord): words = true
            case .ahead: ahead = true
            default: break
            }
        }
        (hasStart, hasLastEnd, hasWords, hasLookahead) = (start, lastEnd, words, ahead)
    }
}
