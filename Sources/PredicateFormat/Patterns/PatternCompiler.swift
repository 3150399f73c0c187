/// Compiles a regular expression to steps.
struct PatternCompiler {
    private var steps: [PatternProgram.Step] = []
    private var sets: [PatternSet] = []
    private var indexes: [PatternSet: Int] = [:]

    private let stepLimit: Int

    private static let stepLimit = 20_000

    /// The programs that a text must all match. Leading lookaheads are programs of their own, because one deterministic
    /// automaton cannot run them beside the rest.
    static func compile(_ text: String, ignoringCase: Bool) throws(PredicatePattern.Failure) -> [PatternProgram] {
        var (rest, lookaheads) = (try PatternParser.parse(text, ignoringCase: ignoringCase), [PatternNode]())
        if case .alternatives(let nodes) = rest, nodes.count == 1 {
            var nodes = if case .sequence(let nodes) = nodes[0] { nodes[...] } else { nodes[...] }
            while case .ahead = nodes.first { lookaheads.append(nodes.removeFirst()) }
            rest = .alternatives([.joined(Array(nodes))])
        }
        var steps = 0
        func program(_ tree: PatternNode, isNegative: Bool) throws(PredicatePattern.Failure) -> PatternProgram {
            var compiler = PatternCompiler(stepLimit: stepLimit - steps)
            try compiler.add(tree)
            try compiler.add(.match)
            steps += compiler.steps.count
            let literals = PatternLiterals(of: tree)
            return PatternProgram(
                steps: compiler.steps, sets: compiler.sets, literals: literals, isNegative: isNegative)
        }
        var programs: [PatternProgram] = []
        for case .ahead(let node, let isNegative) in lookaheads {
            let anything = PatternNode.repetition(.characters(.any), least: 0, most: nil)
            programs.append(try program(.sequence([node, anything]), isNegative: isNegative))
        }
        programs.append(try program(rest, isNegative: false))
        // Programs with literals come first, because a literal search is cheaper.
        let quick = programs.filter { !$0.isNegative && !$0.literals.isEmpty }
        return quick + programs.filter { $0.isNegative || $0.literals.isEmpty }
    }

    private init(stepLimit: Int) { self.stepLimit = stepLimit }

    private mutating func add(_ step: PatternProgram.Step) throws(PredicatePattern.Failure) {
        guard steps.count < stepLimit else { throw .init(reason: "it repeats too much") }
        steps.append(step)
    }

    private mutating func add(_ node: PatternNode) throws(PredicatePattern.Failure) {
        switch node {
        case .empty: break
        case .characters(let set): try add(.one(index(of: set)))
        case .sequence(let nodes): for node in nodes { try add(node) }
        case .alternatives(let nodes): try add(alternatives: nodes)
        case .repetition(let node, let least, let most): try add(node, least: least, most: most)
        case .assertion(let assertion): try add(.assert(assertion))
        case .ahead(let node, let isNegative):
            let start = steps.count
            try add(.ahead(isNegative: isNegative, next: 0))
            try add(node)
            try add(.match)
            steps[start] = .ahead(isNegative: isNegative, next: steps.count)
        }
    }

    private mutating func add(alternatives: [PatternNode]) throws(PredicatePattern.Failure) {
        var ends: [Int] = []
        for (number, node) in alternatives.enumerated() {
            let start = steps.count
            try add(.jump(start + 1))  // Becomes a split when there is another alternative.
            try add(node)
            guard number < alternatives.count - 1 else { break }
            ends.append(steps.count)
            try add(.jump(0))
            steps[start] = .split(start + 1, steps.count)
        }
        for end in ends { steps[end] = .jump(steps.count) }
    }

    private mutating func add(_ node: PatternNode, least: Int, most: Int?) throws(PredicatePattern.Failure) {
        for _ in 0..<least { try add(node) }
        guard let most else {
            let loop = steps.count
            try add(.split(loop + 1, 0))
            try add(node)
            try add(.jump(loop))
            steps[loop] = .split(loop + 1, steps.count)
            return
        }
        var exits: [Int] = []
        for _ in 0..<max(most - least, 0) {
            exits.append(steps.count)
            try add(.split(steps.count + 1, 0))
            try add(node)
        }
        for exit in exits { steps[exit] = .split(exit + 1, steps.count) }
    }

    /// The index of a set, which is stored once.
    private mutating func index(of set: PatternSet) -> Int {
        if let known = indexes[set] { return known }
        sets.append(set)
        indexes[set] = sets.count - 1
        return sets.count - 1
    }
}

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

/// A regular expression as the steps of an automaton. It is immutable and shared by all threads.
struct PatternProgram: Sendable {
    enum Step: Sendable, Equatable {
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
        hasStart = steps.contains(.assert(.start))
        hasLastEnd = steps.contains(.assert(.lastEnd))
        hasWords = steps.contains(.assert(.word)) || steps.contains(.assert(.notWord))
        hasLookahead = steps.contains { if case .ahead = $0 { true } else { false } }
    }
}

/// Literals that every matching text contains: at its start, at its end, and anywhere. With them `MATCHES[c]` for a
/// rare last word is 2.4 times as fast over names, and `MATCHES` for a rare word 6 times over texts of 700 bytes.
struct PatternLiterals: Sendable {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    let prefix: ByteSearch?
    let suffix: ByteSearch?
    let inner: ByteSearch?

    init(of tree: PatternNode) {
        let found = Requirements(of: tree)
        func search(_ literal: Literal) -> ByteSearch? {
            literal.bytes.isEmpty ? nil : ByteSearch(literal.lowered.bytes, foldsCase: literal.foldsCase)
        }
        prefix = search(found.prefix)
        suffix = search(found.suffix)
        let isCovered = [found.prefix, found.suffix].contains { $0.contains(found.inner) }
        inner = isCovered ? nil : search(found.inner)
    }

    var isEmpty: Bool { prefix == nil && suffix == nil && inner == nil }

    /// False if a literal is missing.
    func mayMatch(_ text: Bytes) -> Bool {
        if let prefix, !prefix.begin(text) { return false }
        if let suffix, !suffix.end(text) { return false }
        if let inner, inner.firstOffset(in: text) == nil { return false }
        return true
    }

    /// A literal; its ASCII letters may match either case.
    private struct Literal: Equatable {
        var bytes: [UInt8] = []
        var foldsCase = false

        static let limit = 256

        var lowered: Literal {
            Literal(bytes: foldsCase ? bytes.map(PredicateFolding.lowered) : bytes, foldsCase: foldsCase)
        }

        /// Ignores case if one of them does.
        static func + (a: Literal, b: Literal) -> Literal {
            Literal(bytes: a.bytes + b.bytes, foldsCase: a.foldsCase || b.foldsCase)
        }

        func contains(_ other: Literal) -> Bool {
            guard other.foldsCase || !foldsCase else { return false }
            let search = ByteSearch(other.lowered.bytes, foldsCase: other.foldsCase)
            return bytes.withUnsafeBufferPointer { search.firstOffset(in: $0) } != nil
        }

        /// The common prefix or suffix.
        func common(_ other: Literal, fromEnd: Bool) -> Literal {
            let folds = foldsCase || other.foldsCase
            let a = Literal(bytes: bytes, foldsCase: folds).lowered.bytes
            let b = Literal(bytes: other.bytes, foldsCase: folds).lowered.bytes
            let count =
                fromEnd
                ? zip(a.reversed(), b.reversed()).prefix { $0 == $1 }.count : zip(a, b).prefix { $0 == $1 }.count
            return Literal(bytes: Array(fromEnd ? a.suffix(count) : a.prefix(count)), foldsCase: folds)
        }
    }

    /// The literals that the texts of a part of an expression require.
    private struct Requirements {
        /// The only matching text, if there is only one.
        var exact: Literal?
        var prefix = Literal()
        var suffix = Literal()
        var inner = Literal()

        private init() {}

        private init(exact: Literal) {
            self.exact = exact
            (prefix, suffix, inner) = (exact, exact, exact)
        }

        init(of node: PatternNode) {
            switch node {
            case .empty, .assertion: self.init(exact: Literal())
            case .characters(let set):
                if let literal = Self.literal(of: set) { self.init(exact: literal) } else { self.init() }
            case .sequence(let nodes):
                self.init(exact: Literal())
                for node in nodes { append(Requirements(of: node)) }
            case .alternatives(let nodes):
                self.init(exact: Literal())
                for (index, node) in nodes.enumerated() {
                    if index == 0 { self = Requirements(of: node) } else { allow(Requirements(of: node)) }
                }
            case .repetition(let node, let least, let most):
                guard least > 0 else {
                    self.init()
                    return
                }
                let one = Requirements(of: node)
                self = one
                for _ in 0..<min(least, Literal.limit) - 1 { append(one) }
                if most != least || least > Literal.limit { exact = nil }
            case .ahead(let node, let isNegative):
                self.init(exact: Literal())
                if !isNegative { inner = Requirements(of: node).inner }
            }
        }

        private mutating func append(_ next: Requirements) {
            let joint = suffix + next.prefix
            inner = [inner, next.inner, joint].max { $0.bytes.count < $1.bytes.count } ?? joint
            if let exact { prefix = exact + next.prefix }
            suffix = next.exact.map { suffix + $0 } ?? next.suffix
            exact = if let exact, let last = next.exact { exact + last } else { nil }
            bound()
        }

        /// Weakens the requirements to those that both alternatives share.
        private mutating func allow(_ other: Requirements) {
            if exact != other.exact { exact = nil }
            prefix = prefix.common(other.prefix, fromEnd: false)
            suffix = suffix.common(other.suffix, fromEnd: true)
            if inner != other.inner { inner = prefix.bytes.count > suffix.bytes.count ? prefix : suffix }
        }

        private mutating func bound() {
            prefix.bytes.removeLast(max(prefix.bytes.count - Literal.limit, 0))
            suffix.bytes.removeFirst(max(suffix.bytes.count - Literal.limit, 0))
            inner.bytes.removeLast(max(inner.bytes.count - Literal.limit, 0))
            if let exact, exact.bytes.count > Literal.limit { self.exact = nil }
        }

        private static func literal(of set: PatternSet) -> Literal? {
            if let only = set.only { return Literal(bytes: Array(String(only).utf8)) }
            guard case .anyCase(let set) = set, let only = set.only else { return nil }
            switch PatternCase.variants(of: only).count {
            case 1: return Literal(bytes: Array(String(only).utf8))
            case 2 where only.isASCII: return Literal(bytes: Array(String(only).utf8), foldsCase: true)
            default: return nil
            }
        }
    }
}
