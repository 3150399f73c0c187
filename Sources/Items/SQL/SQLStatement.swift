package import ColumnEngine
package import PropertyList
package import SQLite

/// A prepared statement: its parameters are bound, then its rows are read one by one, as they are found.
package final class SQLStatement {
    /// A column of its rows.
    package struct Column: Sendable, Hashable {
        /// Its name; several may have the same.
        package let name: String
        /// The kind of the field or of the file's column; nil for an expression, and for a field of several kinds.
        package let kind: FieldDeclaration.Kind?
    }

    /// The columns of its rows; none for a change.
    package let columns: [Column]
    /// Whether it changes nothing.
    package let isReadOnly: Bool
    /// Its parameters by place, with their prefix: `?2`, `:x`, `@x`, `$x`; nil for a bare `?`.
    package let parameters: [String?]
    /// What was left out or carried differently of the files that it names, a sentence each.
    package let remarks: [String]

    init() { (columns, isReadOnly, parameters, remarks) = ([], true, [], []) }

    /// Binds a parameter, counted from 0. A date is bound as text in UTC, an array or a dictionary as JSON, data as a
    /// blob, a boolean as 0 or 1, an integer beyond 64 bits as text.
    ///
    /// - Throws: `SQLError` with `parameter` for a place that is not there, and for a value that is none of SQL.
    package func bind(_ value: PropertyListValue?, at place: Int) throws(SQLError) {}

    /// The next row; nil after the last one. NULL is `.null`, a blob `.data`.
    ///
    /// - Throws: `SQLError`, and what ``SQLError`` lists.
    package func next() throws -> [PropertyListValue]? { nil }

    /// Advances to the next row, whose cells are then read by ``cell(_:)``; false after the last one.
    package func step() throws -> Bool { false }

    /// A value of the current row, in memory that is valid until the next step.
    package func cell(_ column: Int) -> SQLiteCell { .null }

    /// Runs a change to its end. Its rows, if any, are ignored.
    ///
    /// - Returns: the number of items, or of rows of another table, that were inserted, changed or removed.
    @discardableResult
    package func run() throws -> Int { 0 }

    /// Starts anew: parameters stay bound.
    package func reset() {}

    /// Frees what it uses; reading further rows is an error.
    package func close() {}
}
