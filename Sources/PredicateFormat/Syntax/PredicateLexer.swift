import PropertyList

/// Divides format text into tokens.
struct PredicateLexer {
    let source: String
    private let bytes: [UInt8]
    private var place = 0

    /// Maximum length of the text; larger values are passed as variables.
    static let lengthLimit = 1 << 22

    /// The signs, each before its own prefixes.
    private static let signs = [
        "==", "=>", "=<", "=", "!=", "!", "<=", "<>", "<<", "<", ">=", ">>", ">", "&&", "&", "||", "|", "^", "~", "**",
        "*", "+", "-", "/", "(", ")", "{", "}", "[", "]", ",", ".", "@",
    ].map { (text: $0, bytes: Array($0.utf8)) }

    init(_ source: String) {
        self.source = source
        bytes = Array(source.utf8)
    }

    /// All tokens, the last of which is `.end`.
    static func tokens(of source: String) throws(FormatPredicateError) -> [PredicateToken] {
        guard source.utf8.count <= lengthLimit else {
            throw FormatPredicateError(
                .limitExceeded, "the text is longer than \(lengthLimit) bytes; pass what is large as a $variable",
                column: lengthLimit + 1, source: "")
        }
        var lexer = PredicateLexer(source)
        var tokens: [PredicateToken] = []
        repeat {
            if Interruption.isDueAtStep { throw lexer.error(.limitExceeded, Interruption.message, at: lexer.place) }
            tokens.append(try lexer.next())
        } while tokens.last?.kind != .end
        return tokens
    }

    private func error(_ message: String, at offset: Int) -> FormatPredicateError {
        error(.syntax, message, at: offset)
    }

    private func error(
        _ code: FormatPredicateError.Code, _ message: String, at offset: Int, suggestions: [String] = []
    ) -> FormatPredicateError {
        FormatPredicateError(code, message, column: offset + 1, source: source, suggestions: suggestions)
    }

    private func byte(_ distance: Int = 0) -> UInt8? {
        place + distance < bytes.count ? bytes[place + distance] : nil
    }

    private mutating func next() throws(FormatPredicateError) -> PredicateToken {
        while let byte = byte(), byte == 0x20 || (0x09...0x0D).contains(byte) { place += 1 }
        let start = place
        guard let first = byte() else { return PredicateToken(kind: .end, start: start, end: start) }
        let kind: PredicateToken.Kind
        switch first {
        case UInt8(ascii: "'"), UInt8(ascii: "\""):
            kind = .string(try string())
        case 0x30...0x39:
            kind = .number(try number())
        case UInt8(ascii: "$"):
            place += 1
            guard let name = word() else { throw error("a name must follow $", at: start) }
            kind = .variable(name)
        case UInt8(ascii: "#"):
            place += 1
            if byte() == UInt8(ascii: "'") || byte() == UInt8(ascii: "\"") {
                kind = .word(try string(), escaped: true)
            } else if let name = word() {
                kind = .word(name, escaped: true)
            } else {
                throw error("a name must follow #, as in #size", at: start)
            }
        default:
            if let name = word() {
                kind = .word(name + selector(), escaped: false)
            } else {
                kind = .sign(try sign())
            }
        }
        return PredicateToken(kind: kind, start: start, end: place)
    }

    // MARK: Names and signs

    /// Reads a name: letters, digits and underscores of any script, not beginning with a digit.
    private mutating func word() -> String? {
        let start = place
        while let byte = byte() {
            if byte < 0x80 {
                let isLetter = byte == UInt8(ascii: "_") || (byte | 0x20) &- 0x61 < 26
                guard isLetter || (place > start && byte &- 0x30 < 10) else { break }
                place += 1
                continue
            }
            var decoder = UTF8()
            var iterator = bytes[place...].makeIterator()
            guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { break }
            let properties = scalar.properties
            guard place > start ? properties.isXIDContinue : properties.isXIDStart else { break }
            place += UTF8.width(scalar)
        }
        return place > start ? String(decoding: bytes[start..<place], as: UTF8.self) : nil
    }

    /// Reads the rest of a function's name of Foundation, as `:by:` of `modulus:by:(`; nothing when no call follows.
    private mutating func selector() -> String {
        let start = place
        while byte() == UInt8(ascii: ":") {
            place += 1
            _ = word()
        }
        if place > start, bytes[place - 1] == UInt8(ascii: ":"), byte() == UInt8(ascii: "(") {
            return String(decoding: bytes[start..<place], as: UTF8.self)
        }
        place = start
        return ""
    }

    private mutating func sign() throws(FormatPredicateError) -> String {
        let start = place
        guard let sign = Self.signs.first(where: { bytes[start...].starts(with: $0.bytes) }) else {
            throw unknownSign(at: start)
        }
        place += sign.bytes.count
        // `a === b` and `a =~ b` are not pairs of operators.
        if let last = sign.bytes.last, "=<>&|".utf8.contains(last), let next = byte() {
            let isBitwise = ["&", "|", "<<", ">>"].contains(sign.text)
            if "=<>&|".utf8.contains(next) || next == UInt8(ascii: "~") && !isBitwise { throw unknownSign(at: start) }
        }
        return sign.text
    }

    private func unknownSign(at start: Int) -> FormatPredicateError {
        if bytes[start] == UInt8(ascii: "%") {
            return error("format arguments such as %@ are not taken; pass the value as a $variable", at: start)
        }
        let signs = Set("=<>!&|~^%?:;".utf8)
        let run = bytes[start...].prefix { signs.contains($0) }
        guard run.count > 0 else {
            let rest = String(decoding: bytes[start...].prefix(32), as: UTF8.self)
            let character = rest.first.map { String($0) } ?? ""
            let hint = character == "“" || character == "‘" ? "; text is written in straight quotes" : ""
            return error("\(character) means nothing here\(hint)", at: start)
        }
        let text = String(decoding: run, as: UTF8.self)
        let known = ["==", "!=", "<=", ">=", "<>", "&&", "||"]
        let aliases = ["===": "==", "!==": "!=", "=~": "MATCHES", "~=": "MATCHES"]
        let names = aliases[text].map { [$0] } ?? NearestNames.nearest(to: text, among: known)
        return error(
            .unknownOperator, "\(text) is not an operator\(NearestNames.suggestion(names))", at: start,
            suggestions: names)
    }

    // MARK: Literals

    /// Reads a quoted text. A backslash before an ordinary letter is kept, so that regular expressions need no escapes.
    private mutating func string() throws(FormatPredicateError) -> String {
        let start = place
        let quote = bytes[place]
        place += 1
        var text: [UInt8] = []
        while let byte = byte() {
            place += 1
            if byte == quote { return String(decoding: text, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\"), let escaped = self.byte() else {
                text.append(byte)
                continue
            }
            place += 1
            switch escaped {
            case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""): text.append(escaped)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"): text += try unicodeEscape(at: place - 2)
            default: text += [byte, escaped]
            }
        }
        throw error("the text that begins here has no closing \(quote == 0x27 ? "'" : "\"")", at: start)
    }

    private mutating func unicodeEscape(at start: Int) throws(FormatPredicateError) -> [UInt8] {
        let digits = String(decoding: bytes[place...].prefix(4), as: UTF8.self)
        guard digits.utf8.count == 4, digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: 16),
            let scalar = Unicode.Scalar(value)
        else { throw error("\\u takes four hexadecimal digits of a character", at: start) }
        place += 4
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func number() throws(FormatPredicateError) -> PropertyListValue {
        let start = place
        if byte() == 0x30, let mark = byte(1), let radix = [0x78: 16, 0x6F: 8, 0x62: 2][mark | 0x20] {
            place += 2
            let digits = run { Character(Unicode.Scalar($0)).isHexDigit }
            guard !digits.isEmpty, let value = Int128(digits, radix: radix), !continuesAsWord else {
                throw error("this is not a number of base \(radix), or one of more than 128 bits", at: start)
            }
            return PredicateNumber.integer(value).value
        }
        var text = run { $0 &- 0x30 < 10 }
        var isReal = false
        if byte() == UInt8(ascii: "."), let next = byte(1), next &- 0x30 < 10 {
            place += 1
            isReal = true
            text += "." + run { $0 &- 0x30 < 10 }
        }
        if byte().map({ $0 | 0x20 }) == UInt8(ascii: "e") {
            let signed = byte(1) == UInt8(ascii: "+") || byte(1) == UInt8(ascii: "-")
            if let digit = byte(signed ? 2 : 1), digit &- 0x30 < 10 {
                text += byte(1) == UInt8(ascii: "-") ? "e-" : "e"
                place += signed ? 2 : 1
                isReal = true
                text += run { $0 &- 0x30 < 10 }
            }
        }
        if continuesAsWord {
            throw error("a name can't begin with a digit; text is written in quotes", at: start)
        }
        if !isReal, let value = Int128(text) { return PredicateNumber.integer(value).value }
        guard let value = Double(decimal: text) else {
            throw error("the number is too \(Double(text) == 0 ? "small, and is not 0" : "large")", at: start)
        }
        return .real(value)
    }

    private var continuesAsWord: Bool {
        guard let byte = byte() else { return false }
        return byte == UInt8(ascii: "_") || byte >= 0x80 || (byte | 0x20) &- 0x61 < 26
    }

    private mutating func run(while accepted: (UInt8) -> Bool) -> String {
        let start = place
        while let byte = byte(), byte < 0x80, accepted(byte) { place += 1 }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }
}

extension FormatPredicate {
    /// Divides a text at its commas, those in brackets and in quoted texts aside: the arguments of a call. Empty for a
    /// text of blanks.
    package static func arguments(of text: String) throws(FormatPredicateError) -> [String] {
        let tokens = try PredicateLexer.tokens(of: text)
        if tokens.count == 1 { return [] }
        let bytes = Array(text.utf8)
        var arguments: [String] = []
        var argument: Range<Int>?
        var depth = 0
        for token in tokens {
            if token.isSign("(") || token.isSign("[") || token.isSign("{") { depth += 1 }
            if token.isSign(")") || token.isSign("]") || token.isSign("}") { depth -= 1 }
            if token.kind == .end || depth == 0 && token.isSign(",") {
                arguments.append(argument.map { String(decoding: bytes[$0], as: UTF8.self) } ?? "")
                argument = nil
            } else {
                argument = (argument?.lowerBound ?? token.start)..<token.end
            }
        }
        return arguments
    }
}

/// A token and its range in bytes.
struct PredicateToken {
    enum Kind: Equatable {
        /// A name or a keyword; after a `#` always a name.
        case word(String, escaped: Bool)
        case variable(String)
        case string(String)
        case number(PropertyListValue)
        case sign(String)
        case end
    }

    let kind: Kind
    let start: Int
    let end: Int

    var keyword: PredicateKeyword? {
        guard case .word(let word, escaped: false) = kind else { return nil }
        return PredicateKeyword(word)
    }

    func isSign(_ sign: String) -> Bool { kind == .sign(sign) }

    /// The token's name in error messages.
    var named: String {
        switch kind {
        case .word(let word, _): word
        case .variable(let name): "$\(name)"
        case .string: "the text"
        case .number: "the number"
        case .sign(let sign): sign
        case .end: "the end"
        }
    }
}

/// The keywords, which ignore case.
enum PredicateKeyword: String, CaseIterable {
    case and = "AND"
    case or = "OR"
    case not = "NOT"
    case any = "ANY"
    case some = "SOME"
    case all = "ALL"
    case none = "NONE"
    case between = "BETWEEN"
    case `in` = "IN"
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case like = "LIKE"
    case matches = "MATCHES"
    case null = "NULL"
    case `nil` = "NIL"
    case `true` = "TRUE"
    case `false` = "FALSE"
    case yes = "YES"
    case no = "NO"
    case `self` = "SELF"
    case truePredicate = "TRUEPREDICATE"
    case falsePredicate = "FALSEPREDICATE"

    private static let longest = 14

    init?(_ word: String) {
        guard word.utf8.count <= Self.longest else { return nil }
        self.init(rawValue: word.uppercased())
    }

    /// The keywords between two operands.
    static let operators: [PredicateKeyword] = [
        .and, .or, .between, .in, .contains, .beginsWith, .endsWith, .like, .matches,
    ]

    /// The comparison of the keyword, which is written as its operator.
    var comparison: PredicateOperator? { PredicateOperator(rawValue: rawValue) }

    var modifier: PredicateComparison.Modifier? { self == .some ? .any : .init(rawValue: rawValue) }
}
