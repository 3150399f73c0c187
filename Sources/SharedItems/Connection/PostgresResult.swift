import CPostgres

/// The rows of a command's result, in binary format. The bytes are the server's: each access is checked.
package final class PostgresResult {
    private let library: cpostgres_library
    private let result: OpaquePointer

    init(_ library: cpostgres_library, _ result: OpaquePointer) {
        self.library = library
        self.result = result
    }

    deinit { library.PQclear(result) }

    package var rowCount: Int { Int(library.PQntuples(result)) }
    package var columnCount: Int { Int(library.PQnfields(result)) }

    /// Calls `body` with a value's bytes; with nil for null.
    package func withBytes<Value>(
        _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer?) throws(PostgresError) -> Value
    ) throws(PostgresError) -> Value {
        guard row >= 0, row < rowCount, column >= 0, column < columnCount else {
            throw Self.badAnswer("no value \(column + 1) in a row \(row + 1)")
        }
        let (row, column) = (Int32(row), Int32(column))
        if library.PQgetisnull(result, row, column) != 0 { return try body(nil) }
        let count = Int(library.PQgetlength(result, row, column))
        return try body(UnsafeRawBufferPointer(start: library.PQgetvalue(result, row, column), count: count))
    }

    /// A `bytea`, or the bytes of another value; nil for null.
    package func bytes(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8]? {
        try withBytes(row, column) { (bytes) throws(PostgresError) in bytes.map { Array($0) } }
    }

    /// A text.
    package func text(_ row: Int, _ column: Int) throws(PostgresError) -> String {
        try withBytes(row, column) { (bytes) throws(PostgresError) in
            guard let bytes else { throw Self.badAnswer("null where a text belongs") }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// An `int4` or an `int8`; nil for null.
    package func integer(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        try withBytes(row, column) { (bytes) throws(PostgresError) in
            guard let bytes else { return nil }
            switch bytes.count {
            case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
            case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
            default: throw Self.badAnswer("\(bytes.count) bytes where a number belongs")
            }
        }
    }

    /// A number that is not null.
    package func number(_ row: Int, _ column: Int) throws(PostgresError) -> Int64 {
        guard let number = try integer(row, column) else { throw Self.badAnswer("null where a number belongs") }
        return number
    }

    /// A revision: a number that is not negative and has a successor.
    func revision(_ row: Int, _ column: Int) throws(PostgresError) -> UInt64 {
        let number = try number(row, column)
        guard number >= 0, number < .max else { throw Self.badAnswer("\(number) where a revision belongs") }
        return UInt64(number)
    }

    static func badAnswer(_ what: String) -> PostgresError {
        PostgresError(.badAnswer, "the server's answer has another shape than it should: \(what)")
    }
}
