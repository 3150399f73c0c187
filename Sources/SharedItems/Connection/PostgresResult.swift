import CPostgres
import Glibc

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

    /// A `bytea[]`, with nil for each null in it; empty for null.
    package func byteArrays(_ row: Int, _ column: Int) throws(PostgresError) -> [[UInt8]?] {
        try withBytes(row, column) { (bytes) throws(PostgresError) in
            guard let bytes else { return [] }
            var rest = bytes[...]
            func number() throws(PostgresError) -> Int {
                guard rest.count >= 4 else { throw Self.badAnswer("an array that is cut") }
                defer { rest = rest.dropFirst(4) }
                return Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: rest.startIndex, as: Int32.self)))
            }
            // The dimensions, whether there are nulls, the type; then the count, and the number of the first.
            let dimensions = try number()
            _ = (try number(), try number())
            if dimensions == 0 { return [] }
            guard dimensions == 1 else { throw Self.badAnswer("an array of \(dimensions) dimensions") }
            let count = try number()
            _ = try number()
            // Each has its length at least.
            guard count >= 0, count <= rest.count / 4 else { throw Self.badAnswer("an array of \(count) elements") }
            var elements: [[UInt8]?] = []
            elements.reserveCapacity(count)
            for _ in 0..<count {
                let length = try number()
                guard length <= rest.count else { throw Self.badAnswer("an array that is cut") }
                elements.append(length < 0 ? nil : Array(rest.prefix(length)))
                rest = rest.dropFirst(max(length, 0))
            }
            return elements
        }
    }

    /// A revision: a number that is not negative and has a successor.
    func revision(_ row: Int, _ column: Int) throws(PostgresError) -> UInt64 {
        let number = try number(row, column)
        guard number >= 0, number < .max else { throw Self.badAnswer("\(number) where a revision belongs") }
        return UInt64(number)
    }

    /// The revision that the last command of a script selected: there values are texts.
    func textOfRevision() throws(PostgresError) -> UInt64 {
        guard rowCount == 1, let revision = UInt64(try text(0, 0)), revision < UInt64(Int64.max) else {
            throw Self.badAnswer("no revision")
        }
        return revision
    }

    static func badAnswer(_ what: String) -> PostgresError {
        PostgresError(.badAnswer, "the server's answer has another shape than it should: \(what)")
    }
}

/// A parameter of a command, in PostgreSQL's binary format.
package enum PostgresValue: Sendable {
    case null
    case text(String)
    case int4(Int32)
    case int8(Int64)
    case bytes([UInt8])
    case uuid([UInt8])
    case byteArrays([[UInt8]])
    case int4Arrays([Int32])
    case uuids([[UInt8]])
    /// Texts in UTF-8.
    case texts([[UInt8]])
    /// Null instead of an array.
    case nullByteArrays

    /// The type's OID in `pg_type`; these are fixed.
    var type: UInt32 {
        switch self {
        case .null: 0
        case .text: 25
        case .int4: 23
        case .int8: 20
        case .bytes: 17
        case .uuid: 2950
        case .byteArrays, .nullByteArrays: 1001
        case .int4Arrays: 1007
        case .uuids: 2951
        case .texts: 1009
        }
    }

    /// The bytes; nil for null.
    var encoded: [UInt8]? {
        switch self {
        case .null, .nullByteArrays: nil
        case .text(let text): Array(text.utf8)
        case .int4(let number): withUnsafeBytes(of: number.bigEndian) { Array($0) }
        case .int8(let number): withUnsafeBytes(of: number.bigEndian) { Array($0) }
        case .bytes(let bytes), .uuid(let bytes): bytes
        case .byteArrays(let elements): Self.array(elements, of: 17)
        case .int4Arrays(let elements): Self.array(elements.map { PostgresValue.int4($0).encoded ?? [] }, of: 23)
        case .uuids(let elements): Self.array(elements, of: 2950)
        case .texts(let elements): Self.array(elements, of: 25)
        }
    }

    /// A one-dimensional array: dimensions, nulls, element type, count, lower bound, then each length and bytes.
    private static func array(_ elements: [[UInt8]], of type: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + elements.reduce(0) { $0 + 4 + $1.count })
        func put(_ number: Int32) { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
        put(elements.isEmpty ? 0 : 1)
        put(0)
        put(type)
        if elements.isEmpty { return bytes }
        put(Int32(clamping: elements.count))
        put(1)
        for element in elements {
            put(Int32(clamping: element.count))
            bytes.append(contentsOf: element)
        }
        return bytes
    }
}

/// A failure of the server, or of the connection to it.
package struct PostgresError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// libpq is not installed, or too old.
        case libraryMissing
        /// The address is malformed, or has a part that is not allowed.
        case badAddress
        /// There is no connection, or it was lost. The last command may have been executed.
        case disconnected
        /// The deadline passed. The last command may have been executed.
        case timedOut
        /// The caller's wait was cancelled.
        case cancelled
        /// The server refused, with its code of five characters (SQLSTATE).
        case server(String)
        /// The server, the database or the collection is unusable.
        case unusable
        /// A standby of the server was promoted in its place.
        case formerPrimary
        /// The collection's commits differ from those known to the host.
        case otherHistory
        /// The answer has an unexpected form.
        case badAnswer
    }

    package let kind: Kind
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var description: String { message }

    /// Whether the server reported that it did not execute the command.
    var isDenial: Bool {
        if case .server = kind { return !isInDoubt }
        return false
    }

    /// Whether the server refused the contents of a command, and would refuse them again: a value that it cannot have, or too
    /// much of it.
    var isOfContents: Bool {
        guard case .server(let code) = kind else { return false }
        return ["22", "23", "54"].contains(code.prefix(2))
    }

    /// Whether the server rolled the command back because of another host's, so that it may be run again: a failure of
    /// serialization, or a deadlock.
    var isOvertaken: Bool { kind == .server("40001") || kind == .server("40P01") }

    /// Whether the command's outcome is unknown.
    package var isInDoubt: Bool {
        switch kind {
        case .disconnected, .timedOut, .cancelled: true
        // Cancelling a commit that waits for a standby returns success with a warning, and a crash returns nothing.
        case .server(let code): code.hasPrefix("08") || code.hasPrefix("57P") || code == "57014"
        default: false
        }
    }
}

/// How a connection waits for its socket: a host runs its event loop meanwhile, other programs block.
package protocol PostgresWaiter: AnyObject {
    /// Waits until a socket is ready or time is up.
    ///
    /// - Parameters:
    ///   - descriptor: the socket.
    ///   - isWriting: whether to wait until it is writable, too, and not only until it is readable.
    ///   - seconds: the maximum time to wait.
    /// - Returns: whether the socket is ready; false when the time has elapsed.
    /// - Throws: ``PostgresError`` with `cancelled`.
    func wait(for descriptor: Int32, isWriting: Bool, seconds: Double) throws(PostgresError) -> Bool
}

/// Blocks while waiting.
package final class BlockingWaiter: PostgresWaiter {
    package init() {}

    package func wait(for descriptor: Int32, isWriting: Bool, seconds: Double) throws(PostgresError) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN | (isWriting ? POLLOUT : 0)), revents: 0)
        let milliseconds = Int32(clamping: Int64((max(seconds, 0) * 1000).rounded(.up)))
        // After an interruption by a signal, the caller waits again for the remaining time.
        return poll(&entry, 1, milliseconds) > 0
    }
}

/// The moment at which a wait ends.
struct Deadline: Sendable {
    private let moment: ContinuousClock.Instant

    init(seconds: Double) {
        moment = ContinuousClock.now.advanced(by: .seconds(min(max(seconds, 0), 86_400)))
    }

    /// Seconds until then; 0 when it has passed.
    var seconds: Double {
        let left = ContinuousClock.now.duration(to: moment).components
        return max(Double(left.seconds) + Double(left.attoseconds) / 1e18, 0)
    }

    var hasPassed: Bool { seconds == 0 }
}

/// What the server has flushed to its disk, and its synchronous standbys have: no crash and no failover takes that back.
///
/// A transaction can end before it is flushed, and its locks with it. Another one that ends after a flush has everything
/// flushed that was visible before: all who wait at the same time share one.
extension PostgresConnection {
    /// A transaction that changes nothing, and ends with a flush.
    private static let flush: Command = ("select pg_logical_emit_message(true, 'cubby', '')", [])

    /// The same command, whose transaction ends without waiting for a flush. One more column is behind its rows.
    static func leavingFlush(_ command: Command) -> Command {
        ("select c.*, set_config('synchronous_commit', 'off', true) from (\(command.sql)) as c", command.parameters)
    }
    /// A query for ``mayFlush``.
    static let asksWhetherItMayFlush =
        "(select bool_and(has_function_privilege(p.oid, 'execute')) from pg_proc p where p.proname = "
        + "'pg_logical_emit_message' and p.pronamespace = 'pg_catalog'::regnamespace)"

    /// Runs a command, and returns its rows when what it has read or written is flushed. It takes one round trip.
    ///
    /// - Parameter command: the command; outside of a transaction.
    /// - Returns: the rows.
    /// - Throws: ``PostgresError`` of the command; one that is in doubt if the flush failed.
    func rowsFlushed(of command: Command) throws(PostgresError) -> PostgresResult {
        guard mayFlush else { return try run(command.sql, command.parameters, isPrepared: true) }
        let results = try runTransactions([[command], [Self.flush]])
        guard results.count == 2, let rows = try results[0].get().last else {
            throw PostgresResult.badAnswer("no rows")
        }
        guard case .failure(let error) = results[1] else { return rows }
        // It is there, and a power cut may take it back: as if the answer had not come.
        close()
        throw PostgresError(.disconnected, "the server did not say that its log is flushed (\(error.message))")
    }

    /// Has everything flushed that was visible before.
    func flush() throws(PostgresError) {
        if mayFlush { try run(Self.flush.sql, isPrepared: true) }
    }
}
