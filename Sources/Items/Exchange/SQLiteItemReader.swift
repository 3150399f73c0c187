import ColumnEngine
import PropertyList
import SQLite
import Wording

/// Reads items from a table of a SQLite database, as a stream.
struct SQLiteItemReader {
    private let options: ItemFileOptions
    private let path: String

    init(_ options: ItemFileOptions, _ path: String) { (self.options, self.path) = (options, path) }

    /// Column declarations for kinds that SQLite does not have.
    private enum Declared { case plain, date, boolean }

    func read(_ row: ImportedRow, _ merger: ItemMerger) throws {
        guard let database = try options.openDatabase?() else {
            throw StoreError(.unreadableFile, "a SQLite database is read from a file, and not from bytes")
        }
        defer { database.close() }
        let table = try table(of: database)
        let rows = try SQLiteStatement(database, "select * from \(SQLiteDatabase.quoted(table))")
        let places = try rows.columns.map { try row.addColumn($0) }
        try ImportedNames(options, row.names, path).check()
        let declared = rows.columns.indices.map { Self.declared(rows.declaredType($0)) }
        row.original = { rows.columns.enumerated().map { ($1, rows.cell($0).text) } }
        let total = count(table, database)
        while try rows.step() {
            try options.report(row.number, total)
            row.number += 1
            for (column, place) in places.enumerated() {
                if let place { row.cells[place] = Self.cell(rows.cell(column), declared[column]) }
            }
            try merger.take(row)
        }
    }

    private func table(of database: SQLiteDatabase) throws -> String {
        let tables = try database.tables()
        if let wanted = options.table {
            // SQLite's names are case-insensitive.
            if let found = tables.first(where: { $0.lowercased() == wanted.lowercased() }) { return found }
            let hint = NearestNames.hint(for: wanted, among: tables)
            throw StoreError(.unreadableFile, "\(path) has no table '\(wanted)'\(hint)", path: path)
        }
        if tables.count == 1 { return tables[0] }
        if tables.contains(SQLiteItemWriter.table) { return SQLiteItemWriter.table }
        let listed = tables.prefix(12).joined(separator: ", ") + (tables.count > 12 ? ", …" : "")
        throw StoreError(
            .unreadableFile,
            tables.isEmpty ? "\(path) has no table" : "\(path) has several tables: say with table which (\(listed))",
            path: path)
    }

    /// The approximate number of rows, for a progress bar: counting would read the table. 0 for a view.
    private func count(_ table: String, _ database: SQLiteDatabase) -> Int {
        guard
            let statement = try? SQLiteStatement(
                database, "select max(rowid) from \(SQLiteDatabase.quoted(table))"),
            (try? statement.step()) == true, case .integer(let count) = statement.cell(0)
        else { return 0 }
        return Int(clamping: count)
    }

    private static func declared(_ type: String?) -> Declared {
        let type = type?.lowercased() ?? ""
        if type.hasPrefix("date") || type.hasPrefix("timestamp") { return .date }
        return type.hasPrefix("bool") ? .boolean : .plain
    }

    private static func cell(_ cell: SQLiteCell, _ declared: Declared) -> ImportedCell {
        switch (cell, declared) {
        case (.null, _): .empty
        case (.integer(let number), .boolean) where number == 0 || number == 1: .value(.boolean(number == 1))
        case (.integer(let number), _): .value(.integer(number))
        case (.real(let number), _): .value(.real(number))
        case (.text(let text), .date): FileText.date(text).map { .value(.date($0)) } ?? .text(text)
        case (.text(let text), _): .text(text)
        case (.blob(let bytes), _): .value(.data(Array(bytes)))
        }
    }
}

extension SQLiteCell {
    /// The value as a text of a file.
    fileprivate var text: [UInt8] {
        switch self {
        case .null: []
        case .integer(let number): Array(String(number).utf8)
        case .real(let number): Array(String(number).utf8)
        case .text(let bytes), .blob(let bytes): Array(bytes)
        }
    }
}
