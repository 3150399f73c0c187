import CSV
import ColumnEngine
import ItemArchive
import PropertyList

/// Makes items of the rows of comma-separated values; a text goes into the store without becoming a string.
struct CSVItemReader {
    private let store: ItemStore
    private let options: ItemFileOptions
    private let path: String

    init(_ store: ItemStore, _ options: ItemFileOptions, _ path: String) {
        (self.store, self.options, self.path) = (store, options, path)
    }

    /// - Returns: the number of items.
    func read(_ bytes: [UInt8]) throws -> Int {
        var count = 0
        do {
            var row = CSVRow()
            let reader = try CSVReader(bytes: bytes, options: CSVOptions(delimiter: options.delimiter))
            guard let header = try reader.header() else { return 0 }
            let columns = try columns(header)
            var done = 0
            while try reader.next(into: &row) {
                if count % ItemFileOptions.reportInterval == 0 { try options.progress?(done, bytes.count) }
                for cell in 0..<row.count { done += row.range(of: cell).count + 1 }
                try ItemImporter.row(reader.row, path) { try create(row, columns) }
                count += 1
            }
        } catch let error as CSVError {
            throw StoreError(.unreadableFile, "\(path): \(error)", path: path, cause: error)
        }
        return count
    }

    /// The field of each column; nil for one that is left out.
    private func columns(_ header: CSVRow) throws -> [ItemField?] {
        var columns: [ItemField?] = []
        var seen: [ItemField: String] = [:]
        var names: Set<String> = []
        for cell in 0..<header.count {
            guard let name = header.string(cell) else {
                throw StoreError(
                    .unreadableFile, "\(path): the name of column \(cell + 1) is not UTF-8", path: path)
            }
            names.insert(name)
            // A column without a name is what spreadsheets make of row numbers.
            guard let fieldName = options.name(for: name), !fieldName.isEmpty else {
                columns.append(nil)
                continue
            }
            try options.checkField?(fieldName)
            let field = try store.field(named: fieldName)
            if let other = seen.updateValue(name, forKey: field) {
                throw StoreError(
                    .unreadableFile, "\(path): the columns '\(other)' and '\(name)' are both \(fieldName)", path: path)
            }
            columns.append(field)
        }
        try ItemImporter.checkNames(options, names, path)
        return columns
    }

    private func create(_ row: CSVRow, _ columns: [ItemField?]) throws(StoreError) {
        if row.count > columns.count {
            throw StoreError(
                .invalidValue(field: ""), "\(row.count) cells, and the header has \(columns.count) names")
        }
        let draft = try store.beginItem()
        do throws(StoreError) {
            for cell in 0..<row.count {
                guard let field = columns[cell], !row.range(of: cell).isEmpty else { continue }
                try set(draft, field, row, cell)
            }
            _ = try store.insertReference(draft)
        } catch {
            draft.discard()
            throw error
        }
    }

    /// An empty cell is a field that is not given.
    private func set(_ draft: ItemDraft, _ field: ItemField, _ row: CSVRow, _ cell: Int) throws(StoreError) {
        switch field {
        case .valueInDollars:
            let text = row.string(cell) ?? ""
            if let number = Int64(text) { return try draft.set(.integer(number), for: field) }
            guard let real = Double(text) else {
                throw FieldValidation.refusal("valueInDollars", "an integer", .string(text))
            }
            try draft.set(.real(real), for: field)
        case .dateCreated:
            let text = row.string(cell) ?? ""
            guard let date = ISO8601.parse(text) else {
                throw FieldValidation.refusal("dateCreated", "a date in ISO 8601", .string(text))
            }
            try draft.set(.date(date), for: field)
        default:
            let range = row.range(of: cell)
            try row.withUnsafeBytes { bytes throws(StoreError) in
                let cell = UnsafeRawBufferPointer(rebasing: bytes[range])
                try draft.setUTF8(cell.assumingMemoryBound(to: UInt8.self), for: field)
            }
        }
    }
}
