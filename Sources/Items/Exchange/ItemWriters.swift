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
        if let dialect = exporter.options.spreadsheet {
            try exporter.put(SpreadsheetDialect.mark)
            for column in columns {
                var name = column.name
                writer.append(name.withUTF8 { dialect.cell($0) } ?? name)
            }
        } else {
            for column in columns { writer.append(column.name) }
        }
        writer.endRow()
        for (index, row) in exporter.rows.enumerated() {
            try exporter.options.report(index, exporter.rows.count)
            for column in columns {
                if let dialect = exporter.options.spreadsheet {
                    writer.append(try cell(row, column, dialect))
                } else {
                    try append(row, column, to: &writer)
                }
            }
            writer.endRow()
            if writer.bytes.count >= ItemExporter.pieceSize { try exporter.put(writer.take()) }
        }
        try exporter.put(writer.take())
        if cutDates > 0 {
            exporter.options.onRemark?(
                "\(cutDates.counted("date")) cut to the pattern declared of the field (JSON and an archive have all of it)"
            )
        }
    }

    private mutating func append(_ row: UInt32, _ column: ItemExporter.Column, to writer: inout CSVWriter) throws {
        let columns = exporter.store.columns
        if column.path.isEmpty {
            if column.field == columns.keyField { return columns.withKey(row) { writer.append($0) } }
            let cell = columns.cell(row, column.field)
            if cell.isText { return cell.withText { writer.append($0) } }
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
        let number: Double? =
            switch value {
            case .real(let number): number
            case .single(let number): Double(number)
            default: nil
            }
        if let number, !number.isFinite {
            throw exporter.valueError(row, column, "a cell of CSV has no \(number): it would be read as a text")
        }
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
        case .real(let number)? where number.isFinite:
            let (text, isRounded) = dialect.cell(number)
            if isRounded { exporter.losses.digits += 1 }
            return text
        case .single(let number)? where number.isFinite:
            let (text, isRounded) = dialect.cell(Double(number))
            if isRounded { exporter.losses.digits += 1 }
            return text
        case .integer(let number)?: return dialect.cell(integer: String(number))
        case .wideInteger(let number)?: return dialect.cell(integer: String(number))
        case .boolean(let flag)?: return flag ? "true" : "false"
        case let value?:
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
        let days = columns.map { store.declaration(of: $0.field)?.format == .day }
        for (index, row) in exporter.rows.enumerated() {
            try exporter.options.report(index, exporter.rows.count)
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
        if let column = columns.first(where: { $0.name.utf8.contains(0) }) {
            throw StoreError(
                .unwritableValue(field: column.title),
                "field \(VisibleText.line(column.title)): a name in SQLite cannot hold a NUL: rename it, or leave it out"
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

    /// The kinds of a column's values.
    private struct Kinds: OptionSet {
        let rawValue: UInt8

        static let text = Kinds(rawValue: 1)
        static let integer = Kinds(rawValue: 2)
        static let real = Kinds(rawValue: 4)
        static let boolean = Kinds(rawValue: 8)
        static let date = Kinds(rawValue: 16)
        static let other = Kinds(rawValue: 32)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ value: PropertyListValue) {
            switch value {
            case .string: self = .text
            case .integer: self = .integer
            case .real, .single: self = .real
            case .boolean: self = .boolean
            case .date: self = .date
            default: self = .other
            }
        }

        /// The kind of a field of every item.
        init(_ kind: FieldKind?) {
            switch kind {
            case .text?: self = .text
            case .integer?: self = .integer
            case .date?: self = .date
            case .mixed?, nil: self = []
            }
        }

        /// The declared kind of a field; empty for one whose values SQLite has no type for.
        init(_ kind: FieldDeclaration.Kind) {
            switch kind {
            case .string: self = .text
            case .integer: self = .integer
            case .real: self = .real
            case .boolean: self = .boolean
            case .date: self = .date
            case .number, .data, .array, .dictionary, .any: self = []
            }
        }

        /// The type that a column is declared with. SQLite stores dates as texts and booleans as numbers.
        var type: String {
            switch self {
            case .text: "TEXT"
            case .integer: "INTEGER"
            case .real: "REAL"
            case .boolean: "BOOLEAN"
            case .date: "DATETIME"
            default: ""
            }
        }
    }

    /// The types of the columns: from the values that are written, and not from those of removed or other items; for a
    /// column without values from the field's declaration.
    private func types(of columns: [ItemExporter.Column]) -> [String] {
        var kinds = [Kinds](repeating: [], count: columns.count)
        let store = exporter.store.columns
        for row in exporter.rows {
            for (place, column) in columns.enumerated() where !kinds[place].contains(.other) {
                if column.path.isEmpty, column.field == store.keyField || store.cell(row, column.field).isText {
                    kinds[place].insert(.text)
                } else if let value = exporter.value(row, column), !isLeftOut(value) {
                    kinds[place].insert(Kinds(value))
                }
            }
        }
        return zip(columns, kinds).map { column, kinds in
            let declaration = column.path.isEmpty ? store.declaration(of: column.field) : nil
            if kinds == .date, declaration?.format == .day { return "DATE" }
            guard kinds.isEmpty, column.path.isEmpty else { return kinds.type }
            if column.field == store.keyField { return "TEXT" }
            if let declaration { return declaration.format == .day ? "DATE" : Kinds(declaration.kind).type }
            return Kinds(store.schema.kind(column.field)?.kind).type
        }
    }

    private func isLeftOut(_ value: PropertyListValue) -> Bool {
        guard exporter.options.writesNullForNaN else { return false }
        return switch value {
        case .real(let number): !number.isFinite
        case .single(let number): !number.isFinite
        default: false
        }
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
        let isNaN =
            switch value {
            case .real(let number)?: number.isNaN
            case .single(let number)?: number.isNaN
            default: false
            }
        if isNaN {
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
