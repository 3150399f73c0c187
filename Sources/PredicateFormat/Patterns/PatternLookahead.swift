import PropertyList

/// Matches texts with a program that has lookaheads, backwards: for each offset, from the text's end to its start, it
/// computes the steps from which the rest of the text matches. Each lookahead is decided once for an offset, so that
/// the time is linear in the text's length.
struct PatternLookahead {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// Steps followed between two checks for an interruption.
    private static let pace = 1 << 16

    private let program: PatternProgram
    /// The steps of each lookahead's expression, inner ones before outer ones; last the whole program.
    private let ranges: [Range<Int>]
    /// For each step the index of its range.
    private let owners: [Int]
    /// Whether the rest of the text matches from a step, after and before the character at an offset.
    private var after: [Bool]
    private var here: [Bool]
    private var classes: [UInt16] = []
    private var wordsBefore: [Bool] = []
    /// The number of steps followed, which tests compare with a bound.
    private(set) var followed = 0

    init(_ program: PatternProgram) {
        self.program = program
        let count = program.steps.count
        var ranges: [Range<Int>] = []
        for (index, step) in program.steps.enumerated() {
            if case .ahead(_, let next) = step { ranges.append(index + 1..<next) }
        }
        // An inner lookahead begins after its outer one.
        ranges.reverse()
        ranges.append(0..<count)
        var owners = [Int](repeating: ranges.count - 1, count: count)
        for (number, range) in ranges.enumerated().reversed() {
            for step in range { owners[step] = number }
        }
        (self.ranges, self.owners) = (ranges, owners)
        after = [Bool](repeating: false, count: count)
        here = after
    }

    mutating func matches(_ text: Bytes, _ alphabet: inout PatternAlphabet) -> Bool {
        guard classify(text, &alphabet) else { return false }
        for index in after.indices { after[index] = false }
        var offset = classes.count
        var pause = followed + Self.pace
        while true {
            resolve(offset, alphabet)
            if offset == 0 { return here[0] }
            swap(&here, &after)
            offset -= 1
            guard followed > pause else { continue }
            if Interruption.isDue { return false }
            pause = followed + Self.pace
        }
    }

    /// Computes the classes of the text's characters, and whether each follows a word character.
    private mutating func classify(_ text: Bytes, _ alphabet: inout PatternAlphabet) -> Bool {
        var isCleared = false
        restart: while true {
            classes.removeAll(keepingCapacity: true)
            wordsBefore.removeAll(keepingCapacity: true)
            var (offset, isWord) = (0, false)
            while offset < text.count {
                let (scalar, length) = PatternText.anyScalar(text, offset)
                guard let number = alphabet.number(of: scalar) else {
                    if isCleared { return false }
                    alphabet.clear()
                    isCleared = true
                    continue restart
                }
                classes.append(number)
                wordsBefore.append(isWord)
                let facts = alphabet.facts[Int(number)]
                if !facts.contains(.combining) { isWord = facts.contains(.word) }
                offset += length
            }
            wordsBefore.append(isWord)
            return true
        }
    }

    /// Computes the steps from which the rest matches at an offset.
    private mutating func resolve(_ offset: Int, _ alphabet: PatternAlphabet) {
        for index in here.indices { here[index] = false }
        let isEnd = offset == classes.count
        for (number, range) in ranges.enumerated() {
            let isLookahead = number < ranges.count - 1
            var isStable = false
            // A loop jumps back to a step that is resolved later in the round, so another round follows.
            while !isStable {
                isStable = true
                for step in range.reversed() where owners[step] == number && !here[step] {
                    followed += 1
                    let holds =
                        switch program.steps[step] {
                        case .one(let set):
                            !isEnd && after[step + 1] && alphabet.takes(Int(classes[offset]), set)
                        case .split(let a, let b): here[a] || here[b]
                        case .jump(let target): here[target]
                        case .assert(let assertion): here[step + 1] && self.holds(assertion, offset, alphabet)
                        case .ahead(let isNegative, let next): here[step + 1] != isNegative && here[next]
                        case .match: isLookahead || isEnd
                        }
                    guard holds else { continue }
                    here[step] = true
                    if isLoop(step) { isStable = false }
                }
            }
        }
    }

    private func isLoop(_ step: Int) -> Bool {
        guard case .split(_, let exit) = program.steps[step], case .jump(step) = program.steps[exit - 1] else {
            return false
        }
        return true
    }

    private func holds(_ assertion: PatternAssertion, _ offset: Int, _ alphabet: PatternAlphabet) -> Bool {
        let left = classes.count - offset
        func facts(_ offset: Int) -> PatternAlphabet.Facts { alphabet.facts[Int(classes[offset])] }
        switch assertion {
        case .start: return offset == 0
        case .end: return left == 0
        case .lastEnd:
            return left == 0 || left == 1 && facts(offset).contains(.lineEnd)
                || left == 2 && facts(offset).contains(.carriageReturn) && facts(offset + 1).contains(.lineFeed)
        case .word, .notWord:
            let here = left == 0 ? [] : facts(offset)
            let isBoundary = !here.contains(.combining) && here.contains(.word) != wordsBefore[offset]
            return isBoundary == (assertion == .word)
        }
    }
}
