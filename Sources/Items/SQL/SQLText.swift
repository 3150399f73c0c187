/// A text of SQL with its tokens: what stands in a string, a quoted name or a comment is not a word.
package struct SQLText {
    package let bytes: [UInt8]
    /// All tokens, with comments.
    package let all: [SQLToken]
    /// The tokens without comments.
    package let tokens: [SQLToken]

    package init(_ text: String) { self.init(bytes: Array(text.utf8)) }

    package init(bytes: [UInt8]) {
        self.bytes = bytes
        all = SQLLexer.tokens(bytes)
        tokens = all.filter { !$0.isComment }
    }

    package func text(_ token: SQLToken) -> String { String(decoding: bytes[token.range], as: UTF8.self) }

    /// Whether the token at an index is this word, in any case; false out of bounds.
    package func isWord(_ index: Int, _ word: String) -> Bool { self.word(index) == word }

    /// The word at an index in lower case, to be compared with keywords; nil for another token.
    ///
    /// Of a word longer than any keyword it is the beginning, which is none either: comparing one of a megabyte of combining
    /// marks takes time with the square of its length.
    package func word(_ index: Int) -> String? {
        guard tokens.indices.contains(index), tokens[index].kind == .word else { return nil }
        return String(decoding: bytes[tokens[index].range.prefix(64)], as: UTF8.self).lowercased()
    }

    /// Whether the token at an index is this symbol; false out of bounds.
    package func isSymbol(_ index: Int, _ symbol: Character) -> Bool {
        guard tokens.indices.contains(index), tokens[index].kind == .symbol else { return false }
        return tokens[index].range.count == 1 && symbol.asciiValue == bytes[tokens[index].range.lowerBound]
    }

    /// The name at an index, without its quotes; nil for another token.
    package func name(_ index: Int) -> String? {
        guard tokens.indices.contains(index) else { return nil }
        switch tokens[index].kind {
        case .word: return text(tokens[index])
        case .name(isClosed: true): return String(text(tokens[index]).dropFirst().dropLast())
        default: return nil
        }
    }

    /// The content of a string in single quotes, in which two quotes are one; nil for a blob, a text without its end, and
    /// another token.
    package func content(_ index: Int) -> String? {
        guard tokens.indices.contains(index), case .string(isClosed: true) = tokens[index].kind else { return nil }
        let text = bytes[tokens[index].range]
        guard text.first == UInt8(ascii: "'") else { return nil }
        var content: [UInt8] = []
        var isDoubled = false
        for byte in text.dropFirst().dropLast() {
            // Of two quotes the second is left out.
            isDoubled = byte == UInt8(ascii: "'") && !isDoubled
            if isDoubled || byte != UInt8(ascii: "'") { content.append(byte) }
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Whether the text ends within a string, a quoted name or a comment that may have further lines.
    package var isOpen: Bool {
        guard let last = all.last else { return false }
        switch last.kind {
        case .string(isClosed: false), .name(isClosed: false): return true
        case .comment(isClosed: false): return bytes[last.range.lowerBound] == UInt8(ascii: "/")
        default: return false
        }
    }

    /// The words that SQL does not take for a name, with those that belong to its statements.
    package static let keywords: Set<String> = [
        "all", "and", "as", "asc", "between", "by", "case", "cast", "collate", "conflict", "create", "cross",
        "current", "default", "delete", "desc", "distinct", "do", "drop", "else", "end", "escape", "except", "exclude",
        "exists", "explain", "filter", "first", "following", "from", "full", "glob", "group", "groups", "having", "in",
        "inner", "insert", "intersect", "into", "is", "isnull", "join", "last", "left", "like", "limit", "match",
        "materialized", "natural", "not", "notnull", "nothing", "null", "nulls", "offset", "on", "or", "order",
        "outer", "over", "partition", "plan", "preceding", "query", "range", "recursive", "regexp", "replace",
        "returning", "right", "row", "rows", "select", "set", "table", "temp", "temporary", "then", "ties",
        "unbounded", "union", "update", "using", "values", "view", "when", "where", "window", "with",
    ]
}

/// A token of SQL text, sufficient to highlight and complete unfinished text.
package struct SQLToken: Equatable {
    package enum Kind: Equatable {
        /// A keyword, or a name without quotes.
        case word
        /// A name in quotes; `isClosed` is false for an unfinished one.
        case name(isClosed: Bool)
        /// A string, or a blob such as `x'00'`.
        case string(isClosed: Bool)
        case number
        /// `?`, `?1`, `$name`, `:name`, `@name`.
        case parameter
        case comment(isClosed: Bool)
        /// An operator, a bracket, a separator.
        case symbol
        /// Bytes that are not SQL.
        case unknown
    }

    package let kind: Kind
    /// Its range in UTF-8 bytes.
    package let range: Range<Int>

    package var isComment: Bool { if case .comment = kind { true } else { false } }
}

/// Splits SQL into tokens as SQLite does. Accepts any bytes, never fails, and is linear in their number.
private struct SQLLexer {
    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    static func tokens(_ bytes: [UInt8]) -> [SQLToken] {
        var lexer = SQLLexer(bytes)
        var tokens: [SQLToken] = []
        while let token = lexer.next() { tokens.append(token) }
        return tokens
    }

    private func byte(_ offset: Int = 0) -> UInt8? {
        let index = position + offset
        return index < bytes.count ? bytes[index] : nil
    }

    private mutating func next() -> SQLToken? {
        while let blank = byte(), blank == 0x20 || (0x09...0x0D).contains(blank) { position += 1 }
        guard let first = byte() else { return nil }
        let start = position
        let kind = scan(first)
        return SQLToken(kind: kind, range: start..<position)
    }

    private mutating func scan(_ first: UInt8) -> SQLToken.Kind {
        switch first {
        case UInt8(ascii: "-") where byte(1) == first:
            while let next = byte(), next != 0x0A { position += 1 }
            // A line comment is closed by a following line.
            return .comment(isClosed: position < bytes.count)
        case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"):
            position += 2
            while let next = byte() {
                position += 1
                if next == UInt8(ascii: "*"), byte() == UInt8(ascii: "/") {
                    position += 1
                    return .comment(isClosed: true)
                }
            }
            return .comment(isClosed: false)
        case UInt8(ascii: "'"): return .string(isClosed: skipQuoted(first))
        case UInt8(ascii: "\""), UInt8(ascii: "`"): return .name(isClosed: skipQuoted(first))
        case UInt8(ascii: "["):
            while let next = byte() {
                position += 1
                if next == UInt8(ascii: "]") { return .name(isClosed: true) }
            }
            return .name(isClosed: false)
        case _ where first | 0x20 == UInt8(ascii: "x") && byte(1) == UInt8(ascii: "'"):
            position += 1
            return .string(isClosed: skipQuoted(UInt8(ascii: "'")))
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        case UInt8(ascii: ".") where byte(1).map(Self.isDigit) ?? false: return number()
        case UInt8(ascii: "?"):
            position += 1
            while let next = byte(), Self.isDigit(next) { position += 1 }
            return .parameter
        case UInt8(ascii: "$"), UInt8(ascii: ":"), UInt8(ascii: "@"):
            position += 1
            let start = position
            while let next = byte(), Self.isPart(next) { position += 1 }
            return position > start ? .parameter : .unknown
        case _ where Self.isPart(first):
            while let next = byte(), Self.isPart(next) { position += 1 }
            return .word
        default: return symbol(first)
        }
    }

    private mutating func number() -> SQLToken.Kind {
        while let next = byte() {
            let before = position > 0 ? bytes[position - 1] | 0x20 : 0
            let isSign = next == UInt8(ascii: "+") || next == UInt8(ascii: "-")
            guard next == UInt8(ascii: ".") || Self.isPart(next) || isSign && before == UInt8(ascii: "e") else { break }
            position += 1
        }
        return .number
    }

    private mutating func symbol(_ first: UInt8) -> SQLToken.Kind {
        for long in Self.longSymbols where bytes[position...].starts(with: long) {
            position += long.count
            return .symbol
        }
        position += 1
        return Self.symbols.contains(first) ? .symbol : .unknown
    }

    /// Skips a text in quotes, in which two quotes are one of its characters.
    private mutating func skipQuoted(_ quote: UInt8) -> Bool {
        position += 1
        while let next = byte() {
            position += 1
            guard next == quote else { continue }
            guard byte() == quote else { return true }
            position += 1
        }
        return false
    }

    private static let longSymbols: [[UInt8]] = ["->>", "->", "||", "<=", ">=", "<>", "!=", "==", "<<", ">>"].map {
        Array($0.utf8)
    }
    private static let symbols = Set("+-*/%&|~<>=(),;.".utf8)

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    private static func isPart(_ byte: UInt8) -> Bool {
        isDigit(byte) || (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "_") || byte >= 0x80
            || byte == UInt8(ascii: "$")
    }
}
