internal import CSQLite
internal import PropertyList

/// Memory that a table, a cursor or an aggregate holds for statements: it is counted with SQLite's own against what the
/// thread's work may use, and given back with the object. One thread owns it.
package final class SQLiteMemory {
    private var count: Int64 = 0

    package init() {}

    deinit { _ = csqlite_count_memory(-count) }

    /// Counts so many bytes in the place of those before.
    ///
    /// - Throws: `SQLiteError` with `noMemory` if they are too many.
    package func hold(_ bytes: Int) throws(SQLiteError) {
        let wanted = Int64(bytes)
        guard wanted != count else { return }
        guard csqlite_count_memory(wanted - count) != 0 else { throw Self.exhausted }
        count = wanted
    }

    /// Counts bytes that are needed for a moment, and gives them back.
    ///
    /// - Throws: `SQLiteError` with `noMemory` if they are too many.
    package static func check(_ bytes: Int) throws(SQLiteError) {
        guard csqlite_count_memory(Int64(bytes)) != 0 else { throw exhausted }
        _ = csqlite_count_memory(-Int64(bytes))
    }

    private static var exhausted: SQLiteError {
        SQLiteError(.noMemory, "sorting, looking up or reading rows needs more memory than is left")
    }
}

/// A database in memory, with virtual tables, functions, and other databases attached to it.
extension SQLiteDatabase {
    /// Lets LIKE compare letters of all alphabets in one case.
    package func foldCase() throws(SQLiteError) {
        let result = csqlite_fold_case(try handle()) { value in
            guard let scalar = Unicode.Scalar(value) else { return value }
            let lower = scalar.properties.lowercaseMapping.unicodeScalars
            return lower.count == 1 ? lower.first?.value ?? value : value
        }
        if result != 0 { throw failure(result) }
    }

    /// The collating sequence of dates as texts: by the moments that they are, a day by its beginning.
    package static let dateOrder = "cubby_date"

    /// Adds the collating sequence of dates.
    package func addDateOrder() throws(SQLiteError) {
        let result = csqlite_add_date_order(try handle(), Self.dateOrder)
        if result != 0 { throw failure(result) }
    }

    /// Attaches a database in a file under a name.
    ///
    /// - Throws: `SQLiteError`, such as `notADatabase`.
    package func attach(_ name: String, _ place: SQLitePlace, isReadOnly: Bool) throws(SQLiteError) {
        let database = try opened()
        let result = csqlite_attach(
            database, name, place.path, place.folder, place.temporaryFolder, isReadOnly ? 1 : 0)
        if result == 0 { return }
        let error = failure(result)
        _ = csqlite_detach(database, name)
        throw error
    }

    /// Detaches it.
    ///
    /// - Throws: `SQLiteError`, such as `locked` while a statement reads it.
    package func detach(_ name: String) throws(SQLiteError) {
        let result = csqlite_detach(try opened(), name)
        if result != 0 { throw failure(result) }
    }

    /// Adds a table that can't be changed, or replaces it; nil removes it.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - declaration: its columns as a statement that creates a table.
    ///   - table: answers SQLite's questions.
    /// - Throws: `SQLiteError`, such as `busy` while a statement reads the former one.
    package func addTable(_ name: String, _ declaration: String, _ table: (any SQLiteTable)?) throws(SQLiteError) {
        let box = table.map { Unmanaged.passRetained(TableBox(self, $0)).toOpaque() }
        let result = csqlite_add_table(try opened(), name, declaration, TableBox.methods, box)
        if result != 0 { throw failure(result) }
    }

    /// Creates a table that statements may change; one of the same name is replaced.
    ///
    /// - Throws: `SQLiteError` with `locked` while a statement reads the former one.
    package func createTable(_ name: String, _ declaration: String, _ table: any SQLiteTable) throws(SQLiteError) {
        let database = try opened()
        let box = Unmanaged.passRetained(TableBox(self, table)).toOpaque()
        let result = csqlite_create_table(database, name, declaration, TableBox.methods, box)
        if result != 0 { throw failure(result) }
    }

    /// The place in the text at which the last preparation failed, in bytes; nil if it is not known.
    package var errorOffset: Int? {
        guard let handle = try? handle(), let offset = library.pointee.sqlite3_error_offset.map({ $0(handle) }) else {
            return nil
        }
        return offset < 0 ? nil : Int(offset)
    }

    /// The number of rows that the last statement inserted, changed or removed.
    package var changeCount: Int { changes }

    /// The number of rows that all statements have changed: it stays where one changes none, such as `create`.
    package var totalChangeCount: Int {
        guard let handle = try? handle() else { return 0 }
        return Int(library.pointee.sqlite3_total_changes(handle))
    }

    /// What the last preparation was refused, and the way that leads to it.
    package var denial: SQLiteDenial? {
        guard let database = try? opened() else { return nil }
        let name = String(cString: csqlite_denial(database))
        switch csqlite_denial_kind(database) {
        case CSQLITE_DENIED_ATTACH: return SQLiteDenial(kind: .attach, name: name)
        case CSQLITE_DENIED_SCHEMA: return SQLiteDenial(kind: .schema, name: name)
        case CSQLITE_DENIED_TRANSACTION: return SQLiteDenial(kind: .transaction, name: name)
        case CSQLITE_DENIED_PRAGMA: return SQLiteDenial(kind: .pragma, name: name)
        case CSQLITE_DENIED_FUNCTION: return SQLiteDenial(kind: .function, name: name)
        default: return name.isEmpty ? nil : SQLiteDenial(kind: .other, name: name)
        }
    }

    /// Whether the statement that was prepared last changes the table `items`.
    package var changesItems: Bool { (try? opened()).map { csqlite_changes_items($0) != 0 } ?? false }

    /// Takes the error that a table or a function has thrown since the last one was taken.
    package func takeError() -> (any Error)? {
        defer { thrown = nil }
        return thrown
    }

    /// Keeps the first error that a table or a function throws: SQLite knows its text alone.
    func record(_ error: any Error) { if thrown == nil { thrown = error } }

    /// The result for SQLite of a body; an error is recorded.
    func answering(_ table: UnsafeMutablePointer<csqlite_table>?, _ body: () throws -> Void) -> Int32 {
        do { try body() } catch {
            record(error)
            if error is WorkStopped { return SQLiteError.Code.interrupted.rawValue }
            if let table { csqlite_fail(table, "\(error)") }
            return SQLiteError.Code.error.rawValue
        }
        return 0
    }
}

/// What a statement must not do.
package struct SQLiteDenial: Sendable, Hashable {
    package enum Kind: Sendable { case attach, schema, transaction, pragma, function, other }

    package let kind: Kind
    /// What was refused; empty where the kind says it.
    package let name: String

    package init(kind: Kind, name: String) { (self.kind, self.name) = (kind, name) }
}

/// Where a database's file is: a name in an open folder.
package struct SQLitePlace {
    /// Names it in messages; the last component is its name in the folder.
    package let path: String
    /// A descriptor of its open folder.
    package let folder: Int32
    /// A descriptor of the folder for temporary files. Who opens the database closes both.
    package let temporaryFolder: Int32

    package init(path: String, folder: Int32, temporaryFolder: Int32) {
        (self.path, self.folder, self.temporaryFolder) = (path, folder, temporaryFolder)
    }
}
