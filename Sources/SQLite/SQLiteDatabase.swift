internal import CSQLite
internal import PropertyList

/// A database in one file, whose statements reach nothing but that file. One thread owns it.
///
/// SQLite's library is loaded with the first one. A statement ends when the thread's work is interrupted, and waits two
/// seconds for a database that another process has locked. Sorts beyond 16 MB are in temporary files.
package final class SQLiteDatabase {
    private var database = csqlite_database()
    let library: UnsafePointer<csqlite_library>

    /// Opens a file that exists; an empty one is an empty database.
    ///
    /// - Parameters:
    ///   - path: absolute and without links, so that what is beside it is in the folder that was meant.
    ///   - temporaryFolder: for sorts and the like.
    ///   - isReadOnly: whether it is only read.
    /// - Throws: `SQLiteError`, with `unavailable` when the library is missing.
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

    /// Whether a transaction is under way.
    package var isInTransaction: Bool {
        database.handle.map { library.pointee.sqlite3_get_autocommit($0) == 0 } ?? false
    }

    /// Rows that the last statement inserted, changed or removed.
    var changes: Int { database.handle.map { Int(library.pointee.sqlite3_changes($0)) } ?? 0 }

    /// - Throws: `SQLiteError` with `misuse` when it is closed.
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

    /// Runs a statement that has no rows, or whose rows do not matter.
    ///
    /// - Returns: how many rows it inserted, changed or removed.
    @discardableResult
    package func execute(_ sql: String, _ parameters: [SQLiteValue] = []) throws(SQLiteError) -> Int {
        let statement = try SQLiteStatement(self, sql)
        try statement.bind(parameters)
        return try statement.run()
    }

    /// Runs a body whose changes all happen or none; within another one as a savepoint.
    package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        let isInner = isInTransaction
        try execute(isInner ? "savepoint cubby" : "begin immediate")
        do {
            let result = try body()
            try execute(isInner ? "release cubby" : "commit")
            return result
        } catch {
            // Some errors have rolled it back already.
            if isInTransaction {
                _ = try? execute(isInner ? "rollback to cubby" : "rollback")
                if isInner { _ = try? execute("release cubby") }
            }
            throw error
        }
    }

    /// The names of its tables and views, SQLite's own left out, sorted.
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

    /// A name in a statement.
    package static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
