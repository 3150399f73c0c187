internal import CSQLite
internal import PropertyList

/// A database in one file; its statements cannot access other files. One thread owns it.
///
/// SQLite's library is loaded with the first one. A statement ends if the thread's work is interrupted, and waits two
/// seconds for a database locked by another process. Sorts beyond 16 MB use temporary files.
package final class SQLiteDatabase {
    private var database = csqlite_database()
    let library: UnsafePointer<csqlite_library>

    /// Opens an existing file; an empty one is an empty database.
    ///
    /// - Parameters:
    ///   - path: absolute and without links, so that side files are created in the intended folder.
    ///   - temporaryFolder: for temporary files, such as those of sorts.
    ///   - isReadOnly: whether to open it read-only.
    /// - Throws: `SQLiteError`, with `unavailable` if the library is missing.
    package init(path: String, temporaryFolder: String, isReadOnly: Bool) throws(SQLiteError) {
        var reason: UnsafePointer<CChar>?
        let found = withUnsafeMutablePointer(to: &reason) { pointer in
            pointer.withMemoryRebound(to: UnsafePointer<CChar>?.self, capacity: 1) { csqlite_library($0) }
        }
        guard let found else {
            let why = reason.map { String(cString: $0) } ?? ""
            throw SQLiteError(.unavailable, "SQLite's library is missing: install libsqlite3-0 (\(why))")
        }
        library = found
        let result = csqlite_open(&database, path, temporaryFolder, isReadOnly ? 1 : 0)
        if result != 0 {
            let error = failure(result)
            close()
            throw error
        }
    }

    deinit { close() }

    package func close() { csqlite_close(&database) }

    package var isOpen: Bool { database.handle != nil }

    /// Whether a transaction is active.
    package var isInTransaction: Bool {
        database.handle.map { library.pointee.sqlite3_get_autocommit($0) == 0 } ?? false
    }

    /// The number of rows that the last statement inserted, changed or removed.
    var changes: Int { database.handle.map { Int(library.pointee.sqlite3_changes($0)) } ?? 0 }

    /// - Throws: `SQLiteError` with `misuse` if it is closed.
    func handle() throws(SQLiteError) -> OpaquePointer {
        guard let handle = database.handle else { throw SQLiteError(.misuse, "the database is closed") }
        return handle
    }

    func failure(_ result: Int32) -> SQLiteError {
        let words =
            database.handle.flatMap { library.pointee.sqlite3_errmsg($0) } ?? library.pointee.sqlite3_errstr(result)
        let extended = database.handle.map { library.pointee.sqlite3_extended_errcode($0) } ?? result
        return SQLiteError(
            extended & 0xFF == result & 0xFF ? extended : result, words.map { String(cString: $0) } ?? "error \(result)"
        )
    }

    /// Runs a statement and ignores its rows.
    ///
    /// - Returns: the number of rows inserted, changed or removed.
    @discardableResult
    package func execute(_ sql: String, _ parameters: [SQLiteValue] = []) throws(SQLiteError) -> Int {
        let statement = try SQLiteStatement(self, sql)
        try statement.bind(parameters)
        return try statement.run()
    }

    /// Runs a body as a transaction, or as a savepoint within one: an error rolls its changes back.
    package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        let isInner = isInTransaction
        try execute(isInner ? "savepoint cubby" : "begin immediate")
        do {
            let result = try body()
            try execute(isInner ? "release cubby" : "commit")
            return result
        } catch {
            // Some errors have already rolled it back.
            if isInTransaction {
                _ = try? execute(isInner ? "rollback to cubby" : "rollback")
                if isInner { _ = try? execute("release cubby") }
            }
            throw error
        }
    }

    /// The names of its tables and views, sorted, without SQLite's own.
    package func tables() throws(SQLiteError) -> [String] {
        let statement = try SQLiteStatement(
            self,
            "select name from sqlite_master where type in ('table', 'view') and name not glob 'sqlite_*' order by name")
        var names: [String] = []
        while try statement.step() {
            if case .text(let name) = statement.cell(0) { names.append(String(decoding: name, as: UTF8.self)) }
        }
        return names
    }

    /// Quotes a name for a statement.
    package static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
