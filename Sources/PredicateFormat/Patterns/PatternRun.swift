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
