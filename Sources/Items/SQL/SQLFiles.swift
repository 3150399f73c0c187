import CSV
import ColumnEngine
import PropertyList
package import SQLite
import Wording

/// How SQL's statements open files: the host checks each path against its fence, and asks for consent.
package protocol SQLFiles: AnyObject {
    /// Calls a body with a file that is opened for reading.
    ///
    /// - Throws: errors of the body; the host's own for a path that it does not let in.
    func withFile(_ path: String, _ body: (ImportFile) throws -> Void) throws

    /// Opens the folder of a database that is attached.
    ///
    /// - Parameters:
    ///   - path: the path that the user gives.
    ///   - isReadOnly: whether statements only read it.
    /// - Returns: where it is; who opens it closes the descriptors.
    /// - Throws: the host's own error for a path that it does not let in.
    func databasePlace(_ path: String, isReadOnly: Bool) throws -> SQLitePlace
}

/// A file's rows as a table: read by the import's readers into columns of their own, like those of the items.
///
/// Columns, and not rows of SQLite: they take a third of the memory, a scan reads no more than the columns that a
/// statement uses, and a join looks up rows as it does in the items.
struct SQLFileTable {
    let table: SQLRowTable
    /// What was left out or carried differently.
    let remarks: [String]

    /// Reads a file.
    ///
    /// - Throws: `SQLError` for options; errors of the host, and of the import.
    init(_ call: SQLFileCalls.Call, _ files: any SQLFiles, _ plans: SQLPlans) throws {
        var options = try ItemFileOptions(call.format, json: call.options, of: call.format.rawValue)
        if let (option, formats) = options.foreignOption {
            throw SQLError(.syntax, "\(call.format.rawValue), option '\(option)': for \(formats)")
        }
        let store = ItemStore(schema: ItemSchema())
        options.countsAbsentFields = false
        store.history.commits = 1
        store.history.bytes = 0
        var remarks: [String] = []
        var kinds: String?
        options.onKinds = { kinds = $0 }
        options.progress = { [columns = store.columns] _, _ in
            // A word for each value at least, and the texts; a file that is being looked through has no rows yet.
            let values = columns.rowCount * (columns.fieldNames.count + 4)
            do throws(SQLiteError) { try SQLiteMemory.check(values * 8 + columns.textBytes) } catch {
                throw SQLError(.limit, "\(call.path): its rows are larger than the memory that the script may use")
            }
        }
        try files.withFile(call.path) { file in
            let words = OptionWords.FileTable(call.format.rawValue, path: call.path, functions: SQLFileCalls.names)
            let report = try OptionWords.$table.withValue(words) {
                try store.importItems(file, path: call.path, options)
            }
            remarks = report.remarks.filter { $0.kind != .noName }.map { "\(call.path): \($0.description)" }
        }
        if let kinds { remarks.insert(kinds, at: 0) }
        self.remarks = remarks
        let columns = store.columns
        var fields: [ItemField] = []
        for name in columns.visibleFieldNames {
            guard let field = columns.existingField(named: name), field != columns.keyField else { continue }
            fields.append(field)
        }
        columns.prepareColumns(fields)
        let days = Set(
            fields.filter {
                columns.haveNoTimes($0) && (!options.format.hasDays || store.hasDays(columns.name(of: $0)))
            })
        var names: [ItemField: String] = [:]
        if let key = options.keyField, let field = columns.existingField(named: key) { names[field] = "itemKey" }
        let shape = SQLColumns(columns, fields, hasPosition: false, days: days, names: names)
        table = SQLRowTable(call.text, id: call.table, columns, shape, plans)
    }
}

extension ItemFileOptions {
    /// The options of a file table: those of an import, as a dictionary of JSON.
    ///
    /// - Parameters:
    ///   - format: the file's format.
    ///   - text: JSON; empty for the default options.
    ///   - name: the table's name in messages.
    /// - Throws: `SQLError` for an option that is not known, or that has another value than it takes.
    init(_ format: ItemFileFormat, json text: String, of name: String) throws(SQLError) {
        self.init(format: format)
        keyField = "itemKey "
        keepsOrder = true
        if text.isEmpty { return }
        let value: PropertyListValue
        do { value = try PropertyListValue(json: Array(text.utf8)) } catch {
            throw SQLError(.syntax, "the options of \(name) are not JSON: \(error)")
        }
        guard let options = value.fields else {
            throw SQLError(.syntax, "the options of \(name) are an object of JSON, such as {\"delimiter\": \";\"}")
        }
        for (option, value) in options.sortedByName { try set(option, value, name) }
    }

    /// What each option takes.
    private static let expectations = [
        "comment": "a text of 1 to 64 bytes", "date": "a pattern such as \"dd.MM.yyyy\"",
        "decimal": "\"point\" or \"comma\"", "delimiter": "one ASCII character, or \"tab\",",
        "encoding": ItemFileEncoding.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "),
        "header": "false, or the columns' names", "map": "new names by column", "null": "a text, or several",
        "path": "keys with points between them", "sheet": "the sheet's name", "skip": "a number of lines",
        "types": "\"infer\", \"text\", or kinds by column",
    ]

    private mutating func set(_ option: String, _ value: PropertyListValue, _ name: String) throws(SQLError) {
        guard let expected = Self.expectations[exactly: option] else {
            let all = Self.expectations.keys.sorted()
            throw SQLError(
                .syntax,
                "\(name) has no option '\(option)'\(NearestNames.hint(for: option, among: all)): it takes \(all.joined(separator: ", "))"
            )
        }
        func wrong(_ expected: String = expected) -> SQLError {
            let got =
                (try? value.json()).map { (bytes: [UInt8]) in String(decoding: bytes, as: UTF8.self) } ?? "\(value)"
            return SQLError(.syntax, "\(name), option '\(option)': \(expected) expected, got \(got)")
        }
        switch (option, value) {
        case ("delimiter", .string(let text)):
            let names: [String: UInt8] = ["tab": 9, "\\t": 9, "comma": 0x2C, "semicolon": 0x3B, "pipe": 0x7C]
            guard let byte = names[text] ?? (text.utf8.count == 1 ? text.utf8.first : nil), byte < 0x80,
                ![0x22, 0x0A, 0x0D, 0].contains(byte)
            else { throw wrong() }
            delimiter = byte
        case ("encoding", .string(let text)):
            guard let known = ItemFileEncoding(rawValue: text) else { throw wrong() }
            encoding = known
        case ("skip", .integer(let count)) where count >= 0 && count < 1 << 31: skippedLines = Int(count)
        case ("comment", .string(let text)) where !text.isEmpty && text.utf8.count <= 64: comment = text
        case ("header", .boolean(let flag)): if !flag { header = .none }
        case ("header", .array(let names)):
            let texts = names.compactMap(\.text)
            guard !names.isEmpty, texts.count == names.count else { throw wrong() }
            header = .names(texts)
        case ("null", .string(let text)): nulls = [text]
        case ("null", .array(let texts)):
            nulls = texts.compactMap(\.text)
            if nulls.count != texts.count { throw wrong() }
        case ("decimal", .string(let text)):
            guard let known = NumberStyle.Decimal(rawValue: text) else { throw wrong() }
            decimal = known
        case ("date", .string(let text)):
            do throws(DatePatternError) { dateStyle = try DateStyle(pattern: text) } catch {
                throw SQLError(.syntax, "\(name), option 'date': \(error)")
            }
        case ("sheet", .string(let text)): sheet = text
        case ("path", .string(let text)): recordPath = text
        case ("types", .string("text")): kinds = .text
        case ("types", .string("infer")): kinds = .inferred
        case ("types", _):
            guard let fields = value.fields else { throw wrong() }
            try setKinds(fields, name)
        case ("map", _):
            guard let fields = value.fields else { throw wrong() }
            for (column, other) in fields.sortedByName {
                switch other {
                case .string(let text): names[column] = .some(text)
                case .boolean(false): names[column] = .some(nil)
                default: throw wrong("new names by column, or false")
                }
            }
        default: throw wrong()
        }
    }

    private mutating func setKinds(_ fields: PropertyListFields, _ name: String) throws(SQLError) {
        var kinds: NameTable<ItemColumnKind> = [:]
        for (field, word) in fields.sortedByName {
            var kind: ItemColumnKind?
            do throws(DatePatternError) {
                kind = try word.text.flatMap { word throws(DatePatternError) in try ItemColumnKind(word) }
            } catch { throw SQLError(.syntax, "\(name), option 'types': \(error)") }
            guard let kind else {
                let all = ItemFieldKind.allCases.map(\.rawValue).joined(separator: ", ")
                throw SQLError(.syntax, "\(name), option 'types': \(field) is one of \(all), date(PATTERN)")
            }
            kinds[field] = kind
        }
        self.kinds = .named(kinds)
    }
}

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
