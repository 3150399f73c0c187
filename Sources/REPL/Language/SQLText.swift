import Items
import LineEditor
import Lua
import SQLite

/// A text of SQL with its tokens, for the reading of entries, highlighting and completion.
struct SQLText {
    let bytes: [UInt8]
    /// All tokens, with comments.
    let all: [SQLToken]
    /// The tokens without comments.
    let tokens: [SQLToken]

    init(_ text: String) { self.init(bytes: Array(text.utf8)) }

    init(bytes: [UInt8]) {
        self.bytes = bytes
        all = SQLLexer.tokens(bytes)
        tokens = all.filter { !$0.isComment }
    }

    func text(_ token: SQLToken) -> String { String(decoding: bytes[token.range], as: UTF8.self) }

    /// Whether the token at an index is this word, in any case; false out of bounds.
    func isWord(_ index: Int, _ word: String) -> Bool { self.word(index) == word }

    /// The word at an index in lower case; nil for another token.
    func word(_ index: Int) -> String? {
        guard tokens.indices.contains(index), tokens[index].kind == .word else { return nil }
        return text(tokens[index]).lowercased()
    }

    /// Whether the token at an index is this symbol; false out of bounds.
    func isSymbol(_ index: Int, _ symbol: Character) -> Bool {
        guard tokens.indices.contains(index), tokens[index].kind == .symbol else { return false }
        return tokens[index].range.count == 1 && symbol.asciiValue == bytes[tokens[index].range.lowerBound]
    }

    /// The name at an index, without its quotes; nil for another token.
    func name(_ index: Int) -> String? {
        guard tokens.indices.contains(index) else { return nil }
        switch tokens[index].kind {
        case .word: return text(tokens[index])
        case .name(isClosed: true): return String(text(tokens[index]).dropFirst().dropLast())
        default: return nil
        }
    }

    /// Whether the text ends within a string, a quoted name or a comment that may have further lines.
    var isOpen: Bool {
        guard let last = all.last else { return false }
        switch last.kind {
        case .string(isClosed: false), .name(isClosed: false): return true
        case .comment(isClosed: false): return bytes[last.range.lowerBound] == UInt8(ascii: "/")
        default: return false
        }
    }

    /// The words that SQL does not take for a name, with those that belong to its statements.
    static let keywords: Set<String> = [
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
struct SQLToken: Equatable {
    enum Kind: Equatable {
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

    let kind: Kind
    /// Its range in UTF-8 bytes.
    let range: Range<Int>

    var isComment: Bool { if case .comment = kind { true } else { false } }
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
        case UInt8(ascii: ".") where byte(1).map(LuaLexer.isDigit) ?? false: return number()
        case UInt8(ascii: "?"):
            position += 1
            while let next = byte(), LuaLexer.isDigit(next) { position += 1 }
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

    private static func isPart(_ byte: UInt8) -> Bool {
        LuaLexer.isDigit(byte) || (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "_") || byte >= 0x80
            || byte == UInt8(ascii: "$")
    }
}

/// Entries that are SQL: no Lua, and beginning as a statement.
package enum SQLEntry {
    /// The first words of statements.
    private static let beginnings: Set<String> = ["select", "with", "values", "explain", "update", "insert", "delete"]

    /// Whether an entry is SQL. Lua is tried first.
    ///
    /// - Parameters:
    ///   - text: the entry.
    ///   - isDefined: whether the session has a variable of a name: `values (1)` calls it, else it is a statement.
    ///   - state: compiles the text as Lua.
    /// - Returns: whether it is no Lua, and begins as a statement.
    static func isSQL(_ text: String, isDefined: (String) -> Bool, in state: LuaState) -> Bool {
        guard beginsAsStatement(text) else { return false }
        do throws(LuaError) {
            _ = try state.loadEntry(text, name: "=entry", environment: nil)
            let sql = SQLText(text)
            return sql.isWord(0, "values") && sql.isSymbol(1, "(") && !isDefined(sql.name(0) ?? "")
        } catch {
            return error.kind == .syntax(incomplete: false)
        }
    }

    /// Whether a text that is being typed becomes SQL, as far as it goes.
    static func isLikely(_ text: String, isDefined: (String) -> Bool, in state: LuaState) -> Bool {
        guard beginsAsStatement(text) else { return false }
        let sql = SQLText(text)
        guard sql.tokens.count > 1 else { return sql.all.last.map { $0.range.upperBound < sql.bytes.count } ?? false }
        switch sql.tokens[1].kind {
        case .word, .number, .parameter: return true
        case .symbol where sql.isSymbol(1, "*"): return true
        default: return isSQL(text, isDefined: isDefined, in: state)
        }
    }

    /// Whether an entry that is no Lua is whole: SQLite prepares it, or a semicolon ends it.
    static func completeness(of text: String, _ sql: ItemSQL) -> InputCompleteness {
        let tokens = SQLText(text)
        if tokens.isOpen { return .incomplete(indent: 0) }
        if tokens.isSymbol(tokens.tokens.count - 1, ";") { return .complete }
        switch sql.completeness(of: text) {
        case .complete: return lacksTables(text, tokens, sql) ? .incomplete(indent: 0) : .complete
        case .incomplete: return .incomplete(indent: 0)
        case .error: return .invalid
        }
    }

    /// Whether a statement is a list of columns whose tables come in a further line. It names no file.
    private static func lacksTables(_ text: String, _ tokens: SQLText, _ sql: ItemSQL) -> Bool {
        guard tokens.isWord(0, "select"), !tokens.tokens.indices.contains(where: { tokens.isWord($0, "from") }) else {
            return false
        }
        do { try sql.prepare(text).close() } catch let error as SQLError {
            return error.message.hasPrefix("no such column") || error.message.hasPrefix("no tables specified")
        } catch {}
        return false
    }

    /// Whether a statement only reads, as far as its words tell.
    package static func isReading(_ text: String) -> Bool {
        let sql = SQLText(text)
        let changing: Set<String> = ["insert", "update", "delete", "replace", "create", "drop", "alter"]
        switch sql.word(0) {
        case "select", "values", "explain": return true
        case "with":
            // As a function's name, replace(…) changes nothing.
            return !sql.tokens.indices.contains { place in
                sql.word(place).map(changing.contains) ?? false && !sql.isSymbol(place + 1, "(")
            }
        default: return false
        }
    }

    /// Whether the first word is that of a statement; comments are the same in both languages.
    static func beginsAsStatement(_ text: String) -> Bool {
        let start = text.utf8.first { $0 != 0x20 && !(0x09...0x0D).contains($0) }
        // Most entries are not: they are not read to their ends.
        guard let start, start == UInt8(ascii: "-") || "swveuid".utf8.contains(start | 0x20) else { return false }
        let sql = SQLText(String(text.prefix(1 << 16)))
        guard let word = sql.word(0), beginnings.contains(word) else { return false }
        return word != "explain" || sql.tokens.count > 1 && sql.tokens[1].kind == .word
    }
}

/// The grammar of SQL where there are no items: at a prompt whose host is another process.
final class SQLGrammar {
    /// No store and no files: names are the host's.
    private let store = ItemStore()
    private(set) lazy var connection = ItemSQL(store, NoFiles())

    /// Nothing is opened to know whether a text is whole.
    private final class NoFiles: SQLFiles {
        func withFile(_ path: String, _ body: (ImportFile) throws -> Void) throws {
            throw SQLError(.file, "\(path): files are opened by the host")
        }

        func databasePlace(_ path: String, isReadOnly: Bool) throws -> SQLitePlace {
            throw SQLError(.file, "\(path): files are opened by the host")
        }
    }
}

/// Syntax highlighting of entries, in the language that they are.
enum EntryHighlighter {
    /// - Parameters:
    ///   - text: the entry: Lua, SQL, or a command of the prompt.
    ///   - state: compiles the text as Lua.
    ///   - isKnown: whether a name is a global, which then has its own style.
    /// - Returns: the spans in the order of the text.
    static func spans(_ text: String, in state: LuaState, isKnown: (String) -> Bool) -> [StyledSpan] {
        SQLEntry.isLikely(text, isDefined: isKnown, in: state)
            ? SQLHighlighter.spans(text) : LuaHighlighter.spans(text, isKnown: isKnown)
    }
}

/// Syntax highlighting of SQL. Linear in the text.
enum SQLHighlighter {
    private static let constants: Set<String> = ["null", "true", "false"]

    /// The spans in the order of the text.
    static func spans(_ text: String) -> [StyledSpan] {
        let sql = SQLText(text)
        var spans: [StyledSpan] = []
        spans.reserveCapacity(sql.all.count)
        for (index, token) in sql.all.enumerated() {
            switch token.kind {
            case .comment: spans.append(StyledSpan(token.range, .comment))
            case .string(let isClosed):
                spans.append(StyledSpan(token.range, .string))
                if !isClosed { spans.append(StyledSpan(token.range.lowerBound..<token.range.lowerBound + 1, .error)) }
            case .name(let isClosed):
                spans.append(StyledSpan(token.range, .variable))
                if !isClosed { spans.append(StyledSpan(token.range.lowerBound..<token.range.lowerBound + 1, .error)) }
            case .number: spans.append(StyledSpan(token.range, .number))
            case .parameter: spans.append(StyledSpan(token.range, .field))
            case .word: spans.append(StyledSpan(token.range, style(of: token, index, sql)))
            case .symbol: spans.append(StyledSpan(token.range, .operator))
            case .unknown: spans.append(StyledSpan(token.range, .error))
            }
        }
        return spans
    }

    private static func style(of token: SQLToken, _ index: Int, _ sql: SQLText) -> TextStyle {
        let word = sql.text(token).lowercased()
        if constants.contains(word) { return .constant }
        let next = index + 1 < sql.all.count ? sql.all[index + 1] : nil
        let isCalled = next.map { $0.kind == .symbol && sql.bytes[$0.range.lowerBound] == UInt8(ascii: "(") } ?? false
        if SQLText.keywords.contains(word) { return .keyword }
        return isCalled ? .function : .variable
    }
}
