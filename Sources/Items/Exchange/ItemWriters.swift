import CSV
import ColumnEngine
import PropertyList
import SQLite

/// Writes items as comma-separated values.
struct ItemCSVWriter {
    private let exporter: ItemExporter
    private var scratch: [UInt8] = []
    /// The number of dates that are less in the pattern declared of their field.
    private var cutDates = 0

    init(_ exporter: ItemExporter) { self.exporter = exporter }

    mutating func write() throws {
        var writer = try CSVWriter(delimiter: exporter.options.cellDelimiter)
        let columns = try exporter.columns()
        let dialect = exporter.options.spreadsheet
        if dialect != nil { try exporter.put(SpreadsheetDialect.mark) }
        for column in columns {
            var name = column.name
            writer.append(name.withUTF8 { dialect?.cell($0) } ?? name)
        }
        writer.endRow()
        for (index, row) in exporter.rows.enumerated() {
            try exporter.options.report(index, exporter.rows.count)
            for column in columns {
                if let dialect {
                    writer.append(try cell(row, column, dialect))
                } else {
                    try append(row, column, to: &writer)
                }
            }
            writer.endRow()
            if writer.bytes.count >= ItemExporter.pieceSize { try put(writer.take(), columns) }
        }
        try put(writer.take(), columns)
        if cutDates > 0 {
            exporter.options.onRemark?(
                "\(cutDates.counted("date")) cut to the pattern declared of the field (JSON and an archive have all of it)"
            )
        }
    }

    /// Writes a piece. Readers of CSV take a NUL for the sign of another encoding.
    private func put(_ bytes: [UInt8], _ columns: [ItemExporter.Column]) throws {
        guard bytes.contains(0) else { return try exporter.put(bytes) }
        for column in columns where column.name.utf8.contains(0) {
            throw StoreError(
                .unwritableValue(field: column.title),
                "field \(VisibleText.line(column.title)): a name in CSV cannot hold a NUL: rename it, or leave it out")
        }
        for row in exporter.rows {
            for column in columns where exporter.value(row, column)?.text?.utf8.contains(0) ?? false {
                throw exporter.error(row, column.title, "a cell of CSV cannot hold a NUL: JSON or an archive has it")
            }
        }
    }

    private mutating func append(_ row: UInt32, _ column: ItemExporter.Column, to writer: inout CSVWriter) throws {
        let columns = exporter.store.columns
        if column.path.isEmpty {
            if column.field == columns.keyField { return columns.withKey(row) { writer.append($0) } }
            let cell = columns.cell(row, column.field)
            if cell.isText {
                return cell.withText {
                    exporter.countIfEmpty(.string(""), $0.isEmpty, column)
                    writer.append($0)
                }
            }
            if columns.hasDeclarations, let declaration = columns.declaration(of: column.field),
                declaration.format != nil, let value = columns.value(cell), let text = declaration.shown(value)
            {
                if case .date(let date) = value, declaration.date(text) ?? date != date { cutDates += 1 }
                return writer.append(text)
            }
        }
        switch exporter.value(row, column).flatMap(exporter.written) {
        case nil: writer.append("")
        case .date(let date)?:
            scratch.removeAll(keepingCapacity: true)
            date.appendExchangeText(to: &scratch)
            writer.append(scratch)
        case .real(let number)? where number.isFinite:
            scratch.removeAll(keepingCapacity: true)
            number.appendShortest(to: &scratch)
            writer.append(scratch)
        case let value?: writer.append(try text(value, row, column))
        }
    }

    /// The text of a value of the other kinds.
    private func text(
        _ value: PropertyListValue, _ row: UInt32, _ column: ItemExporter.Column
    ) throws(StoreError) -> String {
        if let number = value.floating, !number.isFinite {
            throw exporter.valueError(row, column, "a cell of CSV has no \(number): it would be read as a text")
        }
        exporter.countIfEmpty(value, value.isEmptyText, column)
        if let text = ImportKeys.text(value) { return text }
        do throws(JSONError) {
            let json = try value.json()
            // JSON text of data is Base64 in quotes; the cell omits the quotes.
            if case .data = value { return String(decoding: json.dropFirst().dropLast(), as: UTF8.self) }
            return String(decoding: json, as: UTF8.self)
        } catch {
            throw exporter.valueError(row, column, error.message)
        }
    }

    // MARK: For spreadsheets

    private func cell(
        _ row: UInt32, _ column: ItemExporter.Column, _ dialect: SpreadsheetDialect
    ) throws(StoreError) -> String {
        let value = exporter.value(row, column).flatMap(exporter.written)
        let store = exporter.store.columns
        if let value, column.path.isEmpty, let declaration = store.declaration(of: column.field),
            declaration.format == .money, let amount = declaration.shown(value)
        {
            return dialect.cell(amount: amount)
        }
        switch value {
        case nil: return ""
        case .date(let date)?:
            let (text, isCut) = dialect.cell(date)
            if isCut { exporter.losses.milliseconds += 1 }
            return text
        case .integer(let number)?: return dialect.cell(integer: String(number))
        case .wideInteger(let number)?: return dialect.cell(integer: String(number))
        case .boolean(let flag)?: return flag ? "true" : "false"
        case let value?:
            if let number = value.floating, number.isFinite {
                let (text, isRounded) = dialect.cell(number)
                if isRounded { exporter.losses.digits += 1 }
                return text
            }
            var text = try text(value, row, column)
            if text.utf16.count > SpreadsheetDialect.cellLimit { exporter.losses.longTexts += 1 }
            guard let cell = text.withUTF8({ dialect.cell($0) }) else {
                throw exporter.error(
                    row, column.title,
                    "a spreadsheet would compute this text of \(text.utf8.count.counted("byte")), which is too long to be marked as one"
                )
            }
            return cell
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
        try writeObjects(try exporter.columns(), end: "\n")
        try flush()
    }

    /// Writes a single item.
    mutating func writeObject() throws {
        try writeObjects(try exporter.columns().sorted { $0.name < $1.name })
        try flush()
    }

    /// Sorts the keys, as in all JSON for people, unless columns were chosen.
    mutating func writeArray() throws {
        var columns = try exporter.columns()
        if exporter.options.columns == nil { columns.sort { $0.name < $1.name } }
        text.append("[")
        try writeObjects(columns, inArray: true)
        text.end("]", 0, isEmpty: exporter.rows.isEmpty)
        try flush()
    }

    private mutating func flush() throws { try exporter.put(text.take()) }

    private mutating func writeObjects(
        _ columns: [ItemExporter.Column], inArray isArray: Bool = false, end: String = ""
    ) throws {
        let level = isArray ? 1 : 0
        let store = exporter.store.columns
        let keys = columns.map { column in
            var key = JSONText(isPretty ? .foundation : .compact)
            key.key(column.name)
            return key.take()
        }
        let days = columns.map { store.declaration(of: $0.field)?.format == .day }
        for (index, row) in exporter.rows.enumerated() {
            try exporter.options.report(index, exporter.rows.count)
            if isArray { text.next(level, isFirst: index == 0) }
            text.append(byte: UInt8(ascii: "{"))
            var isFirst = true
            for place in columns.indices {
                let column = columns[place]
                let cell = store.cell(row, column.field)
                let isKey = column.field == store.keyField
                if cell.isAbsent, !isKey { continue }
                let isText = column.path.isEmpty && (isKey || cell.isText)
                let value = isText ? nil : exporter.value(row, column)
                if value == nil, !isText { continue }
                text.next(level + 1, isFirst: isFirst)
                text.append(json: keys[place])
                isFirst = false
                if isText {
                    if isKey {
                        store.withKey(row) { text.string(utf8: $0) }
                    } else {
                        cell.withText { text.string(utf8: $0) }
                    }
                } else if days[place], column.path.isEmpty, case .date(let date)? = value {
                    text.string(date.dayText)
                } else if let value {
                    do throws(JSONError) { try append(exporter.written(value) ?? .null) } catch {
                        throw exporter.valueError(row, column, error.message)
                    }
                }
            }
            text.end("}", level, isEmpty: isFirst)
            text.append(end)
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

    let exporter: ItemExporter
    let database: SQLiteDatabase

    func write() throws {
        let columns = try exporter.columns()
        guard !columns.isEmpty else {
            throw StoreError(.invalidValue(field: ""), "a table needs a column: all fields are left out")
        }
        if let column = columns.first(where: { $0.name.utf8.contains(0) }) {
            throw StoreError(
                .unwritableValue(field: column.title),
                "field \(VisibleText.line(column.title)): a name in SQLite cannot hold a NUL: rename it, or leave it out"
            )
        }
        var names: [[UInt8]: String] = [:]
        for column in columns {
            let folded = column.name.utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
            guard let other = names.updateValue(column.name, forKey: folded) else { continue }
            throw StoreError(
                .unwritableValue(field: column.title),
                "\(other) and \(column.name) are one name in SQLite, which has no case: give \(OptionWords.map(column.title, to: column.name + "_2"))"
            )
        }
        let table = SQLiteDatabase.quoted(exporter.options.table ?? Self.table)
        let types = types(of: columns)
        let definitions = zip(columns, types).map { "\(SQLiteDatabase.quoted($0.name)) \($1)" }
        try database.transaction {
            try removeTable()
            try database.execute("create table \(table)(\(definitions.joined(separator: ", ")))")
            let places = columns.map { _ in "?" }.joined(separator: ", ")
            let insertion = try SQLiteStatement(database, "insert into \(table) values(\(places))")
            for (index, row) in exporter.rows.enumerated() {
                try exporter.options.report(index, exporter.rows.count)
                for (place, column) in columns.enumerated() { try bind(row, column, insertion, place) }
                try insertion.run()
            }
        }
    }

    /// Removes the table of this name that an earlier export wrote. A view is not an export's.
    private func removeTable() throws {
        let name = exporter.options.table ?? Self.table
        guard let (type, present) = try existing(name) else { return }
        guard type == "table" else {
            throw StoreError(.unwritableValue(field: ""), "the database has a view \(name): give another table")
        }
        let quoted = SQLiteDatabase.quoted(present)
        let count = try SQLiteStatement(database, "select count(*) from \(quoted)")
        // To the end: a statement in progress locks the table.
        while try count.step() {
            if case .integer(let rows) = count.cell(0) { exporter.losses.replaced = Int(clamping: rows) }
        }
        try database.execute("drop table \(quoted)")
    }

    /// The type and the name of the table or view that SQLite takes for one of this name; nil for none.
    private func existing(_ name: String) throws(SQLiteError) -> (type: String, name: String)? {
        let known = try SQLiteStatement(
            database, "select type, name from sqlite_master where name = ? collate nocase and type in ('table', 'view')"
        )
        try known.bind([.text(Array(name.utf8))])
        var found: (type: String, name: String)?
        while try known.step() {
            guard case .text(let type) = known.cell(0), case .text(let name) = known.cell(1) else { continue }
            found = (String(decoding: type, as: UTF8.self), String(decoding: name, as: UTF8.self))
        }
        return found
    }

    // MARK: Types

    /// The type that a column of one kind of values is declared with; empty for a kind that SQLite has no type for. It
    /// stores dates as texts and booleans as numbers.
    private static func type(_ kind: FieldDeclaration.Kind?) -> String {
        switch kind {
        case .string: "TEXT"
        case .integer: "INTEGER"
        case .real: "REAL"
        case .boolean: "BOOLEAN"
        case .date: "DATETIME"
        case .number, .data, .array, .dictionary, .any, nil: ""
        }
    }

    /// The kind of a value as SQLite keeps it; any for one that becomes another.
    private static func kind(_ value: PropertyListValue) -> FieldDeclaration.Kind {
        switch value {
        case .utf16, .wideInteger: .any
        default: FieldDeclaration.Kind(of: value) ?? .any
        }
    }

    /// The types of the columns: from the values that are written, and not from those of removed or other items; for a
    /// column without values from the field's declaration.
    private func types(of columns: [ItemExporter.Column]) -> [String] {
        var kinds = [[FieldDeclaration.Kind]](repeating: [], count: columns.count)
        let store = exporter.store.columns
        for row in exporter.rows {
            // A column of two kinds has no type.
            for (place, column) in columns.enumerated() where kinds[place].count < 2 {
                let kind: FieldDeclaration.Kind
                if column.path.isEmpty, column.field == store.keyField || store.cell(row, column.field).isText {
                    kind = .string
                } else if let value = exporter.value(row, column), !isLeftOut(value) {
                    kind = Self.kind(value)
                } else {
                    continue
                }
                if !kinds[place].contains(kind) { kinds[place].append(kind) }
            }
        }
        return zip(columns, kinds).map { column, kinds in
            let declaration = column.path.isEmpty ? store.declaration(of: column.field) : nil
            if kinds == [.date], declaration?.format == .day { return "DATE" }
            guard kinds.isEmpty, column.path.isEmpty else { return kinds.count == 1 ? Self.type(kinds[0]) : "" }
            if column.field == store.keyField { return "TEXT" }
            if let declaration { return declaration.format == .day ? "DATE" : Self.type(declaration.kind) }
            return Self.type(store.schema.kind(column.field).map { FieldDeclaration.Kind($0.kind) })
        }
    }

    private func isLeftOut(_ value: PropertyListValue) -> Bool {
        exporter.options.writesNullForNaN && value.floating?.isFinite == false
    }

    // MARK: Values

    private func bind(
        _ row: UInt32, _ column: ItemExporter.Column, _ insertion: SQLiteStatement, _ place: Int
    ) throws {
        let columns = exporter.store.columns
        if column.path.isEmpty {
            if column.field == columns.keyField {
                return try columns.withKey(row) { key in Result { try insertion.bind(text: key, at: place) } }.get()
            }
            let cell = columns.cell(row, column.field)
            if cell.isText { return try cell.withText { text in try insertion.bind(text: text, at: place) } }
        }
        let value = exporter.value(row, column).flatMap(exporter.written)
        if case .date(let date)? = value, column.path.isEmpty, columns.declaration(of: column.field)?.format == .day {
            return try insertion.bind(.text(Array(date.dayText.utf8)), at: place)
        }
        if value?.floating?.isNaN == true {
            throw exporter.valueError(row, column, "SQLite would keep nan as NULL, which is not a value")
        }
        do { try insertion.bind(try self.value(value), at: place) } catch let error as JSONError {
            throw exporter.valueError(row, column, error.message)
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
