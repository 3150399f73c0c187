/// Parses a regular expression whose syntax the standard library has checked.
struct PatternParser {
    let text: [Unicode.Scalar]
    var position = 0
    /// The flags in force.
    var ignoresCase: Bool
    private var dotTakesLineEnds = false

    static let countLimit = 20_000

    static func parse(_ text: String, ignoringCase: Bool) throws(PredicatePattern.Failure) -> PatternNode {
        var parser = PatternParser(text: Array(text.unicodeScalars), ignoresCase: ignoringCase)
        let node = try parser.alternatives()
        guard parser.position == parser.text.count else { throw .init(reason: "')' without its '('") }
        return node
    }

    private init(text: [Unicode.Scalar], ignoresCase: Bool) {
        self.text = text
        self.ignoresCase = ignoresCase
    }

    // MARK: Reading

    var next: Unicode.Scalar? { position < text.count ? text[position] : nil }

    mutating func take(_ expected: String) -> Bool {
        let scalars = expected.unicodeScalars
        guard text[position...].starts(with: scalars) else { return false }
        position += scalars.count
        return true
    }

    /// Skips to the position after a character.
    mutating func skip(past end: Unicode.Scalar) {
        while let scalar = next {
            position += 1
            if scalar == end { return }
        }
    }

    private func refusal(_ what: String) -> PredicatePattern.Failure {
        .init(reason: "\(what) are not taken: matching them can take time without end")
    }

    // MARK: Structure

    private mutating func alternatives() throws(PredicatePattern.Failure) -> PatternNode {
        let flags = (ignoresCase, dotTakesLineEnds)
        defer { (ignoresCase, dotTakesLineEnds) = flags }
        var alternatives: [PatternNode] = []
        repeat {
            var nodes: [PatternNode] = []
            while let scalar = next, scalar != "|", scalar != ")" { nodes.append(try quantified()) }
            alternatives.append(.joined(nodes))
        } while take("|")
        return .alternatives(alternatives)
    }

    private mutating func quantified() throws(PredicatePattern.Failure) -> PatternNode {
        let node = try atom()
        guard let (least, most) = quantifier() else { return node }
        if take("+") { throw refusal("possessive quantifiers") }
        _ = take("?")  // A lazy quantifier matches the same whole texts.
        if case .empty = node { return node }
        return .repetition(node, least: least, most: most)
    }

    /// Parses the quantifier after an atom; nil when there is none.
    private mutating func quantifier() -> (least: Int, most: Int?)? {
        if take("*") { return (0, nil) }
        if take("+") { return (1, nil) }
        if take("?") { return (0, 1) }
        let start = position
        guard take("{") else { return nil }
        let least = number()
        var most = least
        if take(",") { most = number() }
        guard take("}"), least != nil || most != nil else {
            position = start
            return nil
        }
        return (least ?? 0, most)
    }

    private mutating func number() -> Int? {
        var value: Int?
        while let digit = next?.value, (0x30...0x39).contains(digit) {
            value = min((value ?? 0) * 10 + Int(digit - 0x30), Self.countLimit)
            position += 1
        }
        return value
    }

    // MARK: Atoms

    private mutating func atom() throws(PredicatePattern.Failure) -> PatternNode {
        guard let scalar = next else { return .empty }
        switch scalar {
        case "(":
            position += 1
            return try group()
        case "[": return .characters(try bracketed())
        case "\\": return try escape()
        case ".":
            position += 1
            return .characters(dotTakesLineEnds ? .any : .inverted(.lineEnd))
        case "^":
            position += 1
            return .assertion(.start)
        case "$":
            position += 1
            return .assertion(.lastEnd)
        default:
            position += 1
            return literal(scalar)
        }
    }

    private func literal(_ scalar: Unicode.Scalar) -> PatternNode {
        .characters(ignoresCase ? .anyCase(.scalar(scalar)) : .scalar(scalar))
    }

    private mutating func group() throws(PredicatePattern.Failure) -> PatternNode {
        if take("?#") {
            skip(past: ")")
            return .empty
        }
        if take("?<=") || take("?<!") { throw refusal("lookbehinds") }
        if take("?>") { throw refusal("atomic groups") }
        let outer = (ignoresCase, dotTakesLineEnds)
        var isNegative: Bool?
        if take("?=") {
            isNegative = false
        } else if take("?!") {
            isNegative = true
        } else if take("?<") || take("?P<") {
            skip(past: ">")
        } else if !take("?:"), take("?") {
            guard try flags() else { return .empty }
        }
        let node = try alternatives()
        (ignoresCase, dotTakesLineEnds) = outer
        guard take(")") else { throw .init(reason: "expected ')'") }
        return if let isNegative { .ahead(node, isNegative: isNegative) } else { node }
    }

    /// Parses flags; false for `(?i)`, which applies until the end of the group, true for `(?i:…)`.
    private mutating func flags() throws(PredicatePattern.Failure) -> Bool {
        var isOn = true
        while let flag = next {
            position += 1
            switch flag {
            case "i": ignoresCase = isOn
            case "s": dotTakesLineEnds = isOn
            case "-": isOn = false
            case ")": return false
            case ":": return true
            default: throw .init(reason: "the flag '\(flag)' is not known: i and s are")
            }
        }
        return false
    }

    /// Parses an escape, from its backslash.
    private mutating func escape() throws(PredicatePattern.Failure) -> PatternNode {
        let start = position
        position += 1
        guard let scalar = next else { return .empty }
        position += 1
        switch scalar {
        case "1"..."9", "k", "g": throw refusal("back-references")
        case "A": return .assertion(.start)
        case "z": return .assertion(.end)
        case "Z": return .assertion(.lastEnd)
        case "b": return .assertion(.word)
        case "B": return .assertion(.notWord)
        case "G", "K", "R", "X": throw .init(reason: "\\\(scalar) is not taken")
        case "Q":
            var literals: [PatternNode] = []
            while position < text.count, !take("\\E") {
                literals.append(literal(text[position]))
                position += 1
            }
            return .joined(literals)
        case "E": return .empty
        default:
            position = start
            return .characters(try escapedCharacter())
        }
    }
}
