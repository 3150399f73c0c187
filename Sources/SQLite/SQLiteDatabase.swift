internal import CSQLite
internal import PropertyList
@_exported import Wording

/// A database in one file; its statements cannot access other files. One thread owns it.
///
/// SQLite's library is loaded with the first one. A statement ends if the thread's work is interrupted, allocates no more
/// than this work may use, and waits two seconds in all for a database locked by another process. Sorts beyond 16 MB use
/// temporary files.
package final class SQLiteDatabase {
    let library: UnsafePointer<csqlite_library>
    private var database: OpaquePointer?
    /// The open statements, finalized with the database: SQLite's own list has those of virtual tables, too.
    private var statements: Set<OpaquePointer> = []
    /// What a table or a function has thrown.
    var thrown: (any Error)?

    /// Opens an existing file; an empty one is an empty database.
    ///
    /// - Parameters:
    ///   - path: names it in messages; the last component is its name in the folder.
    ///   - folder: a descriptor of its open folder, in which the side files are, too.
    ///   - temporaryFolder: a descriptor of the folder for temporary files, such as those of sorts. Both descriptors are
    ///     closed with the database, or if it cannot be opened.
    ///   - isReadOnly: whether to open it read-only.
    /// - Throws: `SQLiteError`: `unavailable` if the library is missing, `notADatabase` or `corrupt` for another file.
    package init(
        path: String, folder: Int32, temporaryFolder: Int32, isReadOnly: Bool
    ) throws(SQLiteError) {
        var reason: UnsafePointer<CChar>?
        let found = Self.loadedLibrary(&reason)
        var result: Int32 = 0
        let opened = csqlite_open(path, folder, temporaryFolder, isReadOnly ? 1 : 0, &result)
        guard let found else { throw Self.missing(reason) }
        library = found
        database = opened
        guard opened != nil else {
            throw SQLiteError(.noMemory, "\(path): there is no memory, or its path is too long")
        }
        try checkOpening(result)
        // Reads the schema: what is not a database, or has a damaged schema, is told at once.
        do throws(SQLiteError) { _ = try tables(renewsPatience: false) } catch {
            close()
            throw error
        }
    }

    /// Opens an existing file in a folder of the host's own; neither folder may be a link.
    ///
    /// - Parameters:
    ///   - path: an absolute path.
    ///   - temporaryFolder: the path of the folder for temporary files.
    ///   - isReadOnly: whether to open it read-only.
    /// - Throws: `SQLiteError`, as above, and `cannotOpen`.
    package convenience init(path: String, temporaryFolder: String, isReadOnly: Bool) throws(SQLiteError) {
        let name = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = name.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        try self.init(
            path: path, folder: csqlite_open_folder(folder), temporaryFolder: csqlite_open_folder(temporaryFolder),
            isReadOnly: isReadOnly)
    }

    /// Opens a database in memory, whose statements ask virtual tables and attached databases.
    ///
    /// - Throws: `SQLiteError`: `unavailable` if the library is missing.
    package init() throws(SQLiteError) {
        var reason: UnsafePointer<CChar>?
        guard let found = Self.loadedLibrary(&reason) else { throw Self.missing(reason) }
        var result: Int32 = 0
        library = found
        database = csqlite_open_memory(&result)
        guard database != nil else { throw SQLiteError(.noMemory, "there is no memory for a database") }
        try checkOpening(result)
    }

    private func checkOpening(_ result: Int32) throws(SQLiteError) {
        if result == 0 { return }
        let error = failure(result)
        close()
        throw error
    }

    /// The version of SQLite's library, such as "3.40.1".
    ///
    /// - Throws: `SQLiteError` with `unavailable` if it is missing.
    package static func libraryVersion() throws(SQLiteError) -> String {
        var reason: UnsafePointer<CChar>?
        guard let library = loadedLibrary(&reason) else { throw missing(reason) }
        let number = library.pointee.sqlite3_libversion_number()
        return "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
    }

    /// SQLite's library; nil with a reason if it is missing.
    static func loadedLibrary(_ reason: inout UnsafePointer<CChar>?) -> UnsafePointer<csqlite_library>? {
        withUnsafeMutablePointer(to: &reason) { pointer in
            pointer.withMemoryRebound(to: UnsafePointer<CChar>?.self, capacity: 1) { csqlite_library($0) }
        }
    }

    private static func missing(_ reason: UnsafePointer<CChar>?) -> SQLiteError {
        let why = reason.map { String(cString: $0) } ?? ""
        return SQLiteError(.unavailable, "SQLite's library is missing: install libsqlite3-0 (\(why))")
    }

    deinit { close() }

    package func close() {
        for statement in statements { _ = library.pointee.sqlite3_finalize(statement) }
        statements = []
        csqlite_close(database)
        database = nil
    }

    /// Limits texts, blobs and rows of further statements to a quarter of a number of bytes, but to a megabyte at least.
    ///
    /// - Parameter memory: the bytes that work with the database may use; nil for no limit.
    package func limitValues(toMemory memory: Int?) {
        if let database, let memory { csqlite_limit_values(database, Int64(memory)) }
    }

    package var isOpen: Bool { database != nil }

    /// Whether a transaction is active.
    package var isInTransaction: Bool {
        connection.map { library.pointee.sqlite3_get_autocommit($0) == 0 } ?? false
    }

    /// The number of rows that the last statement inserted, changed or removed.
    var changes: Int { connection.map { Int(library.pointee.sqlite3_changes($0)) } ?? 0 }

    private var connection: OpaquePointer? { database.flatMap { csqlite_handle($0) } }

    /// - Throws: `SQLiteError` with `misuse` if it is closed.
    func opened() throws(SQLiteError) -> OpaquePointer {
        guard let database else { throw SQLiteError(.misuse, "the database is closed") }
        return database
    }

    /// SQLite's connection.
    ///
    /// - Throws: `SQLiteError` with `misuse` if it is closed.
    func handle() throws(SQLiteError) -> OpaquePointer {
        guard let connection else { throw SQLiteError(.misuse, "the database is closed") }
        return connection
    }

    // MARK: For statements

    /// Compiles a text; stores the maximum length of the statement's values.
    func prepare(
        _ sql: UnsafeBufferPointer<CChar>, _ rest: inout UnsafePointer<CChar>?, _ longest: inout Int32,
        renewsPatience: Bool
    ) throws(SQLiteError) -> OpaquePointer? {
        let database = try opened()
        guard let start = sql.baseAddress, sql.count < 1 << 24 else {
            throw SQLiteError(.tooBig, "a statement has 16 MB at most")
        }
        if renewsPatience { csqlite_renew(database) }
        var statement: OpaquePointer?
        let result = csqlite_prepare(database, start, Int32(sql.count), &statement, &rest, &longest)
        if result != 0 { throw failure(result) }
        if let statement { statements.insert(statement) }
        return statement
    }

    /// Steps once; true for a row, false behind the last one.
    func step(_ statement: OpaquePointer, longest: Int32, renewsPatience: Bool) throws(SQLiteError) -> Bool {
        let database = try opened()
        if renewsPatience { csqlite_renew(database) }
        switch csqlite_step(database, statement, longest) {
        case 100: return true
        case 101: return false
        case let result:
            let error = failure(result, longest: Int(longest))
            _ = library.pointee.sqlite3_reset(statement)
            throw error
        }
    }

    func finalize(_ statement: OpaquePointer) {
        if statements.remove(statement) != nil { _ = library.pointee.sqlite3_finalize(statement) }
    }

    func failure(_ result: Int32, longest: Int = .max) -> SQLiteError {
        let words =
            connection.flatMap { library.pointee.sqlite3_errmsg($0) } ?? library.pointee.sqlite3_errstr(result)
        let extended = connection.map { library.pointee.sqlite3_extended_errcode($0) } ?? result
        let code = extended & 0xFF == result & 0xFF ? extended : result
        // Reads, allocations and compilations fail with their own codes if they are stopped.
        if [.noMemory, .inputOutput, .denied].contains(SQLiteError.Code(rawValue: code & 0xFF)), Interruption.isDue {
            return SQLiteError(.interrupted, Interruption.message)
        }
        return SQLiteError(
            code, words.map { String(cString: $0) } ?? "error \(result)",
            denial: database.map { String(cString: csqlite_denial($0)) } ?? "", longest: longest)
    }

    // MARK: Statements

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
                if let database {
                    _ = csqlite_finish(database, isInner ? "rollback to cubby" : "rollback")
                    if isInner { _ = csqlite_finish(database, "release cubby") }
                }
            }
            throw error
        }
    }

    /// The names of its tables and views, sorted, without SQLite's own.
    package func tables() throws(SQLiteError) -> [String] { try tables(renewsPatience: true) }

    private func tables(renewsPatience: Bool) throws(SQLiteError) -> [String] {
        let statement = try SQLiteStatement(
            self,
            "select name from sqlite_master where type in ('table', 'view') and name not glob 'sqlite_*' order by name",
            renewsPatience: renewsPatience)
        var names: [String] = []
        while try statement.step() {
            if case .text(let name) = statement.cell(0) { names.append(String(decoding: name, as: UTF8.self)) }
        }
        return names
    }

    /// A name as a statement has it, in double quotes.
    package static func quoted(_ name: String) -> String { enclosed(name, in: UInt8(ascii: "\"")) }

    /// A text as a statement has it, in single quotes.
    package static func literal(_ text: String) -> String { enclosed(text, in: UInt8(ascii: "'")) }

    /// By bytes: a quote with an accent is one character, and SQLite's end of a name.
    private static func enclosed(_ text: String, in quote: UInt8) -> String {
        let doubled = text.utf8.flatMap { $0 == quote ? [quote, quote] : [$0] }
        return String(decoding: [quote] + doubled + [quote], as: UTF8.self)
    }
}

/// An SQLite error: its code and message.
package struct SQLiteError: Error, Hashable, CustomStringConvertible {
    /// The distinguished result codes of SQLite.
    package enum Code: Int32, Sendable {
        case error = 1
        case permission = 3
        case busy = 5
        case locked = 6
        case noMemory = 7
        case readOnly = 8
        case interrupted = 9
        case inputOutput = 10
        case corrupt = 11
        case full = 13
        case cannotOpen = 14
        case schema = 17
        case tooBig = 18
        case constraint = 19
        case mismatch = 20
        case misuse = 21
        case denied = 23
        case range = 25
        case notADatabase = 26
        /// Not an SQLite code: the library is missing.
        case unavailable = -1
    }

    package let code: Code
    /// The problem, and a remedy.
    package let message: String

    package init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    /// Creates the error of a result code, extended or not.
    ///
    /// - Parameters:
    ///   - result: the code.
    ///   - words: SQLite's own.
    ///   - denial: what statements must not do, for `denied`.
    ///   - longest: the maximum length of a value in the statement, for `tooBig`.
    init(_ result: Int32, _ words: String, denial: String = "", longest: Int = .max) {
        code = Code(rawValue: result & 0xFF) ?? .error
        message =
            switch code {
            case .busy, .locked: "\(words): another process has it open and did not finish"
            case .interrupted: Interruption.message
            case .denied where denial.isEmpty: "\(words): statements reach one database and their own data"
            case .denied: "\(words): \(denial) is closed to statements"
            case .error where !denial.isEmpty: "\(words): \(denial) is closed to statements"
            case .error where words.hasPrefix("unsafe use of"):
                "\(words): views and triggers may not use it; name the table itself"
            case .noMemory: "\(words): a value or a result is larger than the memory that the script may use"
            case .tooBig where longest < 256 << 20:
                "\(words): this statement's values and rows have \(Self.size(longest)) at most, by the functions that it calls and the limit of memory"
            case .inputOutput where result == Self.otherFile:
                "\(words): a journal beside it names a file that is not its own; open it with the program that wrote it"
            case .readOnly where result == Self.hotJournal:
                "\(words): an interrupted change has to be taken back first; open it once for writing"
            default: words
            }
    }

    private static func size(_ bytes: Int) -> String {
        bytes >= 1 << 20 ? "\(bytes >> 20) MB" : "\(bytes >> 10) KB"
    }

    private static let otherFile: Int32 = 10 | 13 << 8
    private static let hotJournal: Int32 = 8 | 3 << 8

    package var description: String { message }

    /// Whether a statement caused the error, rather than its environment.
    package var isStatementsFault: Bool { [.error, .schema, .mismatch, .misuse, .denied, .range].contains(code) }

    /// The code's name for scripts.
    package var identifier: String { "\(code)" }
}
