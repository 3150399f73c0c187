import PropertyList

/// Matches texts with one program.
///
/// It searches the required literals first. Then it runs the deterministic automaton, whose states are built lazily in
/// a bounded cache. If the cache is cleared too often for the bytes read, it steps the nondeterministic automaton for a
/// while. The time is linear in the text's length in both cases.
final class PatternRun {
    typealias Bytes = UnsafeBufferPointer<UInt8>
    private typealias Verdict = PatternAutomaton.Verdict

    private let program: PatternProgram
    private var alphabet: PatternAlphabet
    private var stepper: PatternStepper
    private var automaton: PatternAutomaton
    private var lookahead: PatternLookahead?
    private let start: PatternStepper.StateSet
    /// The row of the first state; nil while it is not in the cache.
    private var startRow: UInt32?
    private var next: PatternStepper.StateSet = []
    /// Bytes read since the cache was cleared.
    private var bytesRead = 0
    /// Bytes left to step before states are built again.
    private var bytesToStep = 0
    private(set) var clearings = 0

    /// A state must be used for at least this many bytes to pay for its construction.
    private static let bytesOfState = 10
    private static let steppedBytes = 1 << 16
    /// Bytes and steps between two checks for an interruption.
    private static let pace = 1 << 14
    private var followedAtPace = 0

    /// `memory` is the approximate limit of the states, in bytes.
    init(_ program: PatternProgram, memory: Int) {
        self.program = program
        alphabet = PatternAlphabet(program)
        stepper = PatternStepper(program)
        automaton = PatternAutomaton(memory: memory)
        var start = stepper.start()
        start[..<(start.count - 1)].sort()
        self.start = start
        if program.hasLookahead { lookahead = PatternLookahead(program) }
    }

    /// The number of steps followed, which tests compare with a bound.
    var followed: Int { stepper.followed + (lookahead?.followed ?? 0) }

    /// Whether the whole text matches; for a negative program, whether it does not.
    func accepts(_ text: Bytes) -> Bool {
        (program.literals.mayMatch(text) && matches(text)) != program.isNegative
    }

    private func matches(_ text: Bytes) -> Bool {
        if lookahead != nil { return lookahead?.matches(text, &alphabet) ?? false }
        if bytesToStep > 0 {
            bytesToStep = max(bytesToStep - text.count - 1, 0)
            return step(text, from: 0, start)
        }
        return run(text)
    }

    private func run(_ text: Bytes) -> Bool {
        var row = startRow ?? makeRow(start)
        startRow = row
        var offset = 0
        while true {
            let from = offset
            let verdict = scan(text, &offset, &row)
            bytesRead += offset - from
            switch verdict {
            case Verdict.matches: return true
            case Verdict.fails: return false
            case Verdict.unknown:
                if isStopped { return false }
                let states = automaton.states(row)
                guard let next = follow(text, offset, &row) else { return step(text, from: offset, states) }
                if next < Verdict.rows { return next == Verdict.matches }
                row = next
                offset += PatternText.anyScalar(text, offset).length
            default:
                if Interruption.isDue { return false }
            }
        }
    }

    /// Follows known transitions to a verdict, or for `pace` bytes at most to a row.
    private func scan(_ text: Bytes, _ offset: inout Int, _ row: inout UInt32) -> UInt32 {
        let last = min(text.count, offset + Self.pace)
        var (at, current) = (offset, row)
        defer { (offset, row) = (at, current) }
        return automaton.table.withUnsafeBufferPointer { table in
            alphabet.pages.withUnsafeBufferPointer { pages in
                while at < last {
                    let byte = text[at]
                    var number = Int(pages[Int(byte & 0x7F)])
                    var length = 1
                    if byte >= 0x80 {
                        let scalar = PatternText.scalar(text, at)
                        number = Int(alphabet.known(scalar.value))
                        length = scalar.length
                    }
                    let next = table[Int(current) + number]
                    if next < Verdict.rows { return next }
                    current = next
                    at += length
                }
                return at >= text.count ? table[Int(current) + Int(PatternAlphabet.end)] : current
            }
        }
    }

    /// Adds the transition from a row for the character at an offset, or for the text's end. The row changes when the
    /// cache is cleared. Nil when states do not pay.
    private func follow(_ text: Bytes, _ offset: Int, _ row: inout UInt32) -> UInt32? {
        let states = automaton.states(row)
        guard offset < text.count else {
            let verdict = stepper.mayEnd(states) ? Verdict.matches : Verdict.fails
            automaton.set(row, PatternAlphabet.end, verdict)
            return verdict
        }
        let scalar = PatternText.anyScalar(text, offset).value
        guard let number = number(of: scalar) else { return nil }
        if !automaton.holds(classes: alphabet.count) {
            forget()
            row = makeRow(states)
        }
        stepper.step(states, Int(number), alphabet, into: &next)
        if next.count == 1 {
            automaton.set(row, number, Verdict.fails)
            return Verdict.fails
        }
        next[..<(next.count - 1)].sort()
        if let target = automaton.row(next) {
            automaton.set(row, number, target)
            return target
        }
        return clear() ? makeRow(next) : nil
    }

    /// The row of a state, added if it is new. An empty cache has room for one.
    private func makeRow(_ states: PatternStepper.StateSet) -> UInt32 {
        if let row = automaton.row(states) { return row }
        forget()
        return automaton.row(states) ?? 0
    }

    /// A character's class; nil when the alphabet was full and was cleared together with the states.
    private func number(of scalar: UInt32) -> UInt16? {
        if let number = alphabet.number(of: scalar) { return number }
        alphabet.clear()
        forget()
        return nil
    }

    /// Clears the states; false when there were too many for the bytes read.
    private func clear() -> Bool {
        let pays = bytesRead >= Self.bytesOfState * automaton.count
        forget()
        if !pays { bytesToStep = Self.steppedBytes }
        return pays
    }

    private func forget() {
        automaton.clear(classes: alphabet.count)
        startRow = nil
        bytesRead = 0
        clearings += 1
    }

    /// Whether the match is interrupted, checked after some work.
    private var isStopped: Bool {
        guard stepper.followed - followedAtPace > Self.pace else { return false }
        followedAtPace = stepper.followed
        return Interruption.isDue
    }

    /// Matches the text from an offset on by stepping.
    private func step(_ text: Bytes, from: Int, _ states: PatternStepper.StateSet) -> Bool {
        var (states, offset) = (states, from)
        while offset < text.count {
            if isStopped { return false }
            let (scalar, length) = PatternText.anyScalar(text, offset)
            guard let number = number(of: scalar) ?? number(of: scalar) else { return false }
            stepper.step(states, Int(number), alphabet, into: &next)
            if next.count == 1 { return false }
            swap(&states, &next)
            offset += length
        }
        return stepper.mayEnd(states)
    }
}

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

/// A lazily built deterministic automaton: its states and transitions so far, in bounded memory.
///
/// A state is a set of states of the nondeterministic automaton, and a row of the table.
struct PatternAutomaton {
    /// Table values that are not rows.
    enum Verdict {
        static let unknown: UInt32 = 0
        static let fails: UInt32 = 1
        static let matches: UInt32 = 2
        /// The first value that is a row.
        static let rows: UInt32 = 4
    }

    /// Each state's transitions by character class. A row number is the index of its first element.
    private(set) var table: [UInt32] = []
    private var stride: Int
    private var stateSets: [PatternStepper.StateSet] = []
    private var rows: [PatternStepper.StateSet: UInt32] = [:]
    private var size = 0
    private let memory: Int

    var count: Int { stateSets.count }

    /// `memory` is the approximate limit of the states, in bytes.
    init(memory: Int) {
        self.memory = memory
        stride = 16
        clear(classes: 0)
    }

    /// Removes all states. New rows have at least `classes` elements.
    mutating func clear(classes: Int) {
        while stride < classes { stride *= 2 }
        table = [UInt32](repeating: Verdict.unknown, count: stride)
        stateSets = []
        rows = [:]
        size = 0
    }

    func holds(classes: Int) -> Bool { classes <= stride }

    func states(_ row: UInt32) -> PatternStepper.StateSet { stateSets[Int(row) / stride - 1] }

    /// The row of a state, added if it is new; nil when the memory is full.
    mutating func row(_ states: PatternStepper.StateSet) -> UInt32? {
        if let known = rows[states] { return known }
        let cost = 4 * stride + 4 * states.count + 96
        guard size + cost <= memory || stateSets.isEmpty else { return nil }
        size += cost
        let row = UInt32(table.count)
        table.append(contentsOf: repeatElement(Verdict.unknown, count: stride))
        stateSets.append(states)
        rows[states] = row
        return row
    }

    mutating func set(_ row: UInt32, _ number: UInt16, _ next: UInt32) { table[Int(row) + Int(number)] = next }
}
