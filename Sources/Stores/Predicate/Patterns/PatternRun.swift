import PropertyList

/// Matches texts with one program, and remembers the states that they need.
///
/// First the literals are searched that a match must contain; the rest is done by an automaton whose states are made when
/// they are first needed. Full memory is cleared. When that happens too often for the bytes read, the program's steps are
/// taken singly for a while. In each case the time is linear in the text's length.
final class PatternRun {
    typealias Bytes = UnsafeBufferPointer<UInt8>
    private typealias Verdict = PatternAutomaton.Verdict

    private let program: PatternProgram
    private var alphabet: PatternAlphabet
    private var stepper: PatternStepper
    private var automaton: PatternAutomaton
    private var lookahead: PatternLookahead?
    private let start: PatternStepper.Places
    /// The row of the first state while it has one.
    private var startRow: UInt32?
    private var next: PatternStepper.Places = []
    /// Bytes read since the states were cleared.
    private var bytesRead = 0
    /// Bytes to read by single steps before states are made again.
    private var bytesToStep = 0
    private(set) var clearings = 0

    /// A state for fewer bytes than this does not pay.
    private static let bytesOfState = 10
    private static let steppedBytes = 1 << 16
    /// Bytes, and steps of the program, after which a match asks whether it has to stop.
    private static let pace = 1 << 14
    private var followedAtPace = 0

    /// `memory` is about how many bytes the states may take.
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

    /// Steps of the program followed so far: a measure of the work.
    var followed: Int { stepper.followed + (lookahead?.followed ?? 0) }

    /// Whether the whole text is one that the program takes.
    func accepts(_ text: Bytes) -> Bool {
        (program.literals.mayMatch(text) && matches(text)) != program.isNegative
    }

    private func matches(_ text: Bytes) -> Bool {
        if lookahead != nil { return lookahead?.matches(text, &alphabet) ?? false }
        if bytesToStep > 0 {
            bytesToStep = max(bytesToStep - text.count - 1, 0)
            return takeSteps(text, from: 0, start)
        }
        return run(text)
    }

    private func run(_ text: Bytes) -> Bool {
        var state = startRow ?? row(start)
        startRow = state
        var place = 0
        while true {
            let from = place
            let verdict = scan(text, &place, &state)
            bytesRead += place - from
            switch verdict {
            case Verdict.matches: return true
            case Verdict.fails: return false
            case Verdict.unknown:
                if isStopped { return false }
                let places = automaton.places(state)
                guard let next = follow(text, place, &state) else { return takeSteps(text, from: place, places) }
                if next < Verdict.rows { return next == Verdict.matches }
                state = next
                place += PatternText.anyScalar(text, place).length
            default:
                if Interruption.isDue { return false }
            }
        }
    }

    /// Follows known transitions, for some thousand bytes at most: to a verdict, or to a state.
    private func scan(_ text: Bytes, _ place: inout Int, _ state: inout UInt32) -> UInt32 {
        let last = min(text.count, place + Self.pace)
        var (at, row) = (place, state)
        defer { (place, state) = (at, row) }
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
                    let next = table[Int(row) + number]
                    if next < Verdict.rows { return next }
                    row = next
                    at += length
                }
                return at >= text.count ? table[Int(row) + Int(PatternAlphabet.end)] : row
            }
        }
    }

    /// Makes the transition of a state for the character at a place, or for the text's end. The state may get another
    /// row. Nil when states do not pay.
    private func follow(_ text: Bytes, _ place: Int, _ state: inout UInt32) -> UInt32? {
        let places = automaton.places(state)
        guard place < text.count else {
            let verdict = stepper.mayEnd(places) ? Verdict.matches : Verdict.fails
            automaton.set(state, PatternAlphabet.end, verdict)
            return verdict
        }
        let scalar = PatternText.anyScalar(text, place).value
        guard let number = number(of: scalar) else { return nil }
        if !automaton.holds(classes: alphabet.count) {
            forget()
            state = row(places)
        }
        stepper.step(places, Int(number), alphabet, into: &next)
        if next.count == 1 {
            automaton.set(state, number, Verdict.fails)
            return Verdict.fails
        }
        next[..<(next.count - 1)].sort()
        if let row = automaton.row(next) {
            automaton.set(state, number, row)
            return row
        }
        return clear() ? row(next) : nil
    }

    /// A state's row, for which there is always place after a clearing.
    private func row(_ places: PatternStepper.Places) -> UInt32 {
        if let row = automaton.row(places) { return row }
        forget()
        return automaton.row(places) ?? 0
    }

    /// A character's class; nil when the alphabet had to begin anew, and with it the states.
    private func number(of scalar: UInt32) -> UInt16? {
        if let number = alphabet.number(of: scalar) { return number }
        alphabet.clear()
        forget()
        return nil
    }

    /// Clears the states; false when there were too many of them for the bytes read.
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

    /// Whether whoever asked for the match wants no more of it, asked after some work.
    private var isStopped: Bool {
        guard stepper.followed - followedAtPace > Self.pace else { return false }
        followedAtPace = stepper.followed
        return Interruption.isDue
    }

    // MARK: By single steps

    private func takeSteps(_ text: Bytes, from: Int, _ places: PatternStepper.Places) -> Bool {
        var (places, place) = (places, from)
        while place < text.count {
            if isStopped { return false }
            let (scalar, length) = PatternText.anyScalar(text, place)
            guard let number = number(of: scalar) ?? number(of: scalar) else { return false }
            stepper.step(places, Int(number), alphabet, into: &next)
            if next.count == 1 { return false }
            swap(&places, &next)
            place += length
        }
        return stepper.mayEnd(places)
    }
}
