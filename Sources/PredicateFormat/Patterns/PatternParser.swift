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

    private func failure(_ what: String) -> PredicatePattern.Failure {
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
        if take("+") { throw failure("possessive quantifiers") }
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
        if take("?<=") || take("?<!") { throw failure("lookbehinds") }
        if take("?>") { throw failure("atomic groups") }
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
        case "1"..."9", "k", "g": throw failure("back-references")
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

/// Parses sets of characters: escapes and bracketed classes.
extension PatternParser {
    /// Parses an escape for a character or a set, from its backslash.
    mutating func escapedCharacter() throws(PredicatePattern.Failure) -> PatternSet {
        let start = position
        let set = escapedSet()
        if let set { return ignoresCase && !set.isCaseless ? .anyCase(set) : set }
        position = min(start + 2, text.count)
        if take("{") { skip(past: "}") } else { skipDigits(of: text[position - 1]) }
        return try expression(start)
    }

    /// Parses a class, from its `[`.
    mutating func bracketed() throws(PredicatePattern.Failure) -> PatternSet {
        let start = position
        if let set = bracketedSet() { return set }
        position = start
        skipClass()
        return try expression(start)
    }

    private func source(from start: Int) -> String { String(String.UnicodeScalarView(text[start..<position])) }

    /// The text from `start` on as an expression that the standard library evaluates.
    private func expression(_ start: Int) throws(PredicatePattern.Failure) -> PatternSet {
        let source = source(from: start)
        guard (try? Regex(source)) != nil else { throw .init(reason: "'\(source)' is not known") }
        return ignoresCase ? .anyCase(.expression(source)) : .expression(source)
    }

    // MARK: Escapes

    /// Parses an escape, from its backslash, without case variants; nil for an unknown one.
    private mutating func escapedSet() -> PatternSet? {
        position += 1
        guard let scalar = next else { return nil }
        position += 1
        switch scalar {
        case "d": return .digit
        case "D": return .inverted(.digit)
        case "w": return .word
        case "W": return .inverted(.word)
        case "s": return .space
        case "S": return .inverted(.space)
        case "v": return .lineEnd
        case "V": return .inverted(.lineEnd)
        case "t": return .scalar("\t")
        case "n": return .scalar("\n")
        case "r": return .scalar("\r")
        case "f": return .scalar("\u{C}")
        case "a": return .scalar("\u{7}")
        case "e": return .scalar("\u{1B}")
        case "x": return take("{") ? braced() : hexadecimal(digits: 2)
        case "u": return take("{") ? braced() : hexadecimal(digits: 4)
        case "U": return hexadecimal(digits: 8)
        case "p", "P": return property()
        default:
            let isPlain = scalar.isASCII && !scalar.properties.isAlphabetic && !("0"..."9").contains(scalar)
            return isPlain ? .scalar(scalar) : nil
        }
    }

    /// Parses a property, after `\p` or `\P`.
    private mutating func property() -> PatternSet? {
        let isInverted = text[position - 1] == "P"
        let start = position
        if take("{") { skip(past: "}") } else { position = min(position + 1, text.count) }
        let source = "\\p" + source(from: start)
        guard (try? Regex(source)) != nil else { return nil }
        return isInverted ? .inverted(.expression(source)) : .expression(source)
    }

    private mutating func braced() -> PatternSet? {
        let set = hexadecimal(digits: 8)
        return take("}") ? set : nil
    }

    private mutating func hexadecimal(digits: Int) -> PatternSet? {
        var value: UInt32 = 0
        var count = 0
        while count < digits, let digit = next, digit.properties.isASCIIHexDigit,
            let number = UInt32(String(digit), radix: 16)
        {
            guard value < 0x1000_0000 else { return nil }
            value = value * 16 + number
            position += 1
            count += 1
        }
        guard count > 0, let scalar = Unicode.Scalar(value) else { return nil }
        return .scalar(scalar)
    }

    private mutating func skipDigits(of escape: Unicode.Scalar) {
        let most: [Unicode.Scalar: Int] = ["x": 2, "u": 4, "U": 8, "0": 3, "c": 1, "p": 1, "P": 1]
        var left = most[escape] ?? 0
        while left > 0, let scalar = next, "cpP".unicodeScalars.contains(escape) || scalar.properties.isASCIIHexDigit {
            position += 1
            left -= 1
        }
    }

    // MARK: Classes

    /// Parses the set of a class, from its `[`; nil when it has an unknown part.
    private mutating func bracketedSet() -> PatternSet? {
        position += 1
        let isInverted = take("^")
        var result: PatternSet?
        var pending: Unicode.Scalar?
        var items: [PatternSet] = []
        var isFirst = true
        // As in ICU, case variants are added to each operand before it is inverted or combined.
        func operand(_ items: [PatternSet]) -> PatternSet {
            let set = items.count == 1 ? items[0] : .union(items)
            return ignoresCase && !set.isCaseless ? .anyCase(set) : set
        }
        func combined(_ operand: PatternSet) -> PatternSet {
            guard let result else { return operand }
            switch pending {
            case "&": return .intersection(result, operand)
            case "-": return .difference(result, operand)
            default: return .symmetricDifference(result, operand)
            }
        }
        while let scalar = next {
            if scalar == "]", !isFirst {
                position += 1
                guard !items.isEmpty else { return nil }
                let set = combined(operand(items))
                return isInverted ? .inverted(set) : set
            }
            isFirst = false
            if let operation = setOperator() {
                guard !items.isEmpty else { return nil }
                result = combined(operand(items))
                pending = operation
                items = []
                continue
            }
            guard let item = classItem() else { return nil }
            items.append(item)
        }
        return nil
    }

    private mutating func setOperator() -> Unicode.Scalar? {
        for scalar: Unicode.Scalar in ["&", "-", "~"] where take("\(scalar)\(scalar)") { return scalar }
        return nil
    }

    /// Parses a character, a range, an escape or a class within a class.
    private mutating func classItem() -> PatternSet? {
        guard let scalar = next else { return nil }
        if scalar == "[" {
            guard position + 1 < text.count, text[position + 1] == ":" else { return bracketedSet() }
            return named()
        }
        guard let first = classCharacter() else { return nil }
        guard let low = first.only, next == "-", position + 1 < text.count,
            !["]", "-", "["].contains(text[position + 1])
        else { return first }
        position += 1
        guard let high = classCharacter()?.only, low <= high else { return nil }
        return .range(low.value, high.value)
    }

    private mutating func classCharacter() -> PatternSet? {
        guard let scalar = next else { return nil }
        if scalar == "\\" { return escapedSet() }
        position += 1
        return .scalar(scalar)
    }

    /// Parses `[:alpha:]` within a class, from its `[`.
    private mutating func named() -> PatternSet? {
        let start = position
        skip(past: "]")
        let source = "[\(source(from: start))]"
        return (try? Regex(source)) == nil ? nil : .expression(source)
    }

    private mutating func skipClass() {
        position += 1
        var depth = 1
        _ = take("^")
        _ = take("]")
        while depth > 0, let scalar = next {
            position += 1
            switch scalar {
            case "\\": position = min(position + 1, text.count)
            case "[": depth += 1
            case "]": depth -= 1
            default: break
            }
        }
    }
}

extension PatternSet {
    /// Whether the set contains all cases of its characters.
    fileprivate var isCaseless: Bool {
        switch self {
        case .digit, .word, .space, .lineEnd: true
        case .inverted(let set): set.isCaseless
        default: false
        }
    }
}
