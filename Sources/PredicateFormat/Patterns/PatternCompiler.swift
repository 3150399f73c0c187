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
