import Items
import LineEditor
import Lua
import SQLite

/// Entries that are SQL: no Lua, and beginning as a statement.
package enum SQLEntry {
    /// The first words of statements.
    private static let beginnings: Set<String> = [
        "select", "with", "values", "explain", "update", "insert", "delete", "create", "drop", "alter", "pragma",
        "replace", "attach",
    ]

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
        guard let start, start == UInt8(ascii: "-") || "swveuidcapr".utf8.contains(start | 0x20) else { return false }
        let sql = SQLText(String(text.prefix(1 << 16)))
        guard let word = sql.word(0), beginnings.contains(word) else { return false }
        let isNameElsewhere = ["explain", "create", "drop", "alter", "pragma", "replace", "attach"].contains(word)
        return !isNameElsewhere || sql.tokens.count > 1 && sql.tokens[1].kind == .word
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
