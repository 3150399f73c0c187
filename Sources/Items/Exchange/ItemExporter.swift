import ColumnEngine
import ItemArchive
import PropertyList
package import SQLite

/// Writes items as a file, in pieces if the format allows it.
struct ItemExporter {
    /// An exported field with its name in the file.
    typealias Column = (field: ItemField, name: String)

    /// The size of a piece, in bytes.
    static let pieceSize = 1 << 20

    let store: ItemStore
    let options: ItemFileOptions
    /// The items' rows, in order.
    let rows: [UInt32]
    /// Receives the next bytes of the file.
    let write: (UnsafeRawBufferPointer) throws -> Void

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
        for name in options.names.keys.sorted() + (options.columns ?? []) { _ = try store.columns.queriedField(name) }
    }

    func run() throws {
        try checkNames()
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
        case .propertyList: try put(try records().encoded(as: .xml))
        case .keyedArchive:
            let isWhole = options.names.isEmpty && options.columns == nil && rows.count == store.count
            let columns = isWhole ? store.columns : try copy().columns
            try put(try ItemArchiveWriter(ItemSnapshot(columns), ArchiveSchema(columns.schema)).bytes())
        case .sqlite: throw StoreError(.unreadableFile, "a SQLite database is a file, and no stream of bytes")
        }
    }

    /// An error that names the item and the field whose value the format does not have.
    func error(_ row: UInt32, _ field: String, _ message: String) -> StoreError {
        let key = store.columns.withKey(row) { String(decoding: $0, as: UTF8.self) }
        let name = store.columns.title(row).map { "'\(VisibleText.line(String($0.prefix(40))))', " } ?? ""
        return StoreError(.unwritableValue(field: field), "item \(name)itemKey \(key), field \(field): \(message)")
    }

    func put(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes(write) }

    /// The exported fields: the chosen ones in their order, or else the domain's, followed by custom ones by name.
    func columns() throws -> [Column] {
        let fields: [ItemField]
        if let chosen = options.columns {
            fields = try chosen.map { try store.columns.queriedField($0) }
        } else {
            let custom = store.columns.customFieldsInUse.map { (number: $0, name: store.columns.fieldNames[Int($0)]) }
            fields = store.schema.numbers + custom.sorted { $0.name < $1.name }.map { ItemField(rawValue: $0.number) }
        }
        // Many cells of a mapped archive are read in batches.
        if rows.count > 1000 { store.columns.prepareColumns(fields) }
        return fields.compactMap { field in options.name(for: store.name(of: field)).map { (field, $0) } }
    }

    private func records() throws -> PropertyListValue {
        let columns = try columns()
        var records: [PropertyListValue] = []
        var cut = 0
        records.reserveCapacity(rows.count)
        for row in rows {
            try options.report(records.count, rows.count)
            var record: PropertyListFields = [:]
            for (field, name) in columns {
                guard let value = store.columns.value(row, field) else { continue }
                record[name] = value
                cut += value.datesWithFraction
            }
            records.append(.fields(record))
        }
        if cut > 0 {
            options.onRemark?(
                "a property list in XML has whole seconds: \(cut.counted("date")) cut to them (an archive has all digits)"
            )
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

extension PropertyListValue {
    /// The number of dates with a part of a second.
    fileprivate var datesWithFraction: Int {
        switch self {
        case .date(let date): date.secondsSinceReferenceDate.truncatingRemainder(dividingBy: 1) == 0 ? 0 : 1
        case .array(let elements), .set(let elements): elements.reduce(0) { $0 + $1.datesWithFraction }
        case .dictionary(let entries): entries.values.reduce(0) { $0 + $1.datesWithFraction }
        default: 0
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

    /// Writes the items into a new table of a database.
    ///
    /// - Parameters:
    ///   - options: the table and its columns.
    ///   - database: a writable database.
    /// - Returns: the number of items.
    /// - Throws: as ``exportItems(_:)``; `SQLiteError`.
    package func exportItems(_ options: ItemFileOptions, into database: SQLiteDatabase) throws -> Int {
        let exporter = try ItemExporter(self, options) { _ in }
        try exporter.checkNames()
        try SQLiteItemWriter(exporter, database).write()
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
        var options = ItemFileOptions(format: .json)
        options.columns = try store.schema.names + customFieldNames
        var bytes: [UInt8] = []
        let exporter = ItemExporter(store, rows: [row], options) { bytes.append(contentsOf: $0) }
        var writer = ItemJSONWriter(exporter, isPretty: isPretty)
        try writer.writeObject()
        return bytes
    }
}
