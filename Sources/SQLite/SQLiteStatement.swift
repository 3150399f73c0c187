internal import CSQLite

/// A statement of a database: parameters are bound, then its rows are stepped through. It retains its database.
package final class SQLiteStatement {
    private let database: SQLiteDatabase
    private let library: UnsafePointer<csqlite_library>
    /// Valid while the database is open; closing the database finalizes it.
    private let statement: OpaquePointer
    /// The maximum length of its values, by the functions that it calls.
    private let longest: Int32
    /// Whether it waits for a lock as long as ever; its first step shares the time of its compilation.
    private var renewsPatience = false
    /// The columns of its rows; names may repeat.
    package let columns: [String]

    /// - Throws: `SQLiteError` unless the text is a single statement.
    package convenience init(_ database: SQLiteDatabase, _ sql: String) throws(SQLiteError) {
        try self.init(database, sql, renewsPatience: true)
    }

    init(_ database: SQLiteDatabase, _ sql: String, renewsPatience: Bool) throws(SQLiteError) {
        let library = database.library
        guard !sql.utf8.contains(0) else { throw SQLiteError(.error, "a statement holds no NUL") }
        var hasRest = false
        var longest: Int32 = 0
        let text = sql.utf8CString
        let made = try text.withUnsafeBufferPointer { (text) throws(SQLiteError) -> OpaquePointer? in
            let text = UnsafeBufferPointer(rebasing: text.dropLast())
            var rest: UnsafePointer<CChar>?
            let made = try database.prepare(text, &rest, &longest, renewsPatience: renewsPatience)
            if let rest, let start = text.baseAddress {
                hasRest = text[(rest - start)...].contains { ![0x20, 0x0A, 0x0D, 0x09, 0x3B].contains($0) }
            }
            return made
        }
        guard let made else { throw SQLiteError(.error, "a statement is expected, and the text has none") }
        if hasRest {
            database.finalize(made)
            throw SQLiteError(.error, "one statement is expected, and the text has more: run them one by one")
        }
        var columns: [String] = []
        for column in 0..<library.pointee.sqlite3_column_count(made) {
            let name = library.pointee.sqlite3_column_name(made, column)
            guard let text = name.map({ String(validatingCString: $0) }) ?? "" else {
                database.finalize(made)
                throw SQLiteError(
                    .error, "the name of column \(column + 1) is not UTF-8 text: select it as another name")
            }
            columns.append(text)
        }
        (self.database, self.library, statement, self.columns) = (database, library, made, columns)
        self.longest = longest
    }

    deinit { database.finalize(statement) }

    /// The declared type of a column; nil for an expression.
    package func declaredType(_ column: Int) -> String? {
        guard database.isOpen else { return nil }
        return library.pointee.sqlite3_column_decltype(statement, Int32(column)).map { String(cString: $0) }
    }

    // MARK: Parameters

    /// The names of its parameters, with their prefix; nil for unnamed ones.
    package var parameterNames: [String?] {
        guard database.isOpen else { return [] }
        let count = library.pointee.sqlite3_bind_parameter_count(statement)
        return count < 1
            ? []
            : (1...count).map { library.pointee.sqlite3_bind_parameter_name(statement, $0).map { String(cString: $0) } }
    }

    /// Binds all parameters, in order.
    ///
    /// - Throws: `SQLiteError` with `range` for another number of values.
    package func bind(_ values: [SQLiteValue]) throws(SQLiteError) {
        guard database.isOpen else { throw SQLiteError(.misuse, "the database is closed") }
        let count = Int(library.pointee.sqlite3_bind_parameter_count(statement))
        guard values.count == count else {
            throw SQLiteError(.range, "the statement has \(count) parameters, and \(values.count) values are given")
        }
        for (index, value) in values.enumerated() { try bind(value, at: index) }
    }

    /// Binds a parameter, counted from 0.
    package func bind(_ value: SQLiteValue, at index: Int) throws(SQLiteError) {
        let place = Int32(index + 1)
        switch value {
        case .null: try check(library.pointee.sqlite3_bind_null(statement, place))
        case .integer(let number): try check(library.pointee.sqlite3_bind_int64(statement, place, number))
        case .real(let number):
            if number.isNaN { throw Self.notANumber }
            try check(library.pointee.sqlite3_bind_double(statement, place, number))
        case .text(let bytes):
            try bytes.withUnsafeBufferPointer { (bytes) throws(SQLiteError) in try bind(text: bytes, at: index) }
        case .blob(let bytes):
            guard !bytes.isEmpty else { return try check(library.pointee.sqlite3_bind_zeroblob(statement, place, 0)) }
            guard let count = Int32(exactly: bytes.count) else { throw Self.tooLong }
            try check(
                bytes.withUnsafeBytes {
                    library.pointee.sqlite3_bind_blob(statement, place, $0.baseAddress, count, Self.copied)
                })
        }
    }

    /// Binds a parameter, counted from 0, to a copy of a text.
    package func bind(text: UnsafeBufferPointer<UInt8>, at index: Int) throws(SQLiteError) {
        guard let count = Int32(exactly: text.count) else { throw Self.tooLong }
        let result = text.withMemoryRebound(to: CChar.self) { text in
            // A null address would bind NULL.
            withUnsafePointer(to: CChar(0)) { empty in
                library.pointee.sqlite3_bind_text(
                    statement, Int32(index + 1), text.baseAddress ?? empty, count, Self.copied)
            }
        }
        try check(result)
    }

    static let notANumber = SQLiteError(.mismatch, "NaN is not a number that SQLite has, and would become NULL")
    private static let tooLong = SQLiteError(.tooBig, "a text or blob is longer than SQLite takes")
    /// SQLite's marker for bytes that it must copy.
    private static let copied = unsafeBitCast(-1, to: csqlite_destructor.self)

    private func check(_ result: Int32) throws(SQLiteError) {
        if result != 0 { throw database.failure(result) }
    }

    // MARK: Rows

    /// Advances to the next row; false after the last one.
    package func step() throws(SQLiteError) -> Bool {
        defer { renewsPatience = true }
        return try database.step(statement, longest: longest, renewsPatience: renewsPatience)
    }

    /// Steps through all rows, and resets the statement for new parameters.
    ///
    /// - Returns: the number of rows inserted, changed or removed.
    @discardableResult
    package func run() throws(SQLiteError) -> Int {
        while try step() {}
        let count = isReadOnly ? 0 : database.changes
        _ = library.pointee.sqlite3_reset(statement)
        return count
    }

    /// Starts anew; parameters stay bound.
    package func reset() { if database.isOpen { _ = library.pointee.sqlite3_reset(statement) } }

    package var isReadOnly: Bool { database.isOpen && library.pointee.sqlite3_stmt_readonly(statement) != 0 }

    /// The value of a column, counted from 0.
    package func cell(_ column: Int) -> SQLiteCell {
        guard database.isOpen else { return .null }
        let place = Int32(column)
        switch library.pointee.sqlite3_column_type(statement, place) {
        case 1: return .integer(library.pointee.sqlite3_column_int64(statement, place))
        case 2: return .real(library.pointee.sqlite3_column_double(statement, place))
        case 3:
            // Read the text first, since it determines the number of bytes.
            let start = library.pointee.sqlite3_column_text(statement, place)
            return .text(
                UnsafeBufferPointer(start: start, count: Int(library.pointee.sqlite3_column_bytes(statement, place))))
        case 4:
            let start = library.pointee.sqlite3_column_blob(statement, place)?.assumingMemoryBound(to: UInt8.self)
            return .blob(
                UnsafeBufferPointer(
                    start: start, count: start == nil ? 0 : Int(library.pointee.sqlite3_column_bytes(statement, place)))
            )
        default: return .null
        }
    }
}

/// A value bound to a parameter.
package enum SQLiteValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    /// The bytes of a text.
    case text([UInt8])
    case blob([UInt8])
}

/// A value of a row, in memory that is valid until the statement's next step.
package enum SQLiteCell {
    case null
    case integer(Int64)
    case real(Double)
    case text(UnsafeBufferPointer<UInt8>)
    case blob(UnsafeBufferPointer<UInt8>)
}
