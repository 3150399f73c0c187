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

    /// The text from `start` on as an expression that the standard library evaluates.
    private func expression(_ start: Int) throws(PredicatePattern.Failure) -> PatternSet {
        var source = ""
        source.unicodeScalars.append(contentsOf: text[start..<position])
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
        var source = "\\p"
        source.unicodeScalars.append(contentsOf: text[start..<position])
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
        var source = "["
        source.unicodeScalars.append(contentsOf: text[start..<position])
        source += "]"
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
