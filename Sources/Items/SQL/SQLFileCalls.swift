import SQLite

/// The files that a statement reads as tables: `csv('airlines.csv')`, `json('a.json', '{"path": "data"}')`.
///
/// They are found where a statement has a table, by its tokens. A path is a literal: what a statement reads is known
/// before it runs.
struct SQLFileCalls {
    /// A file as a table.
    struct Call {
        let format: ItemFileFormat
        let path: String
        /// Options as JSON; empty for none.
        let options: String
        /// The text of the call, which names the table for people.
        let text: String

        /// The table's name for SQLite, which takes capital letters of ASCII for small ones: the files of two paths that
        /// differ in them are two.
        var table: String {
            let capitals = text.utf8.enumerated().filter { $0.element &- 0x41 < 26 }.map { String($0.offset) }
            return capitals.isEmpty ? text : "\(text) \(capitals.joined(separator: ","))"
        }
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
        while place < text.tokens.count {
            if scopes[scopes.count - 1].expectsTable, let name = Self.name(text, place) {
                let (call, end) = try Self.call(name, text, place)
                if !calls.contains(where: { $0.text == call.text }) { calls.append(call) }
                let start = text.tokens[place].range.lowerBound
                result += text.bytes[copied..<start]
                let before = result.count
                result += SQLiteDatabase.quoted(call.table).utf8
                if !Self.hasAlias(text, end + 1) { result += " as \(SQLiteDatabase.quoted(name))".utf8 }
                shifts.append((before, result.count, start))
                copied = text.tokens[end].range.upperBound
                place = end + 1
                shifts.append((result.count, .max, copied))
                scopes[scopes.count - 1].expectsTable = false
                continue
            }
            Self.advance(&scopes, text, place)
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

    private static let ends: Set<String> = [
        "where", "group", "order", "having", "limit", "window", "union", "except", "intersect", "returning", "set",
        "select", "values",
    ]

    private static func advance(_ scopes: inout [Scope], _ text: SQLText, _ place: Int) {
        let top = scopes.count - 1
        if text.isSymbol(place, "(") {
            scopes.append(Scope(isInFrom: scopes[top].expectsTable, expectsTable: scopes[top].expectsTable))
            scopes[top].expectsTable = false
        } else if text.isSymbol(place, ")") {
            if scopes.count > 1 { scopes.removeLast() }
        } else if text.isSymbol(place, ",") {
            scopes[top].expectsTable = scopes[top].isInFrom
        } else if text.isSymbol(place, ";") {
            scopes = [Scope()]
        } else {
            switch text.word(place) {
            case "from", "join": scopes[top] = Scope(isInFrom: true, expectsTable: true)
            case "in", "into", "update": scopes[top].expectsTable = true
            case let word:
                if let word, ends.contains(word) { scopes[top].isInFrom = false }
                scopes[top].expectsTable = false
            }
        }
    }

    private static func name(_ text: SQLText, _ place: Int) -> String? {
        guard text.isSymbol(place + 1, "("), let word = text.word(place), names.contains(word) else { return nil }
        return word
    }

    private static func call(
        _ name: String, _ text: SQLText, _ place: Int
    ) throws(SQLError) -> (Call, end: Int) {
        let tokens = text.tokens
        var (next, arguments): (Int, [String]) = (place + 2, [])
        while let content = text.content(next) {
            arguments.append(content)
            next += 1
            guard text.isSymbol(next, ","), arguments.count < 2 else { break }
            next += 1
        }
        guard next < tokens.count else {
            throw SQLError(.incomplete, "\(name)(…) lacks its end", offset: text.bytes.count)
        }
        guard text.isSymbol(next, ")"), !arguments.isEmpty, let format = ItemFileFormat(rawValue: name) else {
            let what = tokens[next].kind == .symbol ? "nothing" : text.text(tokens[next])
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
    private static let followers: Set<String> = [
        "where", "group", "order", "having", "limit", "window", "union", "except", "intersect", "join", "left",
        "right", "full", "inner", "cross", "natural", "on", "using", "set", "returning", "indexed", "not", "and", "or",
        "values", "select", "default", "then", "else", "end", "when", "is", "collate", "offset", "asc", "desc",
    ]

    private static func hasAlias(_ text: SQLText, _ next: Int) -> Bool {
        guard next < text.tokens.count else { return false }
        switch text.tokens[next].kind {
        case .name, .string: return true
        case .word: return text.word(next).map { !followers.contains($0) } ?? false
        default: return false
        }
    }
}
