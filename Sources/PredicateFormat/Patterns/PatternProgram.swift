import PropertyList

/// A regular expression as steps of an automaton, which follows all ways at once: the time is that of the text's length by
/// the steps' number, whatever the expression. Only lookaheads add their own for each place where they are asked.
struct PatternProgram {
    enum Step {
        /// A character that the test at this index takes.
        case one(Int)
        case split(Int, Int)
        case jump(Int)
        case assert(Assertion)
        /// What follows has to match (or must not), from the step after this one; the expression goes on at `next`.
        case ahead(isNegative: Bool, next: Int)
        case match
    }

    enum Assertion { case start, end, lastEnd, word, notWord }

    var steps: [Step] = []
    var tests: [PatternTest] = []

    /// Whether the whole text matches.
    mutating func matches(_ text: [Unicode.Scalar]) -> Bool { run(text, from: 0, step: 0, toEnd: true) }

    private mutating func run(_ text: [Unicode.Scalar], from start: Int, step: Int, toEnd: Bool) -> Bool {
        var now = Places(count: steps.count)
        var next = Places(count: steps.count)
        var isMatch = follow(step, at: start, in: text, &now)
        var position = start
        while true {
            if isMatch, !toEnd || position == text.count { return true }
            guard position < text.count, !now.list.isEmpty else { return false }
            // Whoever asked for the match asks once more whether it has to stop.
            if position & 0xFFF == 0xFFF, Interruption.isDue { return false }
            let scalar = text[position]
            next.clear()
            isMatch = false
            for place in now.list {
                guard case .one(let test) = steps[place], tests[test].takes(scalar) else { continue }
                if follow(place + 1, at: position + 1, in: text, &next) { isMatch = true }
            }
            swap(&now, &next)
            position += 1
        }
    }

    /// Adds the characters' steps that are reached from one without reading; true when the end is among them.
    private mutating func follow(_ step: Int, at position: Int, in text: [Unicode.Scalar], _ places: inout Places)
        -> Bool
    {
        var isMatch = false
        var open = [step]
        while let step = open.popLast() {
            guard places.insert(step) else { continue }
            switch steps[step] {
            case .one: places.list.append(step)
            case .jump(let target): open.append(target)
            case .split(let a, let b): open += [b, a]
            case .assert(let assertion): if holds(assertion, at: position, in: text) { open.append(step + 1) }
            case .ahead(let isNegative, let next):
                if run(text, from: position, step: step + 1, toEnd: false) != isNegative { open.append(next) }
            case .match: isMatch = true
            }
        }
        return isMatch
    }

    private func holds(_ assertion: Assertion, at position: Int, in text: [Unicode.Scalar]) -> Bool {
        switch assertion {
        case .start: position == 0
        case .end: position == text.count
        case .lastEnd:
            position == text.count || text[position...].elementsEqual(["\r", "\n"])
                || (position == text.count - 1 && Self.lineEnds.contains(text[position].value))
        case .word: isWordBoundary(position, in: text)
        case .notWord: !isWordBoundary(position, in: text)
        }
    }

    private static let lineEnds: Set<UInt32> = [0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029]

    /// As ICU has it: what combines with the character before it is a part of that.
    private func isWordBoundary(_ position: Int, in text: [Unicode.Scalar]) -> Bool {
        let isHere = position < text.count && Self.isWord(text[position])
        guard position == text.count || !Self.combines(text[position]) else { return false }
        let before = text[..<position].last { !Self.combines($0) }
        return isHere != (before.map(Self.isWord) ?? false)
    }

    private static func combines(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isGraphemeExtend || scalar.properties.generalCategory == .format
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        return properties.isAlphabetic || properties.numericType == .decimal
            || properties.generalCategory == .connectorPunctuation
    }

    /// The steps that one place of the text has reached.
    private struct Places {
        var list: [Int] = []
        private var seen: [UInt32]
        private var round: UInt32 = 1

        init(count: Int) { seen = [UInt32](repeating: 0, count: count) }

        mutating func insert(_ step: Int) -> Bool {
            guard seen[step] != round else { return false }
            seen[step] = round
            return true
        }

        mutating func clear() {
            list.removeAll(keepingCapacity: true)
            round &+= 1
        }
    }
}
