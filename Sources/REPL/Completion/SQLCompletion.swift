import Application
import Items
import LineEditor
import Lua
import SQLite
import Scripting

/// Completes SQL at the end of a text: tables, their columns, functions, words, the values of a field, and files in
/// `csv('…')`. Nothing runs, and no file is read.
struct SQLCompletion {
    private let host: ScriptHost
    private let sql: SQLText
    private let after: UInt8?

    /// The tables made of files, with what they read.
    private static let fileTables = [
        ("csv", "a file of comma-separated values"), ("jsonl", "a file of JSON objects, one per line"),
        ("json", "a JSON file with an array of objects"), ("xlsx", "a sheet of a spreadsheet"),
    ]
    /// The words after which a table stands.
    private static let beforeTables: Set<String> = ["from", "join", "into", "update"]

    /// - Parameters:
    ///   - host: the host of the items.
    ///   - before: the text before the cursor.
    ///   - after: the byte at the cursor; nil at the end.
    init(_ host: ScriptHost, before: [UInt8], after: UInt8?) {
        (self.host, sql, self.after) = (host, SQLText(bytes: before), after)
    }

    /// The candidates, and the range that they replace; nil without any.
    var result: CompletionResult? {
        let end = sql.bytes.count
        switch sql.all.last?.kind {
        case .comment(isClosed: false)?,
            .comment(isClosed: true)? where sql.all.last?.range.upperBound == end:
            return nil
        case .string(isClosed: false)?: return contents
        case .number? where sql.all.last?.range.upperBound == end: return nil
        case .parameter? where sql.all.last?.range.upperBound == end: return nil
        default: break
        }
        // A name in quotes is replaced with its quote.
        var (word, start) = ("", end)
        if let last = sql.all.last, last.range.upperBound == end {
            switch last.kind {
            case .word: (word, start) = (sql.text(last), last.range.lowerBound)
            case .name(isClosed: false): (word, start) = (String(sql.text(last).dropFirst()), last.range.lowerBound)
            default: break
            }
        }
        let count = sql.tokens.prefix { $0.range.upperBound <= start }.count
        let found = candidates(word, before: count, isQuoted: start < end && !LuaName.isPart(sql.bytes[start]))
        return Completer.result(found, start..<end)
    }

    // MARK: Names

    private func candidates(_ word: String, before count: Int, isQuoted: Bool) -> [CompletionCandidate] {
        let names = host.sql.names
        if sql.isSymbol(count - 1, "."), let owner = sql.name(count - 2) {
            return qualified(by: owner, word, names)
        }
        if let previous = sql.word(count - 1), Self.beforeTables.contains(previous), !isClosedUpdate(count) {
            return tables(word, names, isQuoted: isQuoted)
        }
        // A list after FROM goes on with a table.
        if sql.isSymbol(count - 1, ","), isInTableList(count - 1) { return tables(word, names, isQuoted: isQuoted) }
        let fields = written(columns(of: nil, names), by: word, .field)
        guard !isQuoted else { return fields }
        let aliases = Matching.candidates(
            self.aliases.keys.sorted(), by: word, kind: .variable, detail: "table",
            suffix: after == UInt8(ascii: ".") ? "" : ".")
        let call = after == UInt8(ascii: "(") ? "" : "("
        let functions =
            word.isEmpty ? [] : Matching.candidates(names.functions, by: word, kind: .function, suffix: call)
        let words =
            word.isEmpty
            ? []
            : Matching.filter(SQLText.keywords.sorted(), by: word) { $0 }.map {
                CompletionCandidate(Self.inCase(of: word, $0), kind: .keyword, suffix: " ")
            }
        return fields + aliases + words + functions.filter { function in !words.contains { $0.text == function.text } }
    }

    /// Whether `update` is part of `on conflict do update`.
    private func isClosedUpdate(_ count: Int) -> Bool { sql.isWord(count - 1, "update") && sql.isWord(count - 2, "do") }

    private func tables(_ word: String, _ names: SQLNames, isQuoted: Bool) -> [CompletionCandidate] {
        var known = names.tables.keys.filter { !$0.contains(".") }
        if !known.contains("items") { known.append("items") }
        let tables = Matching.filter(known.sorted(), by: word) { $0 }.map { name in
            CompletionCandidate(
                Self.written(name), label: name, kind: .type,
                detail: name == "items" ? host.items.count.counted("item") : "table")
        }
        guard !isQuoted else { return tables }
        let databases = Matching.candidates(
            names.databases, by: word, kind: .module, detail: "database", suffix: ".")
        let files = Matching.filter(Self.fileTables, by: word) { $0.0 }.map {
            CompletionCandidate(
                $0.0, kind: .function, suffix: after == UInt8(ascii: "(") ? "" : "('", documentation: $0.1)
        }
        let open = Matching.candidates(commonTables, by: word, kind: .type, detail: "table")
        return tables + open + databases + files
    }

    /// Columns of a table or an alias, or tables of a database.
    private func qualified(by owner: String, _ word: String, _ names: SQLNames) -> [CompletionCandidate] {
        let inside = names.tables.keys.filter { $0.lowercased().hasPrefix(owner.lowercased() + ".") }.sorted()
            .map { String($0.dropFirst(owner.count + 1)) }
        if !inside.isEmpty {
            return written(inside, by: word, .type, detail: "table")
        }
        return written(columns(of: aliases[owner] ?? owner, names), by: word, .field)
    }

    /// The columns of a table; without one, or for an unknown one, those of the tables that the statement names.
    private func columns(of table: String?, _ names: SQLNames) -> [String] {
        func named(_ table: String) -> [String]? {
            if table.lowercased() == "items" {
                let own = host.items.fieldNames + ["itemKey", "position"]
                return names.tables["items"].map { known in
                    known + own.filter { !known.contains($0) }
                } ?? own
            }
            return names.tables.first { $0.key.lowercased() == table.lowercased() }?.value
        }
        if let table, let columns = named(table) { return columns }
        let used = NameSet(aliases.values).union(tablePlaces.map(\.name))
        let columns = used.sorted().compactMap(named).flatMap { $0 }
        return (columns.isEmpty ? named("items") ?? [] : columns).unique()
    }

    // MARK: What the statement names

    /// The tables by the names that the statement gives them.
    private var aliases: NameTable<String> {
        var found = NameTable<String>()
        for table in tablePlaces {
            let next = sql.isWord(table.end, "as") ? table.end + 1 : table.end
            guard let alias = sql.name(next), !isTyped(next), !SQLText.keywords.contains(alias.lowercased()) else {
                continue
            }
            found[alias] = table.name
        }
        return found
    }

    /// Whether a token is the word that is being typed.
    private func isTyped(_ place: Int) -> Bool {
        place == sql.tokens.count - 1 && sql.tokens[place].range.upperBound == sql.bytes.count
    }

    private var tablePlaces: [(name: String, end: Int)] {
        sql.tokens.indices.compactMap { place in
            let isAfterWord = sql.word(place - 1).map(Self.beforeTables.contains) ?? false
            guard isAfterWord || sql.isSymbol(place - 1, ",") && isInTableList(place - 1), let name = sql.name(place)
            else {
                return nil
            }
            if sql.isSymbol(place + 1, "."), let table = sql.name(place + 2) {
                return ("\(name).\(table)", place + 3)
            }
            guard sql.isSymbol(place + 1, "(") else { return (name, place + 1) }
            return (name, closing(of: place + 1) + 1)
        }
    }

    /// The names of the tables that WITH defines.
    private var commonTables: [String] {
        sql.tokens.indices.compactMap { place in
            guard sql.isWord(place, "as"), sql.isSymbol(place + 1, "("), sql.isWord(place + 2, "select") else {
                return nil
            }
            return sql.name(place - 1)
        }
    }

    /// The bracket that closes one; the last token if none does.
    private func closing(of open: Int) -> Int {
        var depth = 0
        for place in open..<sql.tokens.count {
            if sql.isSymbol(place, "(") { depth += 1 }
            if sql.isSymbol(place, ")") { depth -= 1 }
            if depth == 0 { return place }
        }
        return sql.tokens.count - 1
    }

    /// Whether a comma separates tables: the clause before it, at its level, is FROM.
    private func isInTableList(_ comma: Int) -> Bool {
        var depth = 0
        for place in (0..<max(comma, 0)).reversed() {
            if sql.isSymbol(place, ")") { depth += 1 }
            if sql.isSymbol(place, "(") { depth -= 1 }
            if depth < 0 { return false }
            guard depth == 0, let word = sql.word(place) else { continue }
            if word == "from" { return true }
            if ["select", "where", "group", "order", "by", "on", "set", "using", "values", "limit"].contains(word) {
                return false
            }
        }
        return false
    }

    // MARK: Strings

    /// What a string that is being written stands for: a file of `csv('…')`, or a value of the field before it.
    private var contents: CompletionResult? {
        guard let token = sql.tokens.last else { return nil }
        let (place, end) = (sql.tokens.count - 1, sql.bytes.count)
        let isFile =
            sql.isSymbol(place - 1, "(")
            && (sql.word(place - 2).map { word in Self.fileTables.contains { $0.0 == word } } ?? false)
        let found =
            isFile
            ? FileCompletion(host.fence.layer).candidates(
                String(sql.text(token).dropFirst()), closing: after == 0x27 ? "" : "'")
            : PredicateCompletion(host).complete(String(decoding: sql.bytes, as: UTF8.self))
        return found.candidates.isEmpty
            ? nil : CompletionResult(replacement: end - found.length..<end, candidates: found.candidates)
    }

    // MARK: Writing

    /// A name as a statement has it: in quotes if it is not a plain one.
    private static func written(_ name: String) -> String {
        let isPlain =
            LuaName.isStart(name.utf8.first ?? 0) && name.utf8.allSatisfy(LuaName.isPart)
            && !SQLText.keywords.contains(name.lowercased())
        return isPlain ? name : SQLiteDatabase.quoted(name)
    }

    /// The names that match a word, as a statement has them.
    private func written(
        _ names: [String], by word: String, _ kind: CompletionCandidate.Kind, detail: String = ""
    ) -> [CompletionCandidate] {
        Matching.filter(names, by: word) { $0 }.map {
            CompletionCandidate(Self.written($0), label: $0, kind: kind, detail: detail)
        }
    }

    /// A keyword in capitals if the word begins so.
    private static func inCase(of word: String, _ keyword: String) -> String {
        word.first?.isUppercase ?? false ? keyword.uppercased() : keyword
    }
}
