import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

/// What a program that knows nothing of Cubby reads of a published table.
struct PublishedItems {
    let connection: PostgresConnection
    let table: String

    /// The rows in the order of the items: each with its key and all its fields.
    func rows() throws -> [PropertyListFields] {
        let rows = try connection.run("select key, fields::text from \(table) order by rank, key")
        return try (0..<rows.rowCount).map { row in
            var fields = try #require(
                try PropertyListValue(json: Array(try rows.text(row, 1).utf8)).fields, "row \(row)")
            fields["itemKey"] = .string(try rows.text(row, 0))
            return fields
        }
    }

    /// A column of the row with a key as a text; nil for null.
    func text(_ column: String, _ key: String) throws -> String? {
        let rows = try connection.run("select (\(column))::text from \(table) where key = $1", [.text(key)])
        guard rows.rowCount == 1 else { throw TestFailure("\(rows.rowCount) rows of \(key)") }
        return try rows.bytes(0, 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Expects that the rows are a store's items, in their order and with their revisions at most.
    func expectEqual(_ store: ItemStore, _ note: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let items = try store.contents.map { fields in
            try fields.mapValues { try PropertyListValue(json: $0.losslessJSON()) }
        }
        let rows = try rows()
        #expect(rows == items, "\(note)", sourceLocation: sourceLocation)
        let names = try connection.run(
            "select key from \(table) where name is distinct from fields->>'name' or \"valueInDollars\" "
                + "is distinct from (fields->>'valueInDollars')::bigint")
        #expect(names.rowCount == 0, "\(note): columns", sourceLocation: sourceLocation)
    }
}
