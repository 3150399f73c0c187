/// Makes the steps of a regular expression whose syntax has been checked.
struct PatternCompiler {
    private let text: [Unicode.Scalar]
    private var position = 0
    /// The flags in force, as the expressions of single characters take them.
    private var ignoresCase: Bool
    private var dotTakesLineEnds = false
    private var program = PatternProgram()
    private var tests: [String: Int] = [:]

    private static let stepLimit = 20_000

    static func compile(_ text: String, ignoringCase: Bool) throws(PredicatePattern.Failure) -> PatternProgram {
        var compiler = PatternCompiler(text: Array(text.unicodeScalars), ignoresCase: ignoringCase)
        try compiler.alternatives()
        guard compiler.position == compiler.text.count else { throw .init(reason: "')' without its '('") }
        try compiler.add(.match)
        return compiler.program
    }

    private init(text: [Unicode.Scalar], ignoresCase: Bool) {
        self.text = text
        self.ignoresCase = ignoresCase
    }

    // MARK: Reading

    private var next: Unicode.Scalar? { position < text.count ? text[position] : nil }

    private mutating func take(_ expected: String) -> Bool {
        let scalars = Array(expected.unicodeScalars)
        guard text[position...].starts(with: scalars) else { return false }
        position += scalars.count
        return true
    }

    /// Up to and with a character.
    private mutating func skip(past end: Unicode.Scalar) {
        while let scalar = next {
            position += 1
            if scalar == end { return }
        }
    }

    private func refusal(_ what: String) -> PredicatePattern.Failure {
        .init(reason: "\(what) are not taken: matching them can take time without end")
    }

    // MARK: Structure

    private mutating func add(_ step: PatternProgram.Step) throws(PredicatePattern.Failure) {
        guard program.steps.count < Self.stepLimit else { throw .init(reason: "it repeats too much") }
        program.steps.append(step)
    }

    private mutating func alternatives() throws(PredicatePattern.Failure) {
        let flags = (ignoresCase, dotTakesLineEnds)
        defer { (ignoresCase, dotTakesLineEnds) = flags }
        var ends: [Int] = []
        while true {
            let start = program.steps.count
            try add(.jump(start + 1))  // Becomes a split when there is another alternative.
            while let scalar = next, scalar != "|", scalar != ")" { try quantified() }
            guard take("|") else { break }
            ends.append(program.steps.count)
            try add(.jump(0))
            program.steps[start] = .split(start + 1, program.steps.count)
        }
        for end in ends { program.steps[end] = .jump(program.steps.count) }
    }

    private mutating func quantified() throws(PredicatePattern.Failure) {
        let start = program.steps.count
        let from = position
        let flags = (ignoresCase, dotTakesLineEnds)
        try atom()
        guard let (least, most) = quantifier() else { return }
        let after = position
        // The atom is compiled again for each repetition.
        program.steps.removeSubrange(start...)
        func again(_ compiler: inout PatternCompiler) throws(PredicatePattern.Failure) {
            compiler.position = from
            (compiler.ignoresCase, compiler.dotTakesLineEnds) = flags
            try compiler.atom()
        }
        for _ in 0..<least { try again(&self) }
        if let most {
            var exits: [Int] = []
            for _ in 0..<max(most - least, 0) {
                exits.append(program.steps.count)
                try add(.split(program.steps.count + 1, 0))
                try again(&self)
            }
            for exit in exits { program.steps[exit] = .split(exit + 1, program.steps.count) }
        } else {
            let loop = program.steps.count
            try add(.split(loop + 1, 0))
            try again(&self)
            try add(.jump(loop))
            program.steps[loop] = .split(loop + 1, program.steps.count)
        }
        position = after
        if take("+") { throw refusal("possessive quantifiers") }
        _ = take("?")  // A lazy one matches the same whole texts.
    }

    /// What stands behind an atom; nil when that is no quantifier.
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
            value = min((value ?? 0) * 10 + Int(digit - 0x30), Self.stepLimit)
            position += 1
        }
        return value
    }

    // MARK: Atoms

    private mutating func atom() throws(PredicatePattern.Failure) {
        guard let scalar = next else { return }
        let start = position
        position += 1
        switch scalar {
        case "(": try group()
        case "[":
            skipClass()
            try one(text[start..<position])
        case "\\": try escape(from: start)
        case ".": try one(text[start..<position])
        case "^": try add(.assert(.start))
        case "$": try add(.assert(.lastEnd))
        default: try literal(scalar)
        }
    }

    private mutating func group() throws(PredicatePattern.Failure) {
        if take("?#") { return skip(past: ")") }
        if take("?=") { return try ahead(isNegative: false) }
        if take("?!") { return try ahead(isNegative: true) }
        if take("?<=") || take("?<!") { throw refusal("lookbehinds") }
        if take("?>") { throw refusal("atomic groups") }
        if take("?<") || take("?P<") {
            skip(past: ">")
        } else if take("?:") {
        } else if take("?") {
            guard try flags() else { return }
        }
        let outer = (ignoresCase, dotTakesLineEnds)
        try alternatives()
        (ignoresCase, dotTakesLineEnds) = outer
        guard take(")") else { throw .init(reason: "expected ')'") }
    }

    /// `(?i)` until the group's end, `(?i:…)` for a group of its own; false for the first.
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

    private mutating func ahead(isNegative: Bool) throws(PredicatePattern.Failure) {
        let start = program.steps.count
        try add(.ahead(isNegative: isNegative, next: 0))
        try alternatives()
        try add(.match)
        guard take(")") else { throw .init(reason: "expected ')'") }
        program.steps[start] = .ahead(isNegative: isNegative, next: program.steps.count)
    }

    /// Behind its `[`: to the `]` that ends it.
    private mutating func skipClass() {
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

    private mutating func escape(from start: Int) throws(PredicatePattern.Failure) {
        guard let scalar = next else { return }
        position += 1
        switch scalar {
        case "1"..."9", "k", "g": throw refusal("back-references")
        case "A": try add(.assert(.start))
        case "z": try add(.assert(.end))
        case "Z": try add(.assert(.lastEnd))
        case "b": try add(.assert(.word))
        case "B": try add(.assert(.notWord))
        case "G", "K", "R", "X": throw .init(reason: "\\\(scalar) is not taken")
        case "Q":
            while position < text.count, !take("\\E") {
                try literal(text[position])
                position += 1
            }
        case "E": break
        default:
            if take("{") { skip(past: "}") } else { skipDigits(of: scalar) }
            try one(text[start..<position])
        }
    }

    private mutating func skipDigits(of escape: Unicode.Scalar) {
        let most: [Unicode.Scalar: Int] = ["x": 2, "u": 4, "U": 8, "0": 3, "c": 1, "p": 1, "P": 1]
        var left = most[escape] ?? 0
        while left > 0, let scalar = next, "cpP".unicodeScalars.contains(escape) || scalar.properties.isASCIIHexDigit {
            position += 1
            left -= 1
        }
    }

    private mutating func literal(_ scalar: Unicode.Scalar) throws(PredicatePattern.Failure) {
        if ignoresCase { return try one(Array("\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)[...]) }
        try add(test("'" + String(scalar)) { PatternTest(scalar) })
    }

    /// One character, by an expression for it alone.
    private mutating func one(_ scalars: ArraySlice<Unicode.Scalar>) throws(PredicatePattern.Failure) {
        var source = dotTakesLineEnds ? "(?s)" : ""
        source.unicodeScalars.append(contentsOf: scalars)
        let isLetter = ignoresCase
        let step = test("\(isLetter)" + source) { PatternTest(source, ignoringCase: isLetter) }
        guard case .one(let index) = step, index >= 0 else {
            throw .init(reason: "'\(source)' is not known")
        }
        try add(step)
    }

    /// The step for a test, made once for each text.
    private mutating func test(_ key: String, _ make: () -> PatternTest?) -> PatternProgram.Step {
        if let known = tests[key] { return .one(known) }
        guard let made = make() else { return .one(-1) }
        tests[key] = program.tests.count
        program.tests.append(made)
        return .one(program.tests.count - 1)
    }
}
