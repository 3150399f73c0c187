/// Steps the nondeterministic automaton of a program with all its states at once: a character takes at most time
/// proportional to the program's length. Programs with lookaheads belong to `PatternLookahead`.
struct PatternStepper {
    /// States before a character, in any order: `step << 3 | rest`. The last element is `Flags`.
    typealias StateSet = [UInt32]

    /// The text required after `$` has matched before a line end.
    private enum Rest: UInt32 {
        case any, lineEnd, returnAndFeed, lineFeed, nothing

        /// The requirement after a character; nil when the character violates it.
        func after(_ facts: PatternAlphabet.Facts) -> Rest? {
            switch self {
            case .any: .any
            case .lineEnd: facts.contains(.lineEnd) ? .nothing : nil
            case .returnAndFeed: facts.contains(.carriageReturn) ? .lineFeed : nil
            case .lineFeed: facts.contains(.lineFeed) ? .nothing : nil
            case .nothing: nil
            }
        }
    }

    private enum Flags {
        static let start: UInt32 = 1
        static let afterWord: UInt32 = 2
    }

    private let program: PatternProgram
    /// The last round in which each state was reached. A new round empties the set without clearing it.
    private var reached: [UInt32]
    private var round: UInt32 = 0
    private var open: [UInt32] = []
    private var here: StateSet = []
    /// The number of steps followed, which tests compare with a bound.
    private(set) var followed = 0

    init(_ program: PatternProgram) {
        self.program = program
        reached = [UInt32](repeating: 0, count: program.steps.count << (program.hasLastEnd ? 3 : 0))
    }

    /// The states before a text.
    mutating func start() -> StateSet {
        var states: StateSet = []
        nextRound()
        follow(0, .any, &states)
        states.append(program.hasStart ? Flags.start : 0)
        return states
    }

    /// Whether the text may end here.
    mutating func mayEnd(_ states: StateSet) -> Bool {
        var here = moved()
        defer { self.here = here }
        resolve(states, Int(PatternAlphabet.end), [], &here)
        return here.contains { state in
            guard case .match = program.steps[Int(state >> 3)] else { return false }
            return state & 7 == Rest.any.rawValue || state & 7 == Rest.nothing.rawValue
        }
    }

    /// The states after a character of a class; only flags when there are none.
    mutating func step(_ states: StateSet, _ number: Int, _ alphabet: PatternAlphabet, into result: inout StateSet) {
        let facts = alphabet.facts[number]
        var here = moved()
        defer { self.here = here }
        resolve(states, number, facts, &here)
        result.removeAll(keepingCapacity: true)
        nextRound()
        for state in here {
            guard case .one(let set) = program.steps[Int(state >> 3)], alphabet.takes(number, set),
                let rest = Rest(rawValue: state & 7)?.after(facts)
            else { continue }
            follow((state >> 3) + 1, rest, &result)
        }
        var flags = (states.last ?? 0) & Flags.afterWord
        if program.hasWords, !facts.contains(.combining) { flags = facts.contains(.word) ? Flags.afterWord : 0 }
        result.append(flags)
    }

    /// Adds the states, and those after assertions that hold before a character.
    private mutating func resolve(
        _ states: StateSet, _ number: Int, _ facts: PatternAlphabet.Facts, _ result: inout StateSet
    ) {
        let flags = states.last ?? 0
        result.removeAll(keepingCapacity: true)
        nextRound()
        for state in states.dropLast() {
            guard let rest = Rest(rawValue: state & 7) else { continue }
            follow(state >> 3, rest, &result, before: number, facts, flags)
        }
    }

    /// Moves `here` out so that a mutating method can fill it.
    private mutating func moved() -> StateSet {
        var states: StateSet = []
        swap(&states, &here)
        return states
    }

    private mutating func nextRound() {
        round &+= 1
        guard round == 0 else { return }
        for index in reached.indices { reached[index] = 0 }
        round = 1
    }

    /// Adds the epsilon closure of a step. An assertion remains a state until the next character is known.
    private mutating func follow(
        _ step: UInt32, _ rest: Rest, _ states: inout StateSet, before number: Int? = nil,
        _ facts: PatternAlphabet.Facts = [], _ flags: UInt32 = 0
    ) {
        open.append(step << 3 | rest.rawValue)
        while let state = open.popLast() {
            followed += 1
            let index = program.hasLastEnd ? Int(state) : Int(state >> 3)
            guard reached[index] != round else { continue }
            reached[index] = round
            let rest = state & 7
            switch program.steps[Int(state >> 3)] {
            case .one, .match: states.append(state)
            case .jump(let target): open.append(UInt32(target) << 3 | rest)
            case .split(let a, let b):
                open.append(UInt32(b) << 3 | rest)
                open.append(UInt32(a) << 3 | rest)
            case .ahead: break
            case .assert(.lastEnd):
                guard let number else {
                    states.append(state)
                    continue
                }
                let after = (state >> 3) + 1
                if number == Int(PatternAlphabet.end) || rest != Rest.any.rawValue {
                    open.append(after << 3 | rest)
                } else {
                    if facts.contains(.lineEnd) { open.append(after << 3 | Rest.lineEnd.rawValue) }
                    if facts.contains(.carriageReturn) { open.append(after << 3 | Rest.returnAndFeed.rawValue) }
                }
            case .assert(let assertion):
                if let number {
                    if holds(assertion, number, facts, flags) { open.append(state + 8) }
                } else {
                    states.append(state)
                }
            }
        }
    }

    private func holds(
        _ assertion: PatternAssertion, _ number: Int, _ facts: PatternAlphabet.Facts, _ flags: UInt32
    ) -> Bool {
        switch assertion {
        case .start: return flags & Flags.start != 0
        case .end, .lastEnd: return number == Int(PatternAlphabet.end)
        case .word, .notWord:
            let isBoundary = !facts.contains(.combining) && facts.contains(.word) != (flags & Flags.afterWord != 0)
            return isBoundary == (assertion == .word)
        }
    }
}
