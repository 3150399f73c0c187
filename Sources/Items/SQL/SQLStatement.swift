package import ColumnEngine
public import PropertyList
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

    private let sql: ItemSQL
    private var statement: SQLiteStatement?
    private let calls: SQLFileCalls
    private let changesItems: Bool
    /// The tables of its files.
    private let tables: [String]
    private var isStepping = false
    private var closesLater = false
    /// The collections that are bound as JSON, by place.
    private var bound: [Int: (value: PropertyListValue, json: [UInt8])] = [:]
    /// Whether a change has been run to its end.
    private var isDone = false

    init(
        _ sql: ItemSQL, _ statement: SQLiteStatement, _ calls: SQLFileCalls, tables: [String], remarks: [String],
        changesItems: Bool
    ) {
        (self.sql, self.statement, self.calls, self.tables) = (sql, statement, calls, tables)
        (self.remarks, self.changesItems) = (remarks, changesItems)
        columns = statement.columns.enumerated().map { place, name in
            Column(
                name: name,
                kind: statement.declaredType(place).flatMap { SQLColumnType(rawValue: $0.uppercased()) }?.kind)
        }
        isReadOnly = statement.isReadOnly
        parameters = statement.parameterNames
        sql.countStatements(1)
    }

    deinit { close() }

    // MARK: Parameters

    /// Binds a parameter, counted from 0. A date is bound as text in UTC, an array or a dictionary as JSON, data as a
    /// blob, a boolean as 0 or 1, an integer beyond 64 bits as text.
    ///
    /// - Throws: `SQLError` with `parameter` for a place that is not there, and for a value that is none of SQL.
    package func bind(_ value: PropertyListValue?, at place: Int) throws(SQLError) {
        guard parameters.indices.contains(place) else {
            throw SQLError(
                .parameter,
                "the statement has \(parameters.count.counted("parameter")), and there is a value for number \(place + 1)"
            )
        }
        func failure(_ error: SQLError) -> SQLError {
            SQLError(.parameter, "parameter \(parameters[place] ?? "\(place + 1)"): \(error.message)")
        }
        let shown: SQLiteValue
        do throws(SQLError) { shown = try SQLiteValue(value ?? .null) } catch { throw failure(error) }
        bound[place] = if let value, case .text(let json) = shown { (value, json) } else { nil }
        do throws(SQLiteError) { try statement?.bind(shown, at: place) } catch {
            throw failure(sql.error(error, calls))
        }
    }

    /// Binds parameters by their names, with or without the prefix.
    ///
    /// - Throws: `SQLError` with `parameter` for a name that is not there, and for a parameter without a value.
    package func bind(_ values: PropertyListFields) throws(SQLError) {
        var bound: Set<Int> = []
        for (name, value) in values.sortedByName {
            let places = parameters.indices.filter { place in
                parameters[place].map { $0 == name || $0.dropFirst() == name[...] } ?? false
            }
            if places.isEmpty {
                let all = parameters.compactMap { $0 }
                let hint = NearestNames.hint(for: name, among: all.map { String($0.dropFirst()) })
                throw SQLError(.parameter, "the statement has no parameter '\(name)'\(hint)")
            }
            for place in places { try bind(value, at: place) }
            bound.formUnion(places)
        }
        if let missing = parameters.indices.first(where: { !bound.contains($0) }) {
            throw SQLError(
                .parameter, "no value is given for the parameter \(parameters[missing] ?? "?\(missing + 1)")")
        }
    }

    // MARK: Rows

    /// The next row; nil after the last one. NULL is `.null`, a blob `.data`.
    ///
    /// - Throws: `SQLError`, and what ``SQLError`` lists.
    package func next() throws -> [PropertyListValue]? {
        guard try step() else { return nil }
        return try columns.indices.map { place in
            if let value = cell(place).value { return value }
            throw SQLError(
                .failed,
                "column \(columns[place].name) of a row is a text that is not UTF-8: cast it to a blob, or use hex")
        }
    }

    /// Advances to the next row, whose cells are then read by ``cell(_:)``; false after the last one.
    package func step() throws -> Bool {
        if changesItems {
            _ = try run()
            return false
        }
        return try stepOnce()
    }

    private func stepOnce() throws -> Bool {
        guard let statement else { throw SQLError(.failed, "the statement is closed") }
        guard !isStepping else {
            throw SQLError(.failed, "the statement is being run: a function that it calls used it")
        }
        try sql.enter()
        isStepping = true
        defer {
            isStepping = false
            sql.leave()
            if closesLater { close() }
        }
        do throws(SQLiteError) { return try statement.step() } catch { throw sql.thrown(error, calls) }
    }

    /// A value of the current row, in memory that is valid until the next step.
    package func cell(_ column: Int) -> SQLiteCell { statement?.cell(column) ?? .null }

    /// Runs a change to its end. Its rows, if any, are ignored. A change of items is a transaction of the store, which
    /// runs again where another host has changed what it read.
    ///
    /// - Returns: the number of items, or of rows of another table, that were inserted, changed or removed.
    @discardableResult
    package func run() throws -> Int {
        guard changesItems else {
            // A statement that changes no rows, such as `create`, leaves the count of an earlier one.
            let before = sql.totalChangeCount
            while try stepOnce() {}
            return isReadOnly || sql.totalChangeCount == before ? 0 : sql.changeCount
        }
        if isDone { return 0 }
        guard let store = sql.store else { throw SQLError(.failed, "the items' store is closed") }
        if columns.count > 0 {
            throw SQLError(.denied, "RETURNING is not for items: select them after the change")
        }
        let count = try store.transaction(isolation: .serializable) {
            statement?.reset()
            let outer = sql.changes
            defer { sql.changes = outer }
            var asked = SQLChanges()
            for (value, json) in bound.values { asked.carry(value, as: json) }
            sql.changes = asked
            while try stepOnce() {}
            // A copy: an observer may run statements.
            return try sql.changes?.apply(to: store) ?? 0
        }
        isDone = true
        return count
    }

    /// Starts anew: parameters stay bound.
    package func reset() {
        isDone = false
        if !isStepping { statement?.reset() }
    }

    /// Frees what it uses; reading further rows is an error.
    package func close() {
        if isStepping {
            closesLater = true
            return
        }
        guard statement != nil else { return }
        statement = nil
        sql.removeTables(tables)
        sql.countStatements(-1)
    }
}

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
            (try? PropertyListValue(exactJSON: Array(text.utf8))) ?? value
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
