import ColumnEngine
import ItemArchive
import PredicateFormat
import PropertyList
package import SQLite

/// Writes items as a file, in pieces if the format allows it.
struct ItemExporter {
    /// An exported field, or a part of one, with its name in the file. An object, as each cell passes one.
    final class Column {
        let field: ItemField
        /// The keys below the field's dictionaries, `["w"]` for `dims.w`; empty for the field itself.
        let path: [String]
        /// The name in the store.
        let title: String
        /// The name in the file.
        let name: String

        init(field: ItemField, path: [String], title: String, name: String) {
            (self.field, self.path, self.title, self.name) = (field, path, title, name)
        }
    }

    /// The size of a piece, in bytes.
    static let pieceSize = 1 << 20

    let store: ItemStore
    let options: ItemFileOptions
    /// The items' rows, in order.
    let rows: [UInt32]
    /// The exported fields where the options choose none; nil for all.
    var fields: [ItemField]?
    /// Receives the next bytes of the file.
    let write: (UnsafeRawBufferPointer) throws -> Void
    /// What the format does not hold whole.
    let losses = ExportLosses()

    /// Creates an exporter of a query's items.
    init(
        _ query: ItemQuery, _ options: ItemFileOptions, _ write: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        self.init(query.store, rows: try query.rows(), options, write)
    }

    init(
        _ store: ItemStore, rows: [UInt32], _ options: ItemFileOptions,
        _ write: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) {
        (self.store, self.rows, self.options, self.write) = (store, rows, options, write)
    }

    func checkNames() throws {
        let chosen = NameSet(options.columns ?? [])
        for name in chosen.sorted() { _ = try place(of: name) }
        for name in options.names.keys.sorted() {
            let (_, path) = try place(of: name)
            guard !path.isEmpty, !chosen.contains(name) else { continue }
            throw StoreError(
                .invalidValue(field: name), "\(name) is a part of a field: it is renamed if it is among the columns")
        }
    }

    func run() throws {
        try checkNames()
        try writeFile()
        report()
    }

    /// Says what was left out.
    func report() { for remark in losses.remarks { options.onRemark?(remark) } }

    private func writeFile() throws {
        switch options.format {
        case .csv, .tsv:
            var writer = ItemCSVWriter(self)
            try writer.write()
        case .json:
            var writer = ItemJSONWriter(self, isPretty: true)
            try writer.writeArray()
        case .jsonLines:
            var writer = ItemJSONWriter(self)
            try writer.writeLines()
        case .propertyList: try put(try propertyList())
        case .keyedArchive:
            for name in options.columns ?? [] where try !place(of: name).path.isEmpty {
                throw StoreError(
                    .invalidValue(field: name), "an archive has whole fields, and \(name) is a part of one")
            }
            let isWhole = options.names.isEmpty && options.columns == nil && rows.count == store.count
            let columns = isWhole ? store.columns : try copy().columns
            try put(try ItemArchiveWriter(ItemSnapshot(columns), ArchiveSchema(columns.schema)).bytes())
        case .sqlite: throw StoreError(.unreadableFile, "a SQLite database is a file, and no stream of bytes")
        case .xlsx, .ods:
            throw StoreError(.unreadableFile, "spreadsheets are only read: write CSV, which their programs open")
        }
    }

    /// An error that names the item and the field whose value the format does not have.
    func error(_ row: UInt32, _ field: String, _ message: String) -> StoreError {
        let key = store.columns.withKey(row) { String(decoding: $0, as: UTF8.self) }
        let name = store.columns.title(row).map { "'\(VisibleText.line(String($0.prefix(40))))', " } ?? ""
        return StoreError(
            .unwritableValue(field: field), "item \(name)itemKey \(key), field \(VisibleText.line(field)): \(message)")
    }

    /// Counts a value that an empty cell does not stand for.
    func countIfEmpty(_ value: @autoclosure () -> PropertyListValue, _ isEmpty: Bool, _ column: Column) {
        if isEmpty, !column.path.isEmpty || store.schema.initial(of: column.field) != value() { losses.emptyTexts += 1 }
    }

    func put(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes(write) }

    /// The exported fields: the chosen ones in their order, or else the domain's, followed by custom ones by name.
    func columns() throws -> [Column] {
        let places: [(field: ItemField, path: [String])]
        if let chosen = options.columns {
            places = try chosen.map(place)
        } else {
            places = (fields ?? allFields()).map { ($0, []) }
        }
        // Many cells of a mapped archive are read in batches.
        if rows.count > 1000 { store.columns.prepareColumns(places.map(\.field)) }
        var names: NameSet = []
        return try places.compactMap { field, path in
            let title = ([store.name(of: field)] + path).joined(separator: ".")
            guard let name = options.name(for: title) else { return nil }
            guard names.insert(name).inserted else {
                throw StoreError(
                    .invalidValue(field: title), "two columns have the name \(name): rename one, or leave it out")
            }
            let column = Column(field: field, path: path, title: title, name: name)
            if !path.isEmpty { try checkUse(of: column) }
            return column
        }
    }

    private func allFields() -> [ItemField] {
        let custom = store.columns.customFieldsInUse.map { store.columns.fieldNames[Int($0)] }
        return store.schema.numbers + store.ordered(custom).map { store.columns.field(named: $0) }
    }

    /// The field of a name and the keys behind it: of a key path as a query has it; of another name the field, or the
    /// longest beginning of it that is one.
    private func place(of name: String) throws(StoreError) -> (field: ItemField, path: [String]) {
        if let path = store.columns.path(name), let field = store.columns.existingField(named: path.field) {
            return (field, path.rest)
        }
        if let field = store.columns.existingField(named: name) { return (field, []) }
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map {
            String($0) ?? ""
        }
        if !parts.contains("") {
            for count in stride(from: parts.count - 1, to: 0, by: -1) {
                let start = parts[..<count].joined(separator: ".")
                if let field = store.columns.existingField(named: start) { return (field, Array(parts[count...])) }
            }
        }
        return (try store.columns.queriedField(name), [])
    }

    /// Refuses a part that no item has, as a field that no item has is refused.
    private func checkUse(of column: Column) throws {
        func isIn(_ row: UInt32) -> Bool { row != ItemOrder.hole && value(row, column) != nil }
        if rows.isEmpty || rows.contains(where: isIn) || store.columns.slots.contains(where: isIn) { return }
        throw StoreError(.unknownField(column.title), "no item has \(column.title)")
    }

    /// A value of an item, or the part of it.
    func value(_ row: UInt32, _ column: Column) -> PropertyListValue? {
        if column.field == store.columns.keyField { return .string(store.columns.keyString(row)) }
        var value = store.columns.value(row, column.field)
        for key in column.path {
            guard case .dictionary(let entries)? = value else { return nil }
            value = entries[key]
        }
        return value
    }

    /// The value that is written: numbers that the format does not have are null if that is chosen.
    func written(_ value: PropertyListValue) -> PropertyListValue? {
        guard options.writesNullForNaN else { return value }
        if value.floating?.isFinite == false {
            losses.numbers += 1
            return nil
        }
        switch value {
        case .array(let elements): return .array(elements.map { written($0) ?? .null })
        case .set(let elements): return .set(elements.map { written($0) ?? .null })
        case .dictionary(let entries): return .dictionary(entries.mapValues { written($0) ?? .null })
        default: return value
        }
    }

    /// The error of a value that the format does not have, with the advice for numbers.
    func valueError(_ row: UInt32, _ column: Column, _ message: String) -> StoreError {
        let isNumber = value(row, column)?.hasUnwrittenNumber ?? false
        return error(row, column.title, message + (isNumber ? options.adviceOnNaN : ""))
    }

    private func propertyList() throws -> [UInt8] {
        let columns = try columns()
        let records = try records(columns)
        do throws(PropertyListError) {
            let (xml, loss) = try BinaryPropertyListReader(records.encoded(as: .binary)).xmlSayingLoss()
            losses.xml = loss
            return xml
        } catch { throw try placed(error, columns) }
    }

    /// An encoder's error as that of the first value, or name of a field, that the format does not have.
    private func placed(_ failure: PropertyListError, _ columns: [Column]) throws -> StoreError {
        if Interruption.isDue { throw WorkStopped() }
        for (index, row) in rows.enumerated() {
            try options.report(index, rows.count)
            for column in columns {
                guard let value = value(row, column) else { continue }
                do throws(PropertyListError) {
                    _ = try PropertyListValue.array([.string(column.name), value]).encoded(as: .xml)
                } catch {
                    return self.error(row, column.title, error.message)
                }
            }
        }
        return StoreError(.unwritableValue(field: ""), failure.message, cause: failure)
    }

    private func records(_ columns: [Column]) throws -> PropertyListValue {
        var records: [PropertyListValue] = []
        for row in rows {
            try options.report(records.count, rows.count)
            var record: PropertyListFields = [:]
            for column in columns {
                guard let value = value(row, column) else { continue }
                record[column.name] = value
            }
            records.append(.fields(record))
        }
        return .array(records)
    }

    /// Copies the exported items into a store with renamed custom fields, since an archive's own names are fixed.
    private func copy() throws -> ItemStore {
        for field in store.schema.numbers where options.name(for: store.name(of: field)) != store.name(of: field) {
            let name = store.name(of: field)
            throw StoreError(
                .invalidValue(field: name),
                "an archive has the field \(name) under its own name: only custom fields can be renamed")
        }
        let chosen = options.columns.map(Set.init)
        let other = ItemStore(schema: store.schema)
        for (index, row) in rows.enumerated() {
            try options.report(index, rows.count)
            var fields = store.columns.fields(of: row)
            let custom = fields.custom
            fields.custom = [:]
            for (name, value) in custom where chosen?.contains(name) ?? true {
                if let new = options.name(for: name) { try fields.set(value, forField: new) }
            }
            let item = try other.createItem(fields)
            if let names = store.columns.attachmentNames(row) {
                other.columns.setAttachments(item.row, .array(names.map { .string($0) }))
            }
        }
        return other
    }
}

/// What an export left out, counted.
final class ExportLosses {
    /// What XML does not have, in words.
    var xml: String?
    /// Numbers that are none, or infinite, written as null.
    var numbers = 0
    /// Numbers with more digits than a spreadsheet reads.
    var digits = 0
    /// Dates with more digits than a spreadsheet has.
    var milliseconds = 0
    /// Texts longer than a cell of a spreadsheet.
    var longTexts = 0
    /// Empty texts and data, as which a cell has no value.
    var emptyTexts = 0
    /// The rows of a table of the same name before.
    var replaced: Int?

    /// A sentence for each kind.
    var remarks: [String] {
        var remarks = [xml].compactMap(\.self)
        func add(_ count: Int, _ text: @autoclosure () -> String) { if count > 0 { remarks.append(text()) } }
        add(numbers, "\(numbers.counted("number")) NaN or infinite: written as null")
        add(
            digits,
            "\(digits.counted("number")) with more digits than the \(SpreadsheetDialect.digitLimit) that a spreadsheet reads"
        )
        add(milliseconds, "\(milliseconds.counted("date")) cut to milliseconds, as a spreadsheet has them")
        add(
            longTexts,
            "\(longTexts.counted("text")) longer than a cell of a spreadsheet, \(SpreadsheetDialect.cellLimit.grouped) characters"
        )
        add(
            emptyTexts,
            "\(emptyTexts.counted("empty value")) written as no value: a cell has no empty text and no empty data (JSON and an archive have)"
        )
        if let replaced { remarks.append("a table of this name was there, with \(replaced.counted("row")): replaced") }
        return remarks
    }
}

extension PropertyListValue {
    /// The number of a real of either size; nil for another value.
    var floating: Double? {
        switch self {
        case .real(let number): number
        case .single(let number): Double(number)
        default: nil
        }
    }

    /// Whether it is an empty text, or empty data, which is a text in a cell.
    var isEmptyText: Bool {
        switch self {
        case .string(let text): text.isEmpty
        case .data(let bytes): bytes.isEmpty
        default: false
        }
    }

    /// Whether it is, or holds, a number that only some formats have.
    fileprivate var hasUnwrittenNumber: Bool {
        switch self {
        case .array(let elements), .set(let elements): elements.contains { $0.hasUnwrittenNumber }
        case .dictionary(let entries): entries.values.contains { $0.hasUnwrittenNumber }
        default: floating?.isFinite == false
        }
    }
}

extension ItemStore {
    /// Encodes all items as a file.
    ///
    /// - Throws: `StoreError` for a field that no item has; errors of the options' functions.
    package func exportItems(_ options: ItemFileOptions) throws -> [UInt8] { try query().exportItems(options) }
}

extension ItemQuery {
    /// Encodes the items as a file.
    ///
    /// - Throws: `StoreError` for a field that no item has; errors of the options' functions and of conditions.
    package func exportItems(_ options: ItemFileOptions) throws -> [UInt8] {
        var bytes: [UInt8] = []
        _ = try exportItems(options) { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// Writes the items as a file.
    ///
    /// - Parameters:
    ///   - options: the format.
    ///   - write: receives the next bytes.
    /// - Returns: the number of items.
    /// - Throws: as ``exportItems(_:)``; errors of the functions.
    package func exportItems(
        _ options: ItemFileOptions, write: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Int {
        let exporter = try ItemExporter(self, options, write)
        try exporter.run()
        return exporter.rows.count
    }

    /// Writes the items into a new table of a database, in place of a table of its name; other tables stay.
    ///
    /// - Parameters:
    ///   - options: the table and its columns.
    ///   - database: a writable database.
    /// - Returns: the number of items.
    /// - Throws: as ``exportItems(_:)``; `SQLiteError`.
    package func exportItems(_ options: ItemFileOptions, into database: SQLiteDatabase) throws -> Int {
        let exporter = try ItemExporter(self, options) { _ in }
        try exporter.checkNames()
        try SQLiteItemWriter(exporter: exporter, database: database).write()
        exporter.report()
        return exporter.rows.count
    }

    /// The items as a JSON array.
    ///
    /// - Throws: as ``exportItems(_:)``.
    package func json(_ options: ItemFileOptions, isPretty: Bool) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let exporter = try ItemExporter(self, options) { bytes.append(contentsOf: $0) }
        var writer = ItemJSONWriter(exporter, isPretty: isPretty)
        try writer.writeArray()
        return bytes
    }
}

extension Item {
    /// The item as a JSON object.
    ///
    /// - Throws: `itemRemoved`; `unwritableValue` for a number that JSON cannot represent.
    package func json(isPretty: Bool) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var exporter = ItemExporter(store, rows: [row], ItemFileOptions(format: .json)) {
            bytes.append(contentsOf: $0)
        }
        exporter.fields = try store.schema.numbers + customFieldNames.map { store.columns.field(named: $0) }
        var writer = ItemJSONWriter(exporter, isPretty: isPretty)
        try writer.writeObject()
        return bytes
    }
}
