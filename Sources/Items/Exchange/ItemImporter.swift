import CSV
import ColumnEngine
import FileFormats
import PropertyList
import SQLite

/// Imports items from a file into a store, all or none.
struct ItemImporter {
    let store: ItemStore
    let options: ItemFileOptions
    let path: String

    func run(_ file: ImportFile) throws -> ItemImportReport {
        // Rows alone become the same items whatever other hosts commit meanwhile, however long it takes.
        let readsItems = !options.key.isEmpty || options.transform != nil || options.afterRows != nil
        return try store.importing(isDryRun: options.isDryRun, readsItems ? .serializable : .snapshot) {
            file.rewind()
            return try rows(of: file)
        }
    }

    private func rows(of file: ImportFile) throws -> ItemImportReport {
        try store.performBulkChange {
            let merger = try ItemMerger(store, options, path)
            let row = ImportedRow(store, options)
            let records = RecordReader(options: options, path: path)
            do {
                switch options.format {
                case .csv, .tsv: try CSVItemReader(store, options, path, file).read(row, merger)
                case .jsonLines: try JSONLineReader(options: options, path: path, file: file).read(row, merger)
                case .json: try records.readJSON(file, row, merger)
                case .propertyList: try records.readPropertyList(file, row, merger)
                case .keyedArchive: try records.readArchive(file, row, merger)
                case .sqlite: try SQLiteItemReader(options: options, path: path).read(row, merger)
                case .xlsx, .ods: try SheetItemReader(options: options, path: path, file: file).read(row, merger)
                }
            } catch let error as SQLiteError {
                if error.code == .interrupted { throw WorkStopped() }
                let place = merger.report.total > 0 ? ", after row \(merger.report.total)" : ""
                throw StoreError(.unreadableFile, "\(path)\(place): \(error.message)", path: path, cause: error)
            } catch let error as TextDecoding.Failure {
                throw StoreError(.unreadableFile, "\(path): \(error.message)", path: path)
            } catch let error as FormatError {
                if error.code == .stopped { throw WorkStopped() }
                throw StoreError(.unreadableFile, "\(path): \(error.message)", path: path, cause: error)
            } catch let error as CSVError {
                if error.code == .stopped { throw WorkStopped() }
                throw StoreError(.unreadableFile, "\(path): \(error)", path: path, cause: error)
            } catch let error as StoreError where error.code == .unreadableFile && error.path == nil {
                throw StoreError(.unreadableFile, "\(path): \(error.message)", path: path)
            }
            if merger.report.total > 0 { try ImportedNames(options: options, columns: row.names, path: path).check() }
            remarkTitle(row, merger)
            var report = try merger.finish(row)
            try declareDays(of: row)
            try options.afterRows?(merger.rows, &report)
            return report
        }
    }
}

extension ItemImporter {
    /// New fields that have days alone are shown as days from now on. They stay free: a date with a time is one.
    private func declareDays(of row: ImportedRow) throws {
        // What is declared of a shared collection is its people's to say.
        if store.replica.remote != nil { return }
        var declarations = store.declarations
        for column in row.columns where column.priorKinds?.isEmpty ?? false {
            guard column.isOfDays ?? column.reading?.isOfDays ?? false, declarations[column.fieldName] == nil,
                try FieldKinds(store.columns, column.field).kind == .date, store.columns.haveNoTimes(column.field)
            else { continue }
            declarations.declare(FieldDeclaration(daysOf: column.fieldName))
        }
        store.columns.declare(declarations)
    }

    /// Says that new items have no name, and which columns it could be.
    private func remarkTitle(_ row: ImportedRow, _ merger: ItemMerger) {
        let title = ItemField(rawValue: 0)
        guard store.schema.kind(title)?.kind == .text, merger.report.created > 0, row.place(of: title) == nil,
            !row.columns.isEmpty
        else { return }
        let name = store.columns.name(of: title)
        let texts = row.columns.filter { $0.kind ?? .string == .string && store.columns.isCustom($0.field) }
        let likely = texts.filter { ColumnNames.areTitles($0.name) }
        let fields = texts.isEmpty ? row.columns.filter { store.columns.isCustom($0.field) } : texts
        let columns = (likely.isEmpty ? fields : likely).map(\.name)
        guard let first = columns.first else { return }
        let further = columns.count > 1 ? " (or \(columns.dropFirst().prefix(5).joined(separator: ", ")))" : ""
        let advice = OptionWords.map(first, to: name)
        merger.remark(.noName, 1, "no column is the \(name) of the items: give \(advice)\(further)")
    }
}

/// Names of columns as people have them.
package enum ColumnNames {
    private static let titles: Set<String> = [
        "name", "title", "item", "item name", "product", "product name", "article", "object", "label", "description",
        "bezeichnung", "artikel", "titel", "gegenstand", "produkt", "nom", "titre", "objet", "nombre", "título",
        "titolo", "nome", "naam", "namn", "navn", "nazwa", "název",
    ]

    /// Whether a column is usually the name of what its row is about.
    package static func areTitles(_ name: String) -> Bool {
        name.utf8.count < 40 && titles.contains(name.lowercased().replacing("_", with: " ").replacing("-", with: " "))
    }
}

extension ItemStore {
    /// Runs an import as a transaction of its own, again if other hosts' commits require it; a dry run's changes are rolled
    /// back.
    func importing<Result>(
        isDryRun: Bool, _ isolation: Isolation = .serializable, _ body: () throws -> Result
    ) throws -> Result {
        guard isDryRun else { return try transaction(.import, isolation: isolation, body) }
        beginTransaction()
        defer { rollBackSavepoint() }
        return try body()
    }

    /// Imports items from a file's bytes in one transaction, all or none. Observers are notified once.
    ///
    /// - Parameters:
    ///   - bytes: the file's content.
    ///   - path: the file's name in errors.
    ///   - options: its format and column names.
    /// - Returns: the number of new or changed items.
    /// - Throws: `StoreError`: `unreadableFile` if the bytes do not match the options, `invalidRow` for an invalid row,
    ///   with its number counted from 1 and including the header; errors of the options' functions.
    @discardableResult
    package func importItems(_ bytes: [UInt8], path: String, _ options: ItemFileOptions) throws -> Int {
        let report = try importItems(ImportFile(bytes), path: path, options)
        return report.created + report.updated
    }

    /// As ``importItems(_:path:_:)``, with a report on the rows.
    package func importReport(_ bytes: [UInt8], path: String, _ options: ItemFileOptions) throws -> ItemImportReport {
        try importItems(ImportFile(bytes), path: path, options)
    }

    /// The same from a file, read as a stream if the format allows it.
    package func importItems(_ file: ImportFile, path: String, _ options: ItemFileOptions) throws -> ItemImportReport {
        if isReadOnly { throw readOnlyError }
        return try ItemImporter(store: self, options: options, path: path).run(file)
    }
}

/// What an import carried differently from the file, or left out: counted, and said.
package struct ItemImportRemark: Sendable, Hashable, CustomStringConvertible {
    /// What a remark is about.
    package enum Kind: String, Sendable, CaseIterable {
        /// Columns without a name that have cells: imported as `column` and their position.
        case unnamed
        /// Columns with the name of an earlier one: imported as `Notes_2`.
        case renamed
        /// Columns without a name and without any cell: left out.
        case leftOut
        /// A header whose names look like values: the file may have none.
        case oddHeader
        /// Nulls of JSON records and of dictionaries within them: left out. Those in arrays are values.
        case nulls
        /// Keys that one object has more than once: the last counts.
        case duplicateKeys
        /// What a property list has otherwise than it is read: equal keys, dates that no calendar has.
        case damage
        /// Values that are not of the kind that their column is declared as: carried as they are.
        case otherKinds
        /// Fields of every item that items of an archive lack: they get a new item's value.
        case missing
        /// Contents of an archive, of a spreadsheet, or of a cell, that items do not hold, such as the sign of a currency and
        /// the time of a day: left out.
        case objects
        /// Items without a picture in a folder of pictures.
        case withoutPicture
        /// Items that had pictures before, and keep them.
        case presentPictures
        /// Files of a folder of pictures that no item got.
        case leftPictures
        /// Files of a folder of pictures whose names are an item's text in another Unicode form.
        case otherForms
        /// Columns that stay text though they look like values, with what would make them values.
        case doubts
        /// Fields that have got values of another kind than they had.
        case formerKinds
        /// New fields that have got values of several kinds.
        case mixedKinds
        /// New items that are equal to ones that were there, in an import without a key.
        case repeated
        /// Rows without a key in an import by key: new items.
        case withoutKey
        /// 1 if new items have no name.
        case noName
    }

    /// What the remark is about.
    package let kind: Kind
    /// The number of columns, keys or values.
    package let count: Int
    /// The remark as a sentence.
    package let description: String
}

/// The results of an import, or of a dry run.
package struct ItemImportReport: Sendable, Hashable, CustomStringConvertible {
    /// New items.
    package internal(set) var created = 0
    /// Items with changed values.
    package internal(set) var updated = 0
    /// Items that a row matched and that did not change.
    package internal(set) var unchanged = 0
    /// Invalid rows that were left out.
    package internal(set) var rejected = 0
    /// All rows of the file.
    package internal(set) var total = 0
    /// Pictures imported with the items.
    package internal(set) var pictures = 0
    /// The rejected rows as comma-separated values, with the problem in the last column; empty if there are none.
    package internal(set) var rejects: [UInt8] = []
    /// What was carried differently, or left out.
    package internal(set) var remarks: [ItemImportRemark] = []

    /// Creates an empty report.
    package init() {}

    /// The total of the remarks of a kind.
    package func count(_ kind: ItemImportRemark.Kind) -> Int {
        remarks.reduce(0) { $0 + ($1.kind == kind ? $1.count : 0) }
    }

    /// The counts in a line, and each remark in a line.
    package var description: String {
        var parts = [
            "\(created.grouped) created", "\(updated.grouped) updated", "\(unchanged.grouped) unchanged",
            "\(rejected.grouped) rejected",
        ]
        if pictures > 0 { parts.append(pictures.counted("picture")) }
        return ([parts.joined(separator: ", ")] + remarks.map(\.description)).joined(separator: "\n")
    }
}
