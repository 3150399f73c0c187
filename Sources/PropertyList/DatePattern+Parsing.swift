extension DatePattern {
    /// The fields of a pattern of `strptime`, by their letters.
    private static let conversions: [Character: [Piece]] = {
        func fields(_ pattern: String) -> [Piece] { (try? DatePattern(pattern))?.pieces ?? [] }
        return [
            "Y": fields("yyyy"), "y": fields("yy"), "m": fields("MM"), "d": fields("dd"), "e": fields("d"),
            "j": fields("DDD"), "H": fields("HH"), "k": fields("H"), "I": fields("hh"), "l": fields("h"),
            "M": fields("mm"), "S": fields("ss"), "p": fields("a"), "b": fields("MMM"), "h": fields("MMM"),
            "B": fields("MMMM"), "a": fields("EEE"), "A": fields("EEEE"), "z": fields("xx"), "Z": fields("z"),
            "F": fields("yyyy-MM-dd"), "T": fields("HH:mm:ss"), "R": fields("HH:mm"), "D": fields("MM/dd/yy"),
            "n": [.text("\n")], "t": [.text("\t")], "%": [.text("%")],
        ]
    }()

    /// A pattern of `strptime`.
    ///
    /// - Throws: ``DatePatternError`` for a field that cannot be parsed.
    package init(posix text: String) throws(DatePatternError) {
        try Self.checkLength(text)
        var rest = Substring(text)
        var pieces: [Piece] = []
        while let first = rest.popFirst() {
            guard first.is("%") else {
                pieces.append(.text(String(first)))
                continue
            }
            let letter = rest.popFirst()
            guard let fields = letter.flatMap({ Self.conversions[$0] }) else {
                throw DatePatternError(.unparsedField("%" + (letter.map(String.init) ?? "")))
            }
            pieces += fields
        }
        self.init(pieces)
    }

    /// Parses a text.
    ///
    /// - Throws: ``DateTextError`` with the position.
    package func parse(_ text: String) throws(DateTextError) -> DateParts {
        try DateTextReader.parse(text, pieces)
    }

    /// Checks that texts can be parsed by the pattern.
    ///
    /// - Throws: ``DatePatternError`` when it lacks a year, or has a field that is only formatted.
    package func checkParsing() throws(DatePatternError) {
        var hasYear = false
        for case .field(let letter, let count) in pieces {
            if "GQq".contains(letter) {
                throw DatePatternError(.unparsedField(String(repeating: letter, count: count)))
            }
            if letter.is("y") || letter.is("u") { hasYear = true }
        }
        if !hasYear { throw DatePatternError(.noYear) }
    }

    /// Whether a field is written in digits.
    static func isNumber(_ letter: Character, _ count: Int) -> Bool {
        "yudDHhKkmsS".contains(letter) || "ML".contains(letter) && count < 3
    }
}
