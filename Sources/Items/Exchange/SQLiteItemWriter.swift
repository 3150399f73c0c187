import ColumnEngine
import PropertyList
import SQLite

/// Writes items as a SQLite table.
struct SQLiteItemWriter {
    /// The default name of the table.
    static let table = "items"

    private let exporter: ItemExporter
    private let database: SQLiteDatabase

    init(_ exporter: ItemExporter, _ database: SQLiteDatabase) {
        (self.exporter, self.database) = (exporter, database)
    }

    func write() throws {
        let columns = try exporter.columns()
        guard !columns.isEmpty else {
            throw StoreError(.invalidValue(field: ""), "a table needs a column: all fields are left out")
        }
        let table = SQLiteDatabase.quoted(exporter.options.table ?? Self.table)
        let definitions = columns.map { "\(SQLiteDatabase.quoted($0.name)) \(type(of: $0.field))" }
        try database.transaction {
            try database.execute("create table \(table)(\(definitions.joined(separator: ", ")))")
            let places = columns.map { _ in "?" }.joined(separator: ", ")
            let insertion = try SQLiteStatement(database, "insert into \(table) values(\(places))")
            for (index, row) in exporter.rows.enumerated() {
                try exporter.options.report(index, exporter.rows.count)
                for (place, column) in columns.enumerated() { try bind(row, column.field, insertion, place) }
                try insertion.run()
            }
        }
    }

    /// The declared type of a column, from all of its values. SQLite stores dates as texts and booleans as numbers.
    private func type(of field: ItemField) -> String {
        if field == .itemKey { return "TEXT" }
        let kinds = exporter.store.columns.cellKinds(field)
        func areOnly(_ allowed: Cell.Kind...) -> Bool {
            allowed.reduce(kinds) { $0 & ~(1 << UInt16($1.rawValue)) } == 0
        }
        if areOnly(.shortText, .longText) { return "TEXT" }
        if areOnly(.integer) { return "INTEGER" }
        if areOnly(.real, .single) { return "REAL" }
        if areOnly(.yes, .no) { return "BOOLEAN" }
        return areOnly(.date) ? "DATETIME" : ""
    }

    private func bind(_ row: UInt32, _ field: ItemField, _ insertion: SQLiteStatement, _ place: Int) throws {
        let columns = exporter.store.columns
        if field == .itemKey {
            return try columns.withKey(row) { key in Result { try insertion.bind(text: key, at: place) } }.get()
        }
        let cell = columns.cell(row, field)
        if cell.isText { return try cell.withText { text in try insertion.bind(text: text, at: place) } }
        let value = columns.value(cell)
        let isNaN =
            switch value {
            case .real(let number)?: number.isNaN
            case .single(let number)?: number.isNaN
            default: false
            }
        if isNaN {
            throw exporter.refusal(
                row, exporter.store.name(of: field), "SQLite would keep nan as NULL, which is not a value")
        }
        do { try insertion.bind(try self.value(value), at: place) } catch let error as JSONError {
            throw exporter.refusal(row, exporter.store.name(of: field), error.message)
        }
    }

    private func value(_ value: PropertyListValue?) throws -> SQLiteValue {
        switch value {
        case nil, .null?: .null
        case .integer(let number)?: .integer(number)
        case .real(let number)?: .real(number)
        case .single(let number)?: .real(Double(number))
        case .boolean(let flag)?: .integer(flag ? 1 : 0)
        case .data(let bytes)?: .blob(bytes)
        case let value?: .text(try ImportKeys.text(value).map { Array($0.utf8) } ?? value.json())
        }
    }
}
