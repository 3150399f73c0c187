/// The files that a statement reads as tables: `csv('airlines.csv')`, `json('a.json', '{"path": "data"}')`.
///
/// They are found where a statement has a table, by its tokens. A path is a literal: what a statement reads is known
/// before it runs.
struct SQLFileCalls {
    /// A file as a table.
    struct Call: Hashable {
        let format: ItemFileFormat
        let path: String
        /// Options as JSON; empty for none.
        let options: String
        /// The text of the call, which names the table.
        let text: String
    }

    /// The calls, each once.
    private(set) var calls: [Call] = []
    /// The statement with the names of tables in their place.
    private(set) var statement: String
    /// Where the parts of the statement are in the original text: from these bytes on, by this much later.
    private var shifts: [(start: Int, end: Int, original: Int)] = []

    static let names = ["csv", "tsv", "json", "jsonl", "xlsx", "ods"]

    /// Finds them.
    ///
    /// - Throws: `SQLError` for a call whose path is not a literal.
    init(_ text: SQLText) throws(SQLError) {
        var result: [UInt8] = []
        var copied = 0
        var scopes = [Scope()]
        var place = 0
        let tokens = text.tokens
        while place < tokens.count {
            let token = tokens[place]
            if scopes[scopes.count - 1].expectsTable, let name = Self.name(text, tokens, place) {
                let (call, end) = try Self.call(name, text, tokens, place)
                if !calls.contains(call) { calls.append(call) }
                let start = token.range.lowerBound
                result += text.bytes[copied..<start]
                let before = result.count
                result += SQLText.quoted(call.text).utf8
                if !Self.hasAlias(text, tokens, end + 1) { result += " as \(SQLText.quoted(name))".utf8 }
                shifts.append((before, result.count, start))
                copied = tokens[end].range.upperBound
                place = end + 1
                shifts.append((result.count, .max, copied))
                scopes[scopes.count - 1].expectsTable = false
                continue
            }
            Self.advance(&scopes, text, token)
            place += 1
        }
        result += text.bytes[copied...]
        statement = String(decoding: result, as: UTF8.self)
    }

    /// The place in the original text of a place in the statement.
    func original(_ offset: Int) -> Int {
        guard let shift = shifts.last(where: { $0.start <= offset }) else { return offset }
        return offset < shift.end && shift.end != .max ? shift.original : shift.original + offset - shift.start
    }

    // MARK: Where tables stand

    private struct Scope {
        var isInFrom = false
        var expectsTable = false
    }

    private static let ends = [
        "where", "group", "order", "having", "limit", "window", "union", "except", "intersect", "returning", "set",
        "select", "values",
    ]

    private static func advance(_ scopes: inout [Scope], _ text: SQLText, _ token: SQLText.Token) {
        let top = scopes.count - 1
        if text.isSign(token, "(") {
            scopes.append(Scope(isInFrom: scopes[top].expectsTable, expectsTable: scopes[top].expectsTable))
            scopes[top].expectsTable = false
        } else if text.isSign(token, ")") {
            if scopes.count > 1 { scopes.removeLast() }
        } else if text.isSign(token, ",") {
            scopes[top].expectsTable = scopes[top].isInFrom
        } else if text.isSign(token, ";") {
            scopes = [Scope()]
        } else if text.isWord(token, "from") || text.isWord(token, "join") {
            scopes[top] = Scope(isInFrom: true, expectsTable: true)
        } else if text.isWord(token, "in") || text.isWord(token, "into") || text.isWord(token, "update") {
            scopes[top].expectsTable = true
        } else {
            if ends.contains(where: { text.isWord(token, $0) }) { scopes[top].isInFrom = false }
            scopes[top].expectsTable = false
        }
    }

    private static func name(_ text: SQLText, _ tokens: [SQLText.Token], _ place: Int) -> String? {
        guard place + 1 < tokens.count, text.isSign(tokens[place + 1], "(") else { return nil }
        return names.first { text.isWord(tokens[place], $0) }
    }

    private static func call(
        _ name: String, _ text: SQLText, _ tokens: [SQLText.Token], _ place: Int
    ) throws(SQLError) -> (Call, end: Int) {
        var (next, arguments): (Int, [String]) = (place + 2, [])
        while next < tokens.count, tokens[next].kind == .text {
            arguments.append(text.content(tokens[next]))
            next += 1
            guard next < tokens.count, text.isSign(tokens[next], ","), arguments.count < 2 else { break }
            next += 1
        }
        guard next < tokens.count else {
            throw SQLError(.incomplete, "\(name)(…) lacks its end", offset: text.bytes.count)
        }
        guard text.isSign(tokens[next], ")"), !arguments.isEmpty, let format = ItemFileFormat(rawValue: name) else {
            let what = tokens[next].kind == .sign ? "nothing" : text.text(tokens[next])
            throw SQLError(
                .syntax,
                "\(name) takes a path and options as texts that stand in the statement, such as \(name)('file.\(name)', '{\"encoding\": \"utf-8\"}'), got \(what.quoted()): a path that is a value is for items:import, and for sql.attach, which opens a database",
                offset: tokens[next].range.lowerBound)
        }
        let range = tokens[place].range.lowerBound..<tokens[next].range.upperBound
        return (
            Call(
                format: format, path: arguments[0], options: arguments.count > 1 ? arguments[1] : "",
                text: String(decoding: text.bytes[range], as: UTF8.self)), next
        )
    }

    /// Words that may follow a table, and are not another name for it.
    private static let followers = [
        "where", "group", "order", "having", "limit", "window", "union", "except", "intersect", "join", "left",
        "right", "full", "inner", "cross", "natural", "on", "using", "set", "returning", "indexed", "not", "and", "or",
        "values", "select", "default", "then", "else", "end", "when", "is", "collate", "offset", "asc", "desc",
    ]

    private static func hasAlias(_ text: SQLText, _ tokens: [SQLText.Token], _ next: Int) -> Bool {
        guard next < tokens.count else { return false }
        switch tokens[next].kind {
        case .quotedName, .text: return true
        case .word: return !followers.contains { text.isWord(tokens[next], $0) }
        default: return false
        }
    }
}
