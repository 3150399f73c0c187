import Application
import CPlatform
import Files
package import Items
import Logging
package import Lua
import PropertyList
package import SQLite
import Wording

/// SQL of a host: one connection for its scripts, its prompts and its commands.
extension ScriptHost {
    /// Makes the host's connection, with files behind the fence.
    func makeSQL() -> ItemSQL {
        let sql = ItemSQL(items, FencedSQLFiles(self))
        sql.memoryLimit = state.memory.limit
        return sql
    }

    /// Prepares a statement.
    ///
    /// - Throws: `StatementError`; errors of files.
    package func prepare(_ text: String) throws -> SQLStatement {
        try explaining(text) { try sql.prepare(text) }
    }

    /// Runs a body that works on a statement: its errors get the statement's text.
    package func explaining<Result>(_ text: String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as SQLError {
            throw StatementError(error, in: text)
        }
    }
}

/// An error of a SQL statement, with its text, for display.
package struct StatementError: Error, LuaErrorDetails, CustomStringConvertible {
    package let error: SQLError
    /// The problem, without the place.
    package var message: String { error.message }
    /// The line of the statement with the place, and a caret below it; nil without a place.
    package let excerpt: String?
    /// The place: line and column from 1.
    private let place: (line: Int, column: Int)?
    private let isOneLine: Bool

    init(_ error: SQLError, in text: String) {
        self.error = error
        let bytes = Array(text.utf8)
        guard let offset = error.offset, (0...bytes.count).contains(offset) else {
            (excerpt, place, isOneLine) = (nil, nil, true)
            return
        }
        let start = bytes[..<offset].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let end = bytes[offset...].firstIndex(of: 0x0A) ?? bytes.count
        let before = String(decoding: bytes[start..<offset], as: UTF8.self)
        let line = before + String(decoding: bytes[offset..<end], as: UTF8.self)
        place = (bytes[..<start].count { $0 == 0x0A } + 1, before.count + 1)
        isOneLine = !bytes.contains(0x0A)
        let shown = SourceExcerpt(line, marking: before.count..<before.count + 1)
        excerpt = shown.map { "    \($0.text)\n    \($0.marks ?? "")" }
    }

    /// The message, the place, and the excerpt.
    package var description: String {
        var text = "sql: \(message)"
        if let place {
            text += isOneLine ? " (column \(place.column))" : " (line \(place.line), column \(place.column))"
        }
        return excerpt.map { "\(text)\n\($0)" } ?? text
    }

    package var luaDomain: String { "SQL" }
    package var luaCode: LuaErrorCode { .word(error.code.rawValue) }
    package var isScriptsFault: Bool { [.syntax, .incomplete, .denied, .parameter].contains(error.code) }
}

/// The files of SQL's statements, behind the fence. A path in a statement's text grants nothing.
private final class FencedSQLFiles: SQLFiles {
    private unowned let host: ScriptHost

    init(_ host: ScriptHost) { self.host = host }

    func withFile(_ path: String, _ body: (ImportFile) throws -> Void) throws {
        try FileInput.read(host, path) { try body(ImportFile($0, $1)) }.get()
    }

    func databasePlace(_ path: String, isReadOnly: Bool) throws -> SQLitePlace {
        // A misspelt path would become an empty database.
        try DatabaseFile.place(host, path, isReadOnly: isReadOnly, createsMissing: false)
    }
}

/// What a statement gives.
package enum SQLResult {
    case rows(SQLRows)
    /// The number of items, or of rows of another table, that were inserted, changed or deleted.
    case changes(Int)
}

/// Runs statements for scripts and prompts.
extension ScriptHost {
    /// Runs a statement whose parameters are bound, to its end.
    ///
    /// - Parameters:
    ///   - statement: the statement.
    ///   - entry: its text, if it has no parameters: rows that a statement reads keep it.
    /// - Returns: its rows, or the number of changes.
    /// - Throws: `SQLError`, `LuaError` beyond the limit of memory, and what a change throws.
    package func run(_ statement: SQLStatement, entry: String? = nil) throws -> SQLResult {
        guard !statement.columns.isEmpty else {
            if !statement.isReadOnly { try lifeCycle.saver.commitBeforeTransaction() }
            return .changes(try statement.run())
        }
        let rows = SQLRows(columns: statement.columns.map(\.name), statement: statement.isReadOnly ? entry : nil)
        let columns = rows.columns.indices
        var growth = 0
        rowMemory.collect()
        while try statement.step() {
            for column in columns { rows.append(statement.cell(column)) }
            growth += rows.endRow()
            guard growth > 1 << 18 else { continue }
            rowMemory.add(growth)
            rowMemory.collect()
            guard rowMemory.hasCapacity(for: growth) else {
                throw LuaError(
                    .memory,
                    "not enough memory: the statement's rows need more than the limit; sql.each reads them one by one")
            }
            growth = 0
        }
        rowMemory.add(growth)
        return .rows(rows)
    }

    /// Runs a statement without parameters, as an entry of a prompt.
    ///
    /// - Returns: its rows, or the number of changes, as a value of Lua.
    package func runEntry(sql text: String) throws -> LuaValue {
        try explaining(text) {
            let statement = try sql.prepare(text)
            defer { statement.close() }
            report(statement.remarks)
            if let name = statement.parameters.first {
                throw SQLError(
                    .parameter, "the parameter \(name ?? "?") has no value at the prompt: sql(text, value) gives it one"
                )
            }
            switch try run(statement, entry: text) {
            case .rows(let rows): return rows.luaValue(in: state)
            case .changes(let count): return .integer(Int64(count))
            }
        }
    }

    /// Says what was left out of a statement's files, or carried differently.
    package func report(_ remarks: [String]) { for remark in remarks { logger.info("\(remark)") } }

    /// The value of a cell; nil for NULL.
    package func luaValue(of cell: SQLiteCell) -> LuaValue {
        switch cell {
        case .null: .nil
        case .integer(let number): .integer(number)
        case .real(let number): .number(number)
        case .text(let bytes): .string(LuaString(Array(bytes)))
        case .blob(let bytes): values.datas.value(DataValue(Array(bytes)))
        }
    }
}

/// The memory of rows of databases that scripts hold, within their limit.
///
/// Lua knows a handle or a table of each row, and not what the host has made for it: garbage is collected in time, since
/// SQLite allocates within what is left of the limit.
package final class RowMemory {
    private unowned let host: ScriptHost
    /// The bytes since garbage was collected.
    private var fetched = 0

    package init(_ host: ScriptHost) { self.host = host }

    /// Collects rows that no script has any more.
    package func collect() {
        guard let limit = host.state.memory.limit, fetched > limit / 8 else { return }
        fetched = 0
        if cubby_work_capacity() < Int64(limit / 2) { host.runtime.returnMemory() }
    }

    /// Counts bytes that have been fetched or are going to be.
    package func add(_ count: Int) { fetched += count }

    /// Whether the limit has room for bytes, if need be after a collection.
    package func hasCapacity(for count: Int) -> Bool {
        guard Int64(count) > cubby_work_capacity() else { return true }
        host.runtime.returnMemory()
        return Int64(count) <= cubby_work_capacity()
    }
}
