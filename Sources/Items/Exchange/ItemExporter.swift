import CSV
import ColumnEngine
import ItemArchive
import PropertyList
package import SQLite

/// Writes items as a file, a piece at a time where the format allows that.
struct ItemExporter {
    /// A field that goes out, and its name there.
    typealias Column = (field: ItemField, name: String)

    /// How many bytes are a piece.
    static let pieceSize = 1 << 20

    let store: ItemStore
    let options: ItemFileOptions
    /// The items' rows, in order.
    let rows: [UInt32]
    /// Takes the next bytes of the file.
    let write: (UnsafeRawBufferPointer) throws -> Void

    /// An exporter of a query's items, or of all if it is nil.
    init(
        _ store: ItemStore, _ query: ItemQuery?, _ options: ItemFileOptions,
        _ write: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let rows = try query?.rows.rows() ?? store.columns.slots.filter { $0 != ItemOrder.hole }
        self.init(store, rows: rows, options, write)
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
            try put(try ItemArchiveWriter(ItemSnapshot(columns), ArchiveSchema()).bytes())
        case .sqlite: throw StoreError(.unreadableFile, "a SQLite database is a file, and no stream of bytes")
        }
    }

    func put(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes(write) }

    /// The fields that go out: those that were chosen, in their order, or those of the domain and then custom ones by name.
    func columns() throws -> [Column] {
        let fields: [ItemField]
        if let chosen = options.columns {
            fields = try chosen.map { try store.columns.queriedField($0) }
        } else {
            let custom = store.columns.customFieldsInUse.map { (number: $0, name: store.columns.fieldNames[Int($0)]) }
            fields = ItemField.domain + custom.sorted { $0.name < $1.name }.map { ItemField(rawValue: $0.number) }
        }
        // Cells of a mapped archive are read in batches when many are.
        if rows.count > 1000 { store.columns.prepareColumns(fields) }
        return fields.compactMap { field in options.name(for: store.name(of: field)).map { (field, $0) } }
    }

    private func records() throws -> PropertyListValue {
        let columns = try columns()
        var records: [PropertyListValue] = []
        records.reserveCapacity(rows.count)
        for row in rows {
            try options.report(records.count, rows.count)
            var record: [String: PropertyListValue] = [:]
            for (field, name) in columns { record[name] = store.columns.value(row, field) }
            records.append(.dictionary(record))
        }
        return .array(records)
    }

    /// A store of the items that go out, whose custom fields have the other names: what an archive calls its own is fixed.
    private func copy() throws -> ItemStore {
        for field in ItemField.domain where options.name(for: store.name(of: field)) != store.name(of: field) {
            let name = store.name(of: field)
            throw StoreError(
                .invalidValue(field: name),
                "an archive has the field \(name) under its own name: only custom fields can be renamed")
        }
        let chosen = options.columns.map(Set.init)
        let other = ItemStore()
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

extension ItemStore {
    /// All items as the bytes of a file.
    ///
    /// - Throws: `StoreError` for a field that no item has; what the options' functions throw.
    public func exportItems(_ options: ItemFileOptions) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try ItemExporter(self, nil, options) { bytes.append(contentsOf: $0) }.run()
        return bytes
    }

    /// Writes items as a file.
    ///
    /// - Parameters:
    ///   - query: which items; all if nil.
    ///   - options: the format.
    ///   - write: takes the next bytes.
    /// - Returns: how many items.
    /// - Throws: as ``exportItems(_:)``; what the functions throw.
    package func exportItems(
        _ query: ItemQuery?, _ options: ItemFileOptions, write: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Int {
        let exporter = try ItemExporter(self, query, options, write)
        try exporter.run()
        return exporter.rows.count
    }
}

extension ItemStore {
    /// Writes items into a table of a database that does not have it.
    ///
    /// - Parameters:
    ///   - query: which items; all if nil.
    ///   - options: the table and its columns.
    ///   - database: may be written to.
    /// - Returns: how many items.
    /// - Throws: as ``exportItems(_:)``; `SQLiteError`.
    package func exportItems(
        _ query: ItemQuery?, _ options: ItemFileOptions, into database: SQLiteDatabase
    ) throws -> Int {
        let exporter = try ItemExporter(self, query, options) { _ in }
        try exporter.checkNames()
        try SQLiteItemWriter(exporter, database).write()
        return exporter.rows.count
    }
}

extension ItemQuery {
    /// The items as the bytes of a file.
    ///
    /// - Throws: `StoreError` for a field that no item has; what the options' functions and conditions throw.
    public func exportItems(_ options: ItemFileOptions) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try ItemExporter(store, self, options) { bytes.append(contentsOf: $0) }.run()
        return bytes
    }

    /// The items as an array in JSON.
    ///
    /// - Throws: as ``exportItems(_:)``.
    package func json(_ options: ItemFileOptions, isPretty: Bool) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let exporter = try ItemExporter(store, self, options) { bytes.append(contentsOf: $0) }
        var writer = ItemJSONWriter(exporter, isPretty: isPretty)
        try writer.writeArray()
        return bytes
    }
}

extension Item {
    /// The item as an object in JSON.
    ///
    /// - Throws: `itemRemoved`; `JSONError` for a number that JSON does not have.
    package func json(isPretty: Bool) throws -> [UInt8] {
        var options = ItemFileOptions(format: .json)
        options.columns = try ItemField.domain.map(store.name) + customFieldNames
        var bytes: [UInt8] = []
        let exporter = ItemExporter(store, rows: [row], options) { bytes.append(contentsOf: $0) }
        var writer = ItemJSONWriter(exporter, isPretty: isPretty)
        try writer.writeObject()
        return bytes
    }
}
