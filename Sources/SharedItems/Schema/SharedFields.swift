package import ColumnEngine
import Files
import ItemArchive
import PropertyList

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
        try record.withBytes { (bytes) throws(StoreError) in
            var reader = RecordReader(try RecordChecksum.opened(bytes))
            return try ItemSchema(record: try reader.value())
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
        if record.isEmpty { return FieldDeclarations() }
        return try record.withBytes { (bytes) throws(StoreError) in
            var reader = RecordReader(try RecordChecksum.opened(bytes))
            return try FieldDeclarations(record: try reader.value())
        }
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
