import SQLite

/// An error of a SQL statement: what happened, and where in its text.
///
/// Errors that are not SQL's pass through as they are: `StoreError` of a change, `FileError` and `StoreError` of a file,
/// `WorkStopped` of an interruption, and what a function of the host throws.
public struct SQLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What a statement failed by.
    public enum Code: String, Sendable {
        /// Its text: a misspelt word, a name that is not there, a wrong number of arguments.
        case syntax
        /// The text is the beginning of a statement.
        case incomplete
        /// What statements must not do; the message names the way.
        case denied
        /// A parameter that is not there, or a value that is none of SQL.
        case parameter
        /// A file that a statement names.
        case file
        /// A limit: of memory, of a value's length, of depth.
        case limit
        /// A constraint of a table.
        case constraint
        /// SQLite's library is missing.
        case unavailable
        /// Anything else that SQLite reports.
        case failed
    }

    /// What it failed by.
    public let code: Code
    /// The problem, and a remedy.
    public let message: String
    /// The place in the text, counted in bytes from 0; nil if none is known.
    public let offset: Int?

    package init(_ code: Code, _ message: String, offset: Int? = nil) {
        (self.code, self.message, self.offset) = (code, message, offset)
    }

    public var description: String { message }
}

/// What a misspelt name or word of a statement is near to.
struct SQLHint {
    private let sql: ItemSQL
    /// The statement before the place of the error.
    private let before: ArraySlice<UInt8>

    init(_ sql: ItemSQL, _ before: ArraySlice<UInt8>) { (self.sql, self.before) = (sql, before) }

    /// The bytes of the longest message, and of the longest word, for which a hint is looked for: a text of a megabyte is
    /// no misspelt name, and comparing it is not linear.
    private static let longest = 1000

    /// The end of a message of SQLite; empty without a hint.
    func text(for message: String) -> String {
        guard message.utf8.count <= Self.longest else { return "" }
        func name(_ prefix: String) -> String? {
            message.hasPrefix(prefix) ? String(message.dropFirst(prefix.count)) : nil
        }
        if let column = name("no such column: ") { return ofColumn(column) }
        if let column = name("table items has no column named ") { return ofColumn(column) }
        if message.hasPrefix("UPSERT not implemented") {
            return ": items:import(path, { key = …, update = true }) creates and updates"
        }
        if message.contains("RETURNING is not available") { return ": select the items after the change" }
        if let function = name("no such function: ") {
            if SQLFileCalls.names.contains(function.lowercased()) {
                return ": \(function)(…) is a table, after FROM or JOIN"
            }
            if let habit = Self.habits[function.lowercased()] { return ": \(habit)" }
            return NearestNames.hint(for: function, among: sql.names.functions)
        }
        if let table = name("no such table: ") {
            if let habit = Self.habits[table.lowercased()] { return ": \(habit)" }
            let ending = table.split(separator: ".").last.map { $0.lowercased() } ?? ""
            if table.contains("."), SQLFileCalls.names.contains(ending) {
                return ": a file is \(ending)(\(SQLiteDatabase.literal(table)))"
            }
            let names = sql.names
            let hint = NearestNames.hint(for: table, among: names.tables.keys.sorted() + names.databases)
            return hint.isEmpty && !table.contains(".")
                ? ": items, csv('path'), and the tables of databases that sql.attach has attached" : hint
        }
        if message.hasPrefix("unrecognized token: \":") { return ": \(Self.cast)" }
        if let word = name("near \""), message.hasSuffix("\": syntax error") {
            return ofWord(String(word.dropLast("\": syntax error".count)))
        }
        return ""
    }

    /// The place of a table that is missing, or of a column of an insert, for which SQLite has none; nil for other messages.
    static func place(of message: String, _ statement: String) -> Int? {
        let starts = ["no such table: ", "table items has no column named "]
        guard message.utf8.count <= longest, let start = starts.first(where: { message.hasPrefix($0) })
        else { return nil }
        let name = message.dropFirst(start.count).lowercased()
        let text = SQLText(statement)
        let last = name.split(separator: ".").last.map { String($0) } ?? name
        let names = text.tokens.indices.map { place in
            guard text.tokens[place].range.count <= longest else { return "" }
            return (text.name(place) ?? text.content(place) ?? "").lowercased()
        }
        let found = names.firstIndex(of: name) ?? names.firstIndex(of: last)
        return found.map { text.tokens[$0].range.lowerBound }
    }

    private func ofColumn(_ column: String) -> String {
        let last = column.split(separator: ".").last.map(String.init) ?? column
        if sql.leftOutColumns.contains(where: { $0 == last }) {
            return ": the items have more fields than SQLite has columns"
        }
        let hint = NearestNames.hint(for: last, among: sql.columnNames)
        return hint.isEmpty ? ": items:declare makes a new field" : hint
    }

    private func ofWord(_ word: String) -> String {
        if let habit = Self.habits[word.lowercased()] { return ": \(habit)" }
        if word.lowercased() == "from", before.allSatisfy({ $0 == 0x20 || $0 == 0x0A }) {
            return ": select * from …"
        }
        let hint = NearestNames.hint(for: word.lowercased(), among: Self.keywords)
        if !hint.isEmpty { return hint }
        // A misspelt word was taken for the name of what stands before it: `name form items`.
        let isPart = { (byte: UInt8) in (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "_") }
        let rest = before.reversed().drop { $0 == 0x20 || $0 == 0x0A }
        let letters = rest.prefix(Self.longest).prefix(while: isPart)
        let former = String(decoding: letters.reversed(), as: UTF8.self).lowercased()
        if let habit = Self.habits[former] { return ": \(habit)" }
        return Self.keywords.contains(former) ? "" : NearestNames.hint(for: former, among: Self.keywords)
    }

    private static let cast = "a cast is cast(x as integer)"

    /// Functions, tables and words of other databases, and what there is instead.
    private static let habits = [
        "ilike": "like is of either case", "qualify": "a subquery's where does it", "top": "limit 3 at the end",
        "exclude": "name the columns", "show": "select name from pragma_table_list", "read_csv": "csv('PATH')",
        "describe": "select * from pragma_table_info('items')", "read_csv_auto": "csv('PATH')",
        "summarize": "items:describe() in Lua", "read_json": "json('PATH')", "read_json_auto": "json('PATH')",
        "date_trunc": "strftime('%Y-%m-01', t) is a month's beginning", "year": "strftime('%Y', t)",
        "month": "strftime('%m', t)", "string_agg": "group_concat(x, ', ')", "quantile_cont": "percentile(x, 90)",
        "percentile_cont": "percentile(x, 90)", "quantile": "percentile(x, 90)", "greatest": "max(a, b)",
        "least": "min(a, b)", "len": "length(x)", "list": "json_group_array(x)", "array_agg": "json_group_array(x)",
        "mode": "group by x order by count(*) desc limit 1", "now": "datetime('now')", "day": "strftime('%d', t)",
        "hour": "strftime('%H', t)", "date_part": "strftime('%m', t)", "regexp_matches": "x regexp 'pattern'",
    ]

    /// The words between the parts of a statement, whose spelling the grammar depends on.
    private static let keywords = [
        "between", "delete", "distinct", "explain", "from", "group", "having", "inner", "insert", "into", "join",
        "left", "limit", "offset", "order", "outer", "select", "union", "update", "using", "values", "where", "with",
    ]
}
