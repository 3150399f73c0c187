import ColumnEngine
public import PropertyList
import SQLite

/// SQL for programs: SQLite's, over the table `items`.
extension ItemStore {
    /// Runs a statement, and decodes its rows.
    ///
    /// ```swift
    /// struct Room: Decodable {
    ///     var room: String?
    ///     var total: Int
    /// }
    /// let rooms = try store.sql(
    ///     "select room, sum(valueInDollars) total from items where valueInDollars > ? group by room order by total desc",
    ///     [.integer(100)], as: Room.self)
    /// ```
    ///
    /// A property has the value of the column with its name, of several the last one; NULL is no value. A column that is
    /// a field of dates, booleans, arrays or dictionaries has such values; expressions have numbers, texts or data.
    /// Statements read the items; no files.
    ///
    /// - Parameters:
    ///   - text: one statement.
    ///   - parameters: the values of its parameters, in order.
    ///   - row: what a row is decoded as.
    /// - Returns: the rows.
    /// - Throws: `SQLError` for the statement, and if libsqlite3 is not installed; `DecodingError` for a row that is not
    ///   such a one; `StoreError` of a change.
    public func sql<Row: Decodable>(
        _ text: String, _ parameters: [PropertyListValue] = [], as row: Row.Type
    ) throws -> [Row] {
        let statement = try statement(text, parameters)
        defer { statement.close() }
        var rows: [Row] = []
        while let values = try statement.next() {
            var fields: PropertyListFields = [:]
            for (column, value) in zip(statement.columns, values) where value != .null {
                fields[column.name] = Self.value(value, column.kind)
            }
            rows.append(try Row(from: ItemModelDecoder(source: .value(.fields(fields)), codingPath: [])))
        }
        return rows
    }

    /// Runs a statement that changes items, as a transaction: `update items set room = 'Attic' where room is null`.
    ///
    /// - Parameters:
    ///   - text: one statement.
    ///   - parameters: the values of its parameters, in order.
    /// - Returns: the number of items that were inserted, changed or removed.
    /// - Throws: `SQLError` for the statement, and if libsqlite3 is not installed; `StoreError` of a change.
    @discardableResult
    public func sql(_ text: String, _ parameters: [PropertyListValue] = []) throws -> Int {
        let statement = try statement(text, parameters)
        defer { statement.close() }
        return try statement.run()
    }

    private func statement(_ text: String, _ parameters: [PropertyListValue]) throws -> SQLStatement {
        let statement = try ItemSQL(self, NoFiles()).prepare(text)
        guard statement.parameters.count == parameters.count else {
            throw SQLError(
                .parameter,
                "the statement has \(statement.parameters.count.counted("parameter")), and \(parameters.count.counted("value")) are given"
            )
        }
        for (place, value) in parameters.enumerated() { try statement.bind(value, at: place) }
        return statement
    }

    /// A value in the kind of its column.
    private static func value(_ value: PropertyListValue, _ kind: FieldDeclaration.Kind?) -> PropertyListValue {
        switch (kind, value) {
        case (.boolean?, .integer(let number)) where number == 0 || number == 1: .boolean(number == 1)
        case (.date?, .string(let text)): SQLDate.date(text).map { .date($0) } ?? value
        case (.array?, .string(let text)), (.dictionary?, .string(let text)):
            (try? PropertyListValue(json: Array(text.utf8))) ?? value
        default: value
        }
    }

    private final class NoFiles: SQLFiles {
        func withFile(_ path: String, _ body: (ImportFile) throws -> Void) throws {
            throw SQLError(.file, "\(path): this program's statements read no files")
        }

        func databasePlace(_ path: String, isReadOnly: Bool) throws -> SQLitePlace {
            throw SQLError(.file, "\(path): this program's statements read no files")
        }
    }
}

extension ItemDatabase {
    /// Runs a statement, and decodes its rows; see ``ItemStore/sql(_:_:as:)``.
    public func sql<Row: Decodable & Sendable>(
        _ text: String, _ parameters: [PropertyListValue] = [], as row: Row.Type
    ) throws -> [Row] {
        try withStore { try $0.sql(text, parameters, as: row) }
    }

    /// Runs a statement that changes items, as a transaction; see ``ItemStore/sql(_:_:)``.
    @discardableResult
    public func sql(_ text: String, _ parameters: [PropertyListValue] = []) throws -> Int {
        try withStore { try $0.sql(text, parameters) }
    }
}
