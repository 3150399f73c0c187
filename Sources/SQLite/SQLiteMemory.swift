internal import CSQLite

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
