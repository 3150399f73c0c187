import CSV
import ColumnEngine
import PropertyList
import SQLite

/// Writes items as comma-separated values.
struct ItemCSVWriter {
    private let exporter: ItemExporter
    private var scratch: [UInt8] = []

    init(_ exporter: ItemExporter) { self.exporter = exporter }

    mutating func write() throws {
        var writer = try CSVWriter(delimiter: exporter.options.cellDelimiter)
        let columns = try exporter.columns()
        for column in columns { writer.append(column.name) }
        writer.endRow()
        for (index, row) in exporter.rows.enumerated() {
            try exporter.options.report(index, exporter.rows.count)
            for column in columns { try append(row, column.field, to: &writer) }
            writer.endRow()
            if writer.bytes.count >= ItemExporter.pieceSize { try exporter.put(writer.take()) }
        }
        try exporter.put(writer.take())
    }

    private mutating func append(_ row: UInt32, _ field: ItemField, to writer: inout CSVWriter) throws {
        let columns = exporter.store.columns
        if field == columns.keyField { return columns.withKey(row) { writer.append($0) } }
        let cell = columns.cell(row, field)
        if cell.isText { return cell.withText { writer.append($0) } }
        switch columns.value(cell) {
        case nil: writer.append("")
        case .date(let date)?:
            scratch.removeAll(keepingCapacity: true)
            date.appendExchangeText(to: &scratch)
            writer.append(scratch)
        case .real(let number)?:
            scratch.removeAll(keepingCapacity: true)
            number.appendShortest(to: &scratch)
            writer.append(scratch)
        case let value?:
            if let text = ImportKeys.text(value) { return writer.append(text) }
            // JSON text of data is Base64 in quotes; the cell omits the quotes.
            let text: [UInt8]
            do throws(JSONError) { text = try value.json() } catch {
                throw exporter.error(row, exporter.store.name(of: field), error.message)
            }
            if case .data = value { writer.append(text.dropFirst().dropLast()) } else { writer.append(text) }
        }
    }
}

/// Writes items as JSON: an array of objects, or one object per line. Absent fields are left out.
struct ItemJSONWriter {
    private let exporter: ItemExporter
    private let isPretty: Bool
    private var text: JSONText

    init(_ exporter: ItemExporter, isPretty: Bool = false) {
        self.exporter = exporter
        self.isPretty = isPretty
        text = JSONText(isPretty ? .foundation : .compact)
    }

    mutating func writeLines() throws {
        try writeObjects(at: 0, try exporter.columns()) { text, _ in text.append(byte: UInt8(ascii: "\n")) }
        try flush()
    }

    /// Writes a single item.
    mutating func writeObject() throws {
        try writeObjects(at: 0, try exporter.columns().sorted { $0.name < $1.name }) { _, _ in }
        try flush()
    }

    /// Sorts the keys, as in all JSON for people, unless columns were chosen.
    mutating func writeArray() throws {
        var columns = try exporter.columns()
        if exporter.options.columns == nil { columns.sort { $0.name < $1.name } }
        text.append("[")
        if !exporter.rows.isEmpty { text.next(1, isFirst: true) }
        try writeObjects(at: 1, columns) { [count = exporter.rows.count] text, index in
            if index + 1 < count { text.next(1, isFirst: false) }
        }
        text.end("]", 0, isEmpty: exporter.rows.isEmpty)
        try flush()
    }

    private mutating func flush() throws { try exporter.put(text.take()) }

    private mutating func writeObjects(
        at level: Int, _ columns: [ItemExporter.Column], _ end: (inout JSONText, Int) -> Void
    ) throws {
        let store = exporter.store.columns
        let keys = columns.map { column in
            var key = JSONText(isPretty ? .foundation : .compact)
            key.key(column.name)
            return key.take()
        }
        for (index, row) in exporter.rows.enumerated() {
            try exporter.options.report(index, exporter.rows.count)
            text.append(byte: UInt8(ascii: "{"))
            var isFirst = true
            for place in columns.indices {
                let field = columns[place].field
                let cell = store.cell(row, field)
                if cell.isAbsent, field != store.keyField { continue }
                text.next(level + 1, isFirst: isFirst)
                text.append(json: keys[place])
                isFirst = false
                if field == store.keyField {
                    store.withKey(row) { text.string(utf8: $0) }
                } else if cell.isText {
                    cell.withText { text.string(utf8: $0) }
                } else if let value = store.value(cell) {
                    do throws(JSONError) { try append(value) } catch {
                        throw exporter.error(row, columns[place].name, error.message)
                    }
                }
            }
            text.end("}", level, isEmpty: isFirst)
            end(&text, index)
            if text.bytes.count >= ItemExporter.pieceSize { try flush() }
        }
    }

    private mutating func append(_ value: PropertyListValue) throws(JSONError) {
        switch value {
        case .integer(let number): text.append(String(number))
        // Keeps a real's type when it is read again.
        case .real(let number) where number.isFinite: text.real(number)
        case .date(let date): text.date(date)
        case .boolean(let flag): text.append(flag ? "true" : "false")
        default: text.append(json: try value.json())
        }
    }
}

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
        let columns = exporter.store.columns
        if field == columns.keyField { return "TEXT" }
        let kinds = columns.cellKinds(field)
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
        if field == columns.keyField {
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
            throw exporter.error(
                row, exporter.store.name(of: field), "SQLite would keep nan as NULL, which is not a value")
        }
        do { try insertion.bind(try self.value(value), at: place) } catch let error as JSONError {
            throw exporter.error(row, exporter.store.name(of: field), error.message)
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
