import ColumnEngine
import ItemArchive
import PredicateFormat
import PropertyList
import Wording

/// Brings items from a file's bytes into a store: all of them or, when one can't be, none.
struct ItemImporter {
    let store: ItemStore
    let options: ItemFileOptions
    let path: String

    /// - Returns: the number of items.
    func run(_ bytes: [UInt8]) throws -> Int {
        try store.transaction(.import) {
            try store.performBulkChange {
                switch options.format {
                case .csv: try CSVItemReader(store, options, path).read(bytes)
                case .json: try records(try decoded(bytes) { try PropertyListValue(json: $0) })
                case .propertyList: try records(try decoded(bytes) { try PropertyListValue(decoding: $0) })
                case .keyedArchive: try archive(bytes)
                }
            }
        }
    }

    private func decoded(
        _ bytes: [UInt8], _ decode: ([UInt8]) throws -> PropertyListValue
    ) throws(StoreError) -> [PropertyListValue] {
        let value: PropertyListValue
        do { value = try decode(bytes) } catch {
            throw StoreError(.unreadableFile, "\(path): \(error)", path: path, cause: error)
        }
        guard case .array(let records) = value else {
            throw StoreError(
                .unreadableFile,
                "\(path): an array of items is expected, and this is \(FieldValidation.describe(value))",
                path: path)
        }
        return records
    }

    // MARK: Records

    private func records(_ records: [PropertyListValue]) throws -> Int {
        var found: Set<String> = []
        for (index, record) in records.enumerated() {
            try options.report(index, records.count)
            try Self.row(index + 1, path) {
                guard case .dictionary(let values) = record else {
                    throw StoreError(
                        .invalidValue(field: ""),
                        "a dictionary is expected, and this is \(FieldValidation.describe(record))")
                }
                found.formUnion(values.keys)
                try create(values)
            }
        }
        try Self.checkNames(options, found, path)
        return records.count
    }

    private func create(_ values: [String: PropertyListValue]) throws {
        var fields = ItemFields()
        for (column, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let field = options.name(for: column), value != .null else { continue }
            try options.checkField?(field)
            var value = value
            // JSON has no dates: they come as ISO 8601.
            if field == "dateCreated", let date = value.predicateDate { value = .date(date) }
            try fields.set(value, forField: field)
        }
        try store.createItem(fields)
    }

    private func archive(_ bytes: [UInt8]) throws -> Int {
        let other = ColumnStore(.domain)
        do throws(PropertyListError) {
            let isBinary = bytes.starts(with: "bplist".utf8)
            let binary = isBinary ? bytes : try PropertyListValue(decoding: bytes).encoded(as: .binary)
            var reader = ItemArchiveReader(
                ItemLoader(other), try BinaryPropertyListReader(binary),
                ArchiveIdentity(of: bytes))
            try reader.read()
            if let damage = reader.damage.first { throw PropertyListError(code: .readCorrupt, message: damage) }
        } catch {
            throw StoreError(.unreadableFile, "\(path) is no archive of items: \(error)", path: path, cause: error)
        }
        let rows = other.order.slots
        for (index, row) in rows.enumerated() {
            try options.report(index, rows.count)
            try Self.row(index + 1, path) {
                let fields = other.fields(of: row)
                if options.names.isEmpty, fields.custom.isEmpty {
                    try store.createItem(fields)
                } else {
                    try create(other.dictionary(of: row))
                }
            }
        }
        return rows.count
    }

    // MARK: Errors

    /// Runs a body for a row; what it throws names the row.
    static func row(_ number: Int, _ path: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as StoreError {
            throw StoreError(
                .invalidRow(number), "\(path), row \(number): \(error.message)", path: path, cause: error)
        }
    }

    /// Refuses a renamed column that the file does not have.
    static func checkNames(_ options: ItemFileOptions, _ columns: Set<String>, _ path: String) throws(StoreError) {
        guard !columns.isEmpty, let missing = options.names.keys.sorted().first(where: { !columns.contains($0) }) else {
            return
        }
        throw StoreError(
            .unreadableFile, "\(path) has no column '\(missing)' to be renamed\(advice(missing, options, columns))",
            path: path)
    }

    /// What was probably meant by a column that the file does not have.
    private static func advice(_ missing: String, _ options: ItemFileOptions, _ columns: Set<String>) -> String {
        if let new = options.names[missing] ?? nil, columns.contains(new) {
            return "; it has '\(new)': a map goes from the file's names to the items'"
        }
        let nearest = NearestNames.nearest(to: missing, among: columns.sorted())
        guard nearest.isEmpty else { return NearestNames.suggestion(nearest) }
        let listed = columns.sorted().prefix(12).joined(separator: ", ")
        return "; it has \(listed)\(columns.count > 12 ? ", …" : "")"
    }
}

extension ItemStore {
    /// Appends the items of a file's bytes, in one transaction: all of them or, when one can't be, none. Observers are
    /// told once.
    ///
    /// - Parameters:
    ///   - bytes: the file's.
    ///   - path: the file's name in errors.
    ///   - options: its format, and what its columns are called.
    /// - Returns: the number of items.
    /// - Throws: `StoreError`: `unreadableFile` when the bytes are not what the options say, `invalidRow` that names
    ///   the row, from 1, with the header counted, for one that is no item; what the options' functions throw.
    @discardableResult
    public func importItems(_ bytes: [UInt8], path: String, _ options: ItemFileOptions) throws -> Int {
        if isReadOnly { throw StoreError.storeIsReadOnly }
        return try ItemImporter(store: self, options: options, path: path).run(bytes)
    }
}
