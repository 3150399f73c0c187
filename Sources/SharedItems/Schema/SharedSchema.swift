public import ColumnEngine
import Files
import ItemArchive
import PropertyList

/// The tables and functions of shared collections in a database, as made and changed by their owner.
public enum SharedSchema {
    /// The format that this program creates and uses.
    package static let format: Int64 = 1
    /// The oldest server with all functions and types that are used: it introduced `gen_random_uuid`.
    package static let oldestServer = 130_000

    /// The outcome of ``initialize(_:schema:)``.
    public struct Outcome: Sendable, Hashable {
        /// Whether the tables were created.
        package var madeSchema = false
        /// Whether the collection was created.
        package var madeCollection = false
    }

    /// Creates the tables, the functions and the collection that an address names, unless they exist.
    ///
    /// - Parameters:
    ///   - address: the collection's address.
    ///   - schema: the fields of its items, which stay; those of a household if nil.
    /// - Returns: what was made.
    /// - Throws: ``SharedError``, also for a collection that exists and whose items have other fields than the given.
    @discardableResult
    public static func initialize(
        _ address: SharedAddress, schema: ItemSchema? = nil
    ) throws(SharedError) -> Outcome {
        try asOwner(address) { (connection) throws(PostgresError) in
            var outcome = Outcome()
            try checkServer(connection)
            try checkEncoding(connection)
            // A concurrent initialisation waits until this connection ends.
            try connection.run("select pg_advisory_lock(hashtext('cubby shared init'))")
            if try installedFormat(connection) == nil {
                try connection.runScript(text(PackageResources.schema_sql) + definitions)
                outcome.madeSchema = true
            }
            try check(connection, address)
            let fields = schema.flatMap(SharedFields.record)
            if fields != nil, try !SharedTables(connection).keepFields {
                throw PostgresError(
                    .unusable,
                    "the tables, of an older program, have no collections whose items have fields of their own: "
                        + "cubby shared migrate '\(address.description)' comes before")
            }
            let made = try connection.run(
                "insert into cubby.collection (name\(fields == nil ? "" : ", fields")) "
                    + "values ($1\(fields == nil ? "" : ", $2")) on conflict do nothing returning id",
                [.text(address.collection)] + (fields.map { [.bytes($0)] } ?? []))
            outcome.madeCollection = made.rowCount > 0
            if !outcome.madeCollection, let schema {
                let found = try SharedFields.found(in: address.collection, connection)
                if let difference = SharedFields.difference(found, schema) {
                    throw PostgresError(
                        .unusable, "the collection \(address.collection) is there already, and \(difference)")
                }
            }
            return outcome
        }
    }

    /// Upgrades tables and functions of an older format, or of this format from an older program.
    ///
    /// - Returns: the former format.
    /// - Throws: ``SharedError``.
    @discardableResult
    package static func migrate(_ address: SharedAddress) throws(SharedError) -> Int {
        try asOwner(address) { (connection) throws(PostgresError) in
            try checkServer(connection)
            let found = try check(connection, address)
            try connection.runScript(definitions)
            return Int(found)
        }
    }

    /// The fields of the items of the collection that an address names; nil for those of a household.
    ///
    /// - Throws: ``SharedError``.
    package static func items(of address: SharedAddress) throws(SharedError) -> ItemSchema? {
        try asOwner(address) { (connection) throws(PostgresError) in
            try SharedFields.schema(ofCollection: SharedFields.found(in: address.collection, connection))
        }
    }

    // MARK: The installed format

    /// The format of the tables in the database; nil if there are none.
    static func installedFormat(_ connection: PostgresConnection) throws(PostgresError) -> Int64? {
        let found = try connection.run(
            "select to_regclass('cubby.format') is not null and to_regclass('cubby.log') is not null, "
                + "exists (select from pg_catalog.pg_namespace where nspname = 'cubby')")
        guard try found.bytes(0, 0) == [1] else {
            if try found.bytes(0, 1) == [1] { throw foreignSchema }
            return nil
        }
        let rows = try connection.run("select max(version) from cubby.format")
        guard let format = try rows.integer(0, 0) else { throw foreignSchema }
        return format
    }

    static func checkServer(_ connection: PostgresConnection) throws(PostgresError) {
        guard connection.serverVersion < oldestServer else { return }
        throw PostgresError(
            .unusable,
            "the server is PostgreSQL \(versionText(connection.serverVersion)): shared collections need 13 or newer")
    }

    /// Refuses a database that cannot have every text: a host's name, the rows of a published item. The items themselves are
    /// bytes to the server, so that hosts go on with a collection that is there.
    static func checkEncoding(_ connection: PostgresConnection) throws(PostgresError) {
        guard let encoding = connection.encoding, encoding != "UTF8" else { return }
        throw PostgresError(
            .unusable, "the database has the encoding \(encoding): shared collections need UTF8")
    }

    /// `15.18`; `9.6` for a version with three numbers.
    static func versionText(_ version: Int) -> String {
        "\(version / 10_000).\(version >= 100_000 ? version % 10_000 : version / 100 % 100)"
    }

    /// Refuses a newer program's tables.
    static func check(format found: Int64?) throws(PostgresError) {
        if let found, found > format { throw newerFormat(found) }
    }

    /// Refuses a database without tables of shared collections, or with those of a newer program.
    ///
    /// - Returns: the tables' format.
    @discardableResult
    static func check(_ connection: PostgresConnection, _ address: SharedAddress) throws(PostgresError) -> Int64 {
        guard let found = try installedFormat(connection) else { throw missingSchema(address) }
        try check(format: found)
        return found
    }

    static func missingSchema(_ address: SharedAddress) -> PostgresError {
        PostgresError(
            .unusable,
            "the database has no shared collections: its owner makes them with cubby shared init '\(address.description)'"
        )
    }

    static func missingCollection(_ address: SharedAddress) -> PostgresError {
        PostgresError(.server("CB001"), "there is no collection \"\(address.collection)\"")
    }

    static let foreignSchema = PostgresError(
        .unusable, "the database has a schema named cubby that another program made: use another database")

    private static func newerFormat(_ found: Int64) -> PostgresError {
        PostgresError(
            .unusable, "the collections are of format \(found), and this program knows \(format): install a newer cubby"
        )
    }

    static func asOwner<Value>(
        _ address: SharedAddress, _ body: (PostgresConnection) throws(PostgresError) -> Value
    ) throws(SharedError) -> Value {
        do throws(PostgresError) {
            let connection = try PostgresConnection(address, waiter: BlockingWaiter())
            defer { connection.close() }
            return try body(connection)
        } catch {
            if error.kind == .server("42501") {
                throw SharedError(.denied, "\(error.message): name the owner of the database as the address's user")
            }
            throw SharedError(error, address)
        }
    }

    /// The rights and functions, and what an older program's tables lack: all of it or nothing is made.
    static var definitions: String { text(PackageResources.rights_sql) + text(PackageResources.functions_sql) }

    /// What is there beside that once a collection of the database was published.
    static var publication: String { text(PackageResources.publish_sql) }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// The fields that every item of a collection has, as the server keeps them: records have the values by the fields'
/// places, so that all hosts of a collection need the same ones.
enum SharedFields {
    /// The record of a schema: a value with a checksum; nil for a household's fields, which collections have if they do
    /// not say others.
    static func record(of schema: ItemSchema) -> [UInt8]? {
        if schema.fields.map(\.name) == ItemSchema.householdNames { return nil }
        var writer = RecordWriter()
        writer.value(schema.record)
        return RecordChecksum.sealed(writer.bytes)
    }

    /// Reads a record. Its bytes are not trusted.
    ///
    /// - Throws: `StoreError` with `corruptJournal` or `newerFormat`.
    static func schema(_ record: [UInt8]) throws(StoreError) -> ItemSchema {
        try ItemSchema(record: try value(of: record))
    }

    private static func value(of record: [UInt8]) throws(StoreError) -> PropertyListValue {
        try record.withBytes { (bytes) throws(StoreError) in
            var reader = RecordReader(try RecordChecksum.opened(bytes))
            return try reader.value()
        }
    }

    /// The same for what the server has of a collection; nil for a household's fields.
    static func schema(ofCollection record: [UInt8]?) throws(PostgresError) -> ItemSchema? {
        guard let record else { return nil }
        do throws(StoreError) { return try schema(record) } catch { throw PostgresError(.unusable, error.message) }
    }

    /// The record of a collection on the server; nil for a household's fields.
    static func found(in collection: String, _ connection: PostgresConnection) throws(PostgresError) -> [UInt8]? {
        guard try SharedTables(connection).keepFields else { return nil }
        let rows = try connection.run("select fields from cubby.collection where name = $1", [.text(collection)])
        return rows.rowCount > 0 ? try rows.bytes(0, 0) : nil
    }

    /// What a collection's items have instead of the fields of a schema, as the end of a sentence; nil if these are the
    /// same.
    static func difference(_ record: [UInt8]?, _ schema: ItemSchema) -> String? {
        if record == self.record(of: schema) { return nil }
        guard let record else { return "its items have the fields of a household" }
        do throws(StoreError) {
            let names = try self.schema(record).fields.map(\.name)
            return names.isEmpty
                ? "its items have no fields but their key and declared ones"
                : "its items have the fields \(names.joined(separator: ", "))"
        } catch {
            return "the server's record of its items' fields cannot be read (\(error.message))"
        }
    }

    /// What is declared of a collection's fields, from the server's record; nothing if that is empty. Its bytes are not
    /// trusted.
    ///
    /// - Throws: `StoreError` with `corruptJournal` or `newerFormat`.
    static func declarations(_ record: [UInt8]) throws(StoreError) -> FieldDeclarations {
        record.isEmpty ? FieldDeclarations() : try FieldDeclarations(record: try value(of: record))
    }

    /// The record of what is declared of a collection's fields on the server; empty for nothing.
    static func declared(in number: Int32, _ connection: PostgresConnection) throws(PostgresError) -> [UInt8] {
        let rows = try connection.run("select record from cubby.declaration where collection = $1", [.int4(number)])
        return rows.rowCount > 0 ? try rows.bytes(0, 0) ?? [] : []
    }
}

/// What the tables of a database keep; those of an older program lack parts, which `migrate` adds.
struct SharedTables: Equatable {
    /// Whether they have declarations of fields.
    let keepDeclarations: Bool
    /// Whether collections may have other fields than a household's.
    let keepFields: Bool
    /// Whether they say which commits the log keeps.
    let keepRetention: Bool
    /// Whether they say which role may use which collection.
    let keepRights: Bool

    /// Those of this program.
    static let latest = SharedTables(keepDeclarations: true, keepFields: true, keepRetention: true, keepRights: true)
}

extension SharedTables {
    init(_ connection: PostgresConnection) throws(PostgresError) {
        let rows = try connection.run(
            "select to_regclass('cubby.declaration') is not null, coalesce(bool_or(attname = 'fields'), false), "
                + "coalesce(bool_or(attname = 'keep_days'), false), to_regclass('cubby.member') is not null from pg_catalog.pg_attribute "
                + "where attrelid = to_regclass('cubby.collection') and not attisdropped")
        keepDeclarations = try rows.bytes(0, 0) == [1]
        keepFields = try rows.bytes(0, 1) == [1]
        keepRetention = try rows.bytes(0, 2) == [1]
        keepRights = try rows.bytes(0, 3) == [1]
    }
}

/// The fields of the items of a host's collection.
extension SharedPersistence {
    /// The fields, once the server or the cache has said them; nil for those of a household.
    ///
    /// - Throws: `StoreError` for fields that this program cannot read.
    package var schema: ItemSchema? {
        get throws(StoreError) {
            guard let record = (server.collection ?? local.peeked?.collection)?.fields else { return nil }
            return try SharedFields.schema(record)
        }
    }

    /// Refuses a store whose items have other fields than those of the collection.
    func checkFields(_ collection: SharedCollection?, _ schema: ItemSchema) throws(StoreError) {
        guard let collection, let difference = SharedFields.difference(collection.fields, schema) else { return }
        let names = schema.names.joined(separator: ", ")
        throw StoreError(
            .invalidValue(field: "schema"),
            "the collection \(address.collection) cannot be opened with the fields \(names): \(difference)")
    }
}
