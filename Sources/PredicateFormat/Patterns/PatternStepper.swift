/// Takes a program's steps, following all ways at once: the time of a character is at most that of the program's length.
/// The steps of a lookahead are not taken here.
struct PatternStepper {
    /// Where the program has got to before a character, without order: `step << 3 | rest`. The last element has `Flags`.
    typealias Places = [UInt32]

    /// What has to be left of the text where a `$` that stands before a line end was passed.
    private enum Rest: UInt32 {
        case any, lineEnd, returnAndFeed, lineFeed, nothing

        /// What is left behind a character; nil when it must not stand here.
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
    /// The round in which a place was reached, so that nothing has to be cleared.
    private var reached: [UInt32]
    private var round: UInt32 = 0
    private var open: [UInt32] = []
    private var here: Places = []
    /// Steps followed so far: a measure of the work.
    private(set) var followed = 0

    init(_ program: PatternProgram) {
        self.program = program
        reached = [UInt32](repeating: 0, count: program.steps.count << (program.hasLastEnd ? 3 : 0))
    }

    /// The places before a text.
    mutating func start() -> Places {
        var places: Places = []
        nextRound()
        follow(0, .any, &places)
        places.append(program.hasStart ? Flags.start : 0)
        return places
    }

    /// Whether the text may end here.
    mutating func mayEnd(_ places: Places) -> Bool {
        var here = moved()
        defer { self.here = here }
        resolve(places, Int(PatternAlphabet.end), [], &here)
        return here.contains { place in
            guard case .match = program.steps[Int(place >> 3)] else { return false }
            return place & 7 == Rest.any.rawValue || place & 7 == Rest.nothing.rawValue
        }
    }

    /// The places behind a character of a class; only flags when there is none.
    mutating func step(_ places: Places, _ number: Int, _ alphabet: PatternAlphabet, into result: inout Places) {
        let facts = alphabet.facts[number]
        var here = moved()
        defer { self.here = here }
        resolve(places, number, facts, &here)
        result.removeAll(keepingCapacity: true)
        nextRound()
        for place in here {
            guard case .one(let set) = program.steps[Int(place >> 3)], alphabet.takes(number, set),
                let rest = Rest(rawValue: place & 7)?.after(facts)
            else { continue }
            follow((place >> 3) + 1, rest, &result)
        }
        var flags = (places.last ?? 0) & Flags.afterWord
        if program.hasWords, !facts.contains(.combining) { flags = facts.contains(.word) ? Flags.afterWord : 0 }
        result.append(flags)
    }

    /// The places with the assertions followed that hold before a character.
    private mutating func resolve(
        _ places: Places, _ number: Int, _ facts: PatternAlphabet.Facts, _ result: inout Places
    ) {
        let flags = places.last ?? 0
        result.removeAll(keepingCapacity: true)
        nextRound()
        for place in places.dropLast() {
            guard let rest = Rest(rawValue: place & 7) else { continue }
            follow(place >> 3, rest, &result, before: number, facts, flags)
        }
    }

    /// The list of places before a character, taken out of here so that it can be filled.
    private mutating func moved() -> Places {
        var places: Places = []
        swap(&places, &here)
        return places
    }

    private mutating func nextRound() {
        round &+= 1
        guard round == 0 else { return }
        for index in reached.indices { reached[index] = 0 }
        round = 1
    }

    /// Adds the places that are reached from a step without reading. An assertion is a place of its own as long as the
    /// character behind it is not known.
    private mutating func follow(
        _ step: UInt32, _ rest: Rest, _ places: inout Places, before number: Int? = nil,
        _ facts: PatternAlphabet.Facts = [], _ flags: UInt32 = 0
    ) {
        open.append(step << 3 | rest.rawValue)
        while let place = open.popLast() {
            followed += 1
            let index = program.hasLastEnd ? Int(place) : Int(place >> 3)
            guard reached[index] != round else { continue }
            reached[index] = round
            let rest = place & 7
            switch program.steps[Int(place >> 3)] {
            case .one, .match: places.append(place)
            case .jump(let target): open.append(UInt32(target) << 3 | rest)
            case .split(let a, let b):
                open.append(UInt32(b) << 3 | rest)
                open.append(UInt32(a) << 3 | rest)
            case .ahead: break
            case .assert(.lastEnd):
                guard let number else {
                    places.append(place)
                    continue
                }
                let after = (place >> 3) + 1
                if number == Int(PatternAlphabet.end) || rest != Rest.any.rawValue {
                    open.append(after << 3 | rest)
                } else {
                    if facts.contains(.lineEnd) { open.append(after << 3 | Rest.lineEnd.rawValue) }
                    if facts.contains(.carriageReturn) { open.append(after << 3 | Rest.returnAndFeed.rawValue) }
                }
            case .assert(let assertion):
                if let number {
                    if holds(assertion, number, facts, flags) { open.append(place + 8) }
                } else {
                    places.append(place)
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
