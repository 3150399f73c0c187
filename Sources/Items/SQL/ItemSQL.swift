import ColumnEngine
package import PropertyList
import SQLite

/// SQL over a store's items, and over files: a connection to SQLite, whose tables ask the column engine.
///
///     let sql = ItemSQL(store, files)
///     let statement = try sql.prepare("select room, count(*) n from items where valueInDollars > ? group by room")
///     try statement.bind(.integer(100), at: 0)
///     while let row = try statement.next() { print(row) }
///
/// The connection is made by the first statement. One thread owns it, that of the store.
package final class ItemSQL {
    /// The store whose items are the table `items`; nil when it is gone.
    package private(set) weak var store: ItemStore?
    private let files: any SQLFiles
    /// The bytes that a script may use; nil for no limit. Values have a quarter of it at most.
    package var memoryLimit: Int?

    private var connection: SQLiteDatabase?
    private let functions = SQLFunctions()
    private let plans = SQLPlans()
    private var items: SQLRowTable?
    /// The tables of files, and how many statements use each.
    private var fileTables: NameTable<(table: SQLRowTable, uses: Int)> = [:]
    private var definedNames: NameTable<String> = [:]
    private var attachedNames: [String] = []
    /// The changes that the running statement asks for; nil if none is running that changes items.
    var changes: SQLChanges?
    private var openStatements = 0
    /// How many statements are being run, each by a function of another.
    private var depth = 0

    private static let depthLimit = 16
    /// The bytes of the longest statement. What is longer is data, and to look at each of its words takes longer than a
    /// limit of time allows.
    private static let longest = 1_000_000
    /// The bytes of the longest name of an attached database.
    private static let longestName = 1_000
    static let table = "items"

    package init(_ store: ItemStore, _ files: any SQLFiles) { (self.store, self.files) = (store, files) }

    deinit { connection?.close() }

    // MARK: Statements

    /// Prepares one statement. Files that it names are read now.
    ///
    /// - Throws: `SQLError`; errors of files.
    package func prepare(_ text: String) throws -> SQLStatement {
        let database = try database()
        let parsed = try Self.parsed(text)
        let calls = try SQLFileCalls(parsed)
        let isExplained = parsed.isWord(0, "explain")
        var (tables, remarks): ([String], [String]) = ([], [])
        do {
            for call in calls.calls {
                remarks += try addTable(call, to: database)
                tables.append(call.table)
            }
            if !leftOutColumns.isEmpty, Self.takesAllColumns(parsed) {
                remarks.append(
                    "items: * has no columns for \(leftOutColumns.count.counted("field")) more than SQLite's limit")
            }
            return try prepare(calls, tables, remarks, database, isExplained: isExplained)
        } catch {
            removeTables(tables)
            throw error
        }
    }

    /// Whether a statement has a `*` for the columns of the items.
    private static func takesAllColumns(_ text: SQLText) -> Bool {
        let places = text.tokens.indices
        guard places.contains(where: { text.isWord($0, table) }) else { return false }
        return places.contains { place in
            guard text.isSymbol(place, "*") else { return false }
            let isFirst = ["select", "distinct", "all"].contains(text.word(place - 1) ?? "")
            return isFirst || text.isSymbol(place - 1, ",") || text.isSymbol(place - 1, ".")
        }
    }

    private static func parsed(_ text: String) throws(SQLError) -> SQLText {
        guard text.utf8.count <= longest else {
            throw SQLError(
                .limit,
                "a statement has at most \(longest.grouped) bytes, and this one has \(text.utf8.count.grouped): read rows from a file, as csv('rows.csv') does, or pass values as parameters"
            )
        }
        return SQLText(text)
    }

    private func prepare(
        _ calls: SQLFileCalls, _ tables: [String], _ remarks: [String], _ database: SQLiteDatabase,
        isExplained: Bool
    ) throws -> SQLStatement {
        plans.areShown = isExplained
        defer { plans.areShown = false }
        do throws(SQLiteError) {
            let statement = try SQLiteStatement(database, calls.statement)
            return SQLStatement(
                self, statement, calls, tables: tables, remarks: remarks,
                changesItems: database.changesItems && !isExplained)
        } catch { throw thrown(error, calls) }
    }

    /// Whether a text is a whole statement, for a prompt: reads no file, and runs nothing.
    package func completeness(of text: String) -> SQLCompleteness {
        do {
            let parsed = try Self.parsed(text)
            if parsed.isOpen { return .incomplete }
            let database = try database()
            let calls = try SQLFileCalls(parsed)
            if parsed.isSymbol(parsed.tokens.count - 1, ";") { return .complete }
            do throws(SQLiteError) { _ = try SQLiteStatement(database, calls.statement) } catch {
                guard let known = thrown(error, calls) as? SQLError else { return .complete }
                switch known.code {
                case .incomplete: return .incomplete
                case .syntax where known.message.hasPrefix("near ") || known.message.hasPrefix("unrecognized token"):
                    return .error(known)
                default: return .complete
                }
            }
            return .complete
        } catch let error as SQLError {
            return error.code == .incomplete ? .incomplete : .error(error)
        } catch {
            return .complete
        }
    }

    /// The plans of a statement: SQLite's own, and what of it the items answer.
    package func explain(_ text: String) throws -> SQLPlan {
        let prefix = "explain query plan "
        let isPlan = try Self.parsed(text).isWord(0, "explain")
        // Indexes of an earlier run are built by their use: the plan shown is the one with them.
        store?.columns.buildIndexes()
        let statement = try prepare(isPlan ? text : prefix + text)
        var plan = SQLPlan()
        var depths: [Int64: Int] = [:]
        while let row = try statement.next() {
            guard row.count >= 4, case .integer(let number) = row[0], case .integer(let parent) = row[1],
                case .string(let detail) = row[3]
            else { continue }
            let depth = depths[parent].map { $0 + 1 } ?? 0
            depths[number] = depth
            let (text, planNumber) = Self.parts(of: detail)
            plan.lines.append(SQLPlan.Line(depth: depth, text: text))
            guard let found = planNumber.flatMap({ plans[$0] }) else { continue }
            let table = found.table == Self.table ? items : fileTables[found.table]?.table
            if let table { plan.pushed.append("\(table.name): \(table.explanation(of: found.plan, rows: found.rows))") }
        }
        return plan
    }

    /// `SCAN items VIRTUAL TABLE INDEX 3:` without what means nothing to people, and the plan's number.
    private static func parts(of detail: String) -> (text: String, planNumber: Int?) {
        guard let range = detail.firstRange(of: " VIRTUAL TABLE INDEX ") else { return (detail, nil) }
        return (String(detail[..<range.lowerBound]), Int(detail[range.upperBound...].prefix { $0.isNumber }))
    }

    // MARK: The connection

    private func database() throws -> SQLiteDatabase {
        guard let store else { throw SQLError(.failed, "the items' store is closed") }
        let database: SQLiteDatabase
        if let connection {
            database = connection
        } else {
            do throws(SQLiteError) {
                database = try SQLiteDatabase()
                try functions.add(to: database)
                try database.foldCase()
                try database.addDateOrder()
            } catch { throw SQLError(error.code == .unavailable ? .unavailable : .failed, error.message) }
            connection = database
        }
        database.limitValues(toMemory: memoryLimit)
        let shape = SQLColumns(of: store)
        if items?.shape == shape { return database }
        let table = SQLRowTable(
            Self.table, id: Self.table, store.columns, shape, plans,
            onRead: { [unowned self] in changes?.carry($0, as: $1) },
            onChange: { [unowned self, columns = store.columns] change in
                try changes?.add(change, shape, columns)
            })
        do throws(SQLiteError) { try database.createTable(Self.table, shape.declaration, table) } catch {
            // A statement that is under way keeps the table as it was: new fields are seen when it has ended.
            if items != nil, error.code == .locked { return database }
            throw SQLError(.failed, error.message)
        }
        items = table
        return database
    }

    /// - Returns: what was left out of the file.
    private func addTable(_ call: SQLFileCalls.Call, to database: SQLiteDatabase) throws -> [String] {
        let file = try SQLFileTable(call, files, plans)
        do throws(SQLiteError) {
            try database.addTable(call.table, file.table.shape.declaration, file.table)
        } catch { throw SQLError(.failed, "\(call.text): \(error.message)") }
        fileTables[call.table] = (file.table, (fileTables[call.table]?.uses ?? 0) + 1)
        return file.remarks
    }

    /// Counts a statement that is prepared, or frees what is for open ones alone when the last one is closed.
    func countStatements(_ change: Int) {
        openStatements += change
        guard openStatements == 0, change < 0 else { return }
        plans.freeIfMany()
        if let memoryLimit { items?.freeLookups(above: memoryLimit / 8) }
    }

    func removeTables(_ names: [String]) {
        for name in names {
            guard let (table, uses) = fileTables[name] else { continue }
            fileTables[name] = uses > 1 ? (table, uses - 1) : nil
            if uses == 1 { try? connection?.addTable(name, "", nil) }
        }
    }

    // MARK: Running

    func enter() throws(SQLError) {
        guard depth < Self.depthLimit else {
            throw SQLError(.limit, "statements that functions of statements run nest \(Self.depthLimit) deep at most")
        }
        depth += 1
        _ = connection?.takeError()
    }

    func leave() { depth -= 1 }

    var changeCount: Int { connection?.changeCount ?? 0 }

    var totalChangeCount: Int { connection?.totalChangeCount ?? 0 }

    // MARK: Errors

    /// The error for a caller: that of a function or a table, if one has thrown it.
    func thrown(_ failure: SQLiteError, _ calls: SQLFileCalls?) -> any Error {
        if let thrown = connection?.takeError() {
            if let failure = thrown as? SQLiteError { return self.error(failure, calls) }
            return thrown
        }
        if failure.code == .interrupted { return WorkStopped() }
        return error(failure, calls)
    }

    func error(_ failure: SQLiteError, _ calls: SQLFileCalls?) -> SQLError {
        // Of the statement that failed: a hint asks others.
        let place = connection?.errorOffset ?? SQLHint.place(of: failure.message, calls?.statement ?? "")
        let offset = place.map { calls?.original($0) ?? $0 }
        if failure.message == "incomplete input" {
            return SQLError(.incomplete, "the statement is not complete", offset: offset ?? calls?.length)
        }
        if let denial = connection?.denial, failure.code == .denied || failure.code == .error {
            let start = SQLText(String((calls?.statement ?? "").prefix(200)))
            let isVirtual = denial.kind != .schema && start.isWord(0, "create") && start.isWord(1, "virtual")
            return SQLError(.denied, isVirtual ? Self.virtualAdvice : Self.advice(denial), offset: offset)
        }
        if failure.message == "virtual tables may not be altered" {
            return SQLError(.denied, Self.advice(SQLiteDenial(kind: .schema, name: "")), offset: offset)
        }
        let code: SQLError.Code =
            switch failure.code {
            case .error: .syntax
            case .denied: .denied
            case .noMemory, .tooBig, .full: .limit
            case .constraint, .mismatch: .constraint
            case .range: .parameter
            default: .failed
            }
        let statement = Array((calls?.statement ?? "").utf8)
        let before = statement.prefix(max(place ?? 0, 0))
        let isQuoted = statement.dropFirst(before.count).first == UInt8(ascii: "\"")
        let hint =
            isQuoted && failure.message.hasPrefix("no such column")
            ? ": a text stands in single quotes" : SQLHint(self, before).text(for: failure.message)
        return SQLError(code, failure.message + hint, offset: offset)
    }

    /// What is refused is a statement of the module's own, which the user has not written.
    private static let virtualAdvice =
        "a statement makes no virtual table: sqlite.open(path) makes them in a database, which sql.attach attaches"

    private static func advice(_ denial: SQLiteDenial) -> String {
        switch denial.kind {
        case .attach where !denial.name.isEmpty:
            "\(denial.name) is closed to statements: an attached database is compacted by sqlite.open"
        case .attach: "a statement attaches no database: sql.attach(name, path) does, within the sandbox"
        case .schema:
            "a statement changes no schema of the items: items:declare declares fields; temporary tables and views are free"
        case .transaction: "a statement is a transaction of its own: items:transaction(f) makes one of several"
        case .pragma: "PRAGMA \(denial.name) is closed to statements: those that only tell something are open"
        case .function, .other: "\(denial.name) is closed to statements"
        }
    }
}

extension SQLFileCalls {
    /// The length of the original text in bytes.
    fileprivate var length: Int { original(statement.utf8.count) }
}

/// Names: functions, databases, completion.
extension ItemSQL {
    /// Adds a function, which may be called with any number of arguments; NULL is `.null`. A function of the same name
    /// is replaced. Nil removes it.
    ///
    /// - Parameters:
    ///   - name: its name, in any case.
    ///   - function: is called in the middle of a statement, and may throw: the statement then ends with this error.
    /// - Throws: `SQLError` for a name of SQLite's own or of this module's.
    package func define(
        _ name: String, _ function: (([PropertyListValue]) throws -> PropertyListValue)?
    ) throws {
        let database = try database()
        let key = name.lowercased()
        guard !name.isEmpty, name.utf8.count <= 200, !name.utf8.contains(0) else {
            throw SQLError(.failed, "a function's name has 1 to 200 bytes")
        }
        if definedNames[key] == nil, try ownFunctions().contains(key) {
            throw SQLError(.failed, "\(name) is a function of SQL: choose another name")
        }
        do throws(SQLiteError) {
            guard let function else {
                try database.addFunction(name, count: -1, isFixed: false, nil)
                definedNames[key] = nil
                return
            }
            try database.addFunction(name, count: -1, isFixed: false) { arguments in
                let values = try (0..<arguments.count).map { index in
                    if let value = arguments[index].value { return value }
                    throw SQLError(.failed, "argument \(index + 1) of \(name) is a text that is not UTF-8")
                }
                let result = try function(values)
                do throws(SQLError) { return try SQLiteValue(result) } catch {
                    throw SQLError(.failed, "\(name) gave a value that is none of SQL: \(error.message)")
                }
            }
        } catch {
            let isBusy = error.code == .busy
            throw SQLError(.failed, isBusy ? "\(name) is not replaced while a statement is being run" : error.message)
        }
        definedNames[key] = name
    }

    private func ownFunctions() throws -> NameSet {
        var names: NameSet = []
        let statement = try prepare("select distinct name from pragma_function_list")
        while let row = try statement.next() { if let name = row[0].text { names.insert(name.lowercased()) } }
        return names
    }

    /// Attaches a database, whose tables statements name as `name.table`.
    ///
    /// - Throws: `SQLError`; errors of the file.
    package func attach(_ name: String, _ path: String, isWritable: Bool = false) throws {
        let database = try database()
        guard !name.isEmpty, name.utf8.count <= Self.longestName, !name.utf8.contains(0),
            !["main", "temp", Self.table].contains(name.lowercased())
        else {
            throw SQLError(
                .failed, "\(name.shortened(to: 100).quoted()) is not a name for a database: choose another one")
        }
        if attachedNames.contains(where: { $0.lowercased() == name.lowercased() }) {
            throw SQLError(.failed, "a database is attached as \(name) already: sql.detach(\(name.quoted())) first")
        }
        let place = try files.databasePlace(path, isReadOnly: !isWritable)
        do throws(SQLiteError) { try database.attach(name, place, isReadOnly: !isWritable) } catch {
            throw SQLError(.file, "\(path): \(error.message)")
        }
        attachedNames.append(name)
    }

    /// Detaches a database.
    package func detach(_ name: String) throws {
        guard let place = attachedNames.firstIndex(where: { $0.lowercased() == name.lowercased() }) else {
            throw SQLError(
                .failed, "no database is attached as \(name)\(NearestNames.hint(for: name, among: attachedNames))")
        }
        do throws(SQLiteError) { try connection?.detach(attachedNames[place]) } catch {
            throw SQLError(.failed, "\(name): \(error.message)")
        }
        attachedNames.remove(at: place)
    }

    /// The columns of all tables.
    var columnNames: [String] {
        let files = fileTables.values.flatMap { $0.table.shape.columns.map(\.name) }
        return NameSet(names.tables.values.flatMap { $0 } + files).sorted()
    }

    /// The fields of the items for which there was no column left.
    var leftOutColumns: [String] { items?.shape.leftOut ?? [] }

    /// The names for completion.
    package var names: SQLNames {
        var names = SQLNames()
        guard (try? database()) != nil else { return names }
        names.tables[Self.table] = items?.shape.columns.map(\.name) ?? []
        names.databases = attachedNames
        func texts(_ text: String) -> [String] {
            guard let statement = try? prepare(text) else { return [] }
            var found: [String] = []
            while let row = try? statement.next() { if let name = row.first?.text { found.append(name) } }
            return found
        }
        for database in ["temp"] + attachedNames {
            let schema =
                SQLiteDatabase.quoted(database) + (database == "temp" ? ".sqlite_temp_master" : ".sqlite_master")
            for table in texts(
                "select name from \(schema) where type in ('table', 'view') and name not glob 'sqlite_*'")
            {
                let columns = texts(
                    "select name from pragma_table_info(\(SQLiteDatabase.literal(table)), \(SQLiteDatabase.literal(database)))"
                )
                names.tables[database == "temp" ? table : "\(database).\(table)"] = columns
            }
        }
        let known = Set(texts("select distinct name from pragma_function_list where name glob '[a-z]*'"))
        names.functions = known.union(definedNames.values).sorted()
        return names
    }

}

/// Whether a text is a statement.
package enum SQLCompleteness: Sendable, Hashable {
    case complete
    /// More has to come.
    case incomplete
    case error(SQLError)
}

/// The plans of a statement.
package struct SQLPlan: Sendable, Hashable, CustomStringConvertible {
    /// A line of SQLite's plan, with its depth in the tree from 0.
    package struct Line: Sendable, Hashable {
        package var depth: Int
        package var text: String
    }

    /// SQLite's plan.
    package var lines: [Line] = []
    /// What each table answers by itself, such as `items: carrier = ?, by columns carrier, arr_delay`.
    package var pushed: [String] = []

    /// Both, as text.
    package var description: String {
        (lines.map { String(repeating: "  ", count: $0.depth) + $0.text } + pushed).joined(separator: "\n")
    }
}

/// Names of tables, of their columns, and of functions.
package struct SQLNames: Sendable, Hashable {
    /// The columns by table; tables of an attached database as `name.table`.
    package var tables: NameTable<[String]> = [:]
    /// The functions, sorted; defined ones among them.
    package var functions: [String] = []
    /// The attached databases.
    package var databases: [String] = []

    package init() {}
}
