import CSV
import ColumnEngine
import PropertyList
import SQLite

/// Reads items from a table of a SQLite database, as a stream.
struct SQLiteItemReader {
    let options: ItemFileOptions
    let path: String

    /// Column declarations for kinds that SQLite does not have.
    private enum Declared { case plain, date, boolean }

    func read(_ row: ImportedRow, _ merger: ItemMerger) throws {
        guard let database = try options.openDatabase?() else {
            throw StoreError(.unreadableFile, "a SQLite database is read from a file, and not from bytes")
        }
        defer { database.close() }
        let table = try table(of: database)
        let rows = try SQLiteStatement(database, "select * from \(SQLiteDatabase.quoted(table))")
        let names = rows.columns.enumerated().map { $1.isEmpty && options.names[""] == nil ? "column\($0 + 1)" : $1 }
        let places = try names.map { try row.addColumn($0) }
        try ImportedNames(options: options, columns: row.names, path: path).check()
        let declared = places.enumerated().map { column, place in
            // The caller's wish for texts comes before the declaration.
            let isText = options.kinds == .text || place.map { row.columns[$0].kind == .string } ?? true
            return isText ? .plain : Self.declared(rows.declaredType(column))
        }
        for (column, place) in places.enumerated() where declared[column] == .date {
            // A DATETIME at midnight is a moment.
            if let place { row.columns[place].isOfDays = rows.declaredType(column)?.lowercased() == "date" }
        }
        var otherKinds = [(count: Int, first: String)](repeating: (0, ""), count: names.count)
        row.original = { OriginalRow(cells: names.enumerated().map { ($1, rows.cell($0).text) }) }
        let total = count(table, database)
        while try rows.step() {
            try options.report(row.number, total)
            row.number += 1
            for (column, place) in places.enumerated() {
                guard let place else { continue }
                let cell = rows.cell(column)
                if declared[column] == .plain {
                    row.cells[place] = Self.plain(cell)
                } else if let value = Self.value(cell, declared[column]) {
                    row.cells[place] = .value(value)
                } else {
                    row.cells[place] = Self.plain(cell)
                    if case .null = cell { continue }
                    if otherKinds[column].count == 0 {
                        otherKinds[column].first = "row \(row.number): \(cell.shownText)"
                    }
                    otherKinds[column].count += 1
                }
            }
            try merger.take(row)
        }
        for (column, other) in otherKinds.enumerated() {
            let type = rows.declaredType(column) ?? ""
            merger.remark(
                .otherKinds, other.count,
                "\(other.count.counted("value")) of \(names[column]) \(other.count == 1 ? "is" : "are") not of the declared kind \(type), and kept as \(other.count == 1 ? "it is" : "they are") (\(other.first))"
            )
        }
        let unnamed = rows.columns.indices.filter { rows.columns[$0].isEmpty && !names[$0].isEmpty }
        merger.remark(
            .unnamed, unnamed.count,
            "\(unnamed.count.counted("column")) without a name: imported as \(unnamed.map { names[$0] }.joined(separator: ", "))"
        )
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
        guard let first = tables.first else {
            throw StoreError(.unreadableFile, "\(path) has no table", path: path)
        }
        throw StoreError(
            .unreadableFile,
            "\(path) has several tables and views (\(tables.listed())): give one, such as \(OptionWords.option("table", first))",
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

    private static func plain(_ cell: SQLiteCell) -> ImportedCell {
        switch cell {
        case .null: .empty
        case .text(let text): .text(text)
        default: cell.value.map { .value($0) } ?? .empty
        }
    }

    /// The value of a column that is declared as a date or boolean; nil for a cell that is none.
    private static func value(_ cell: SQLiteCell, _ declared: Declared) -> PropertyListValue? {
        switch (cell, declared) {
        case (.integer(let number), .boolean) where number == 0 || number == 1: .boolean(number == 1)
        case (.integer(let number), .date): SQLiteDate.date(Double(number)).map { .date($0) }
        case (.real(let number), .date): SQLiteDate.date(number).map { .date($0) }
        case (.text(let text), .date): SQLiteDate.date(text).map { .date($0) }
        default: nil
        }
    }
}

/// Dates as SQLite's date functions understand them, and as programs keep them in columns that are declared as dates.
enum SQLiteDate {
    /// The date of `2024-01-31`, `2024-01-31 10:00`, `2024-01-31T10:00:00.25+02:00`; UTC without a zone. Nil for another
    /// text.
    static func date(_ text: UnsafeBufferPointer<UInt8>) -> PropertyListDate? {
        if let date = DateText.date(text) { return date }
        guard text.count >= 16, text.count <= 64, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] == UInt8(ascii: " ") || text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":")
        else { return nil }
        return ISO8601.parse(String(decoding: text, as: UTF8.self))
    }

    /// The date of a number: a Julian day or seconds since 1970, by the rule of SQLite's modifier `auto`; nil for a
    /// number that is neither, and for a Julian day before the year 0, such as a year or a 0.
    static func date(_ number: Double) -> PropertyListDate? {
        if julianDays.contains(number) {
            // SQLite's resolution.
            let milliseconds = (number * 86_400_000 + 0.5).rounded(.down) - 210_866_760_000_000
            return PropertyListDate(
                secondsSinceReferenceDate: milliseconds / 1000 - PropertyListDate.unixEpochOffset)
        }
        guard seconds.contains(number), !(0..<julianDays.upperBound).contains(number) else { return nil }
        return PropertyListDate(secondsSinceReferenceDate: number - PropertyListDate.unixEpochOffset)
    }

    /// From the year 0 through 9999.
    private static let julianDays = 1_721_059.5..<5_373_484.5
    private static let seconds = -62_167_219_200.0..<253_402_300_800.0
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

    /// The value in a message.
    fileprivate var shownText: String {
        switch self {
        case .null, .integer, .real: return String(decoding: text, as: UTF8.self)
        case .blob(let bytes): return "a blob of \(bytes.count) bytes"
        case .text(let bytes):
            let text = String(decoding: bytes.prefix(40), as: UTF8.self)
            return "\"\(text)\(bytes.count > 40 ? "…" : "")\""
        }
    }
}
