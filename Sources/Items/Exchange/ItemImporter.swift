import CSV
import ColumnEngine
import Files
import ItemArchive
import PropertyList
import SQLite

/// Brings items from a file into a store: all of them or, when one can't be, none.
struct ItemImporter {
    let store: ItemStore
    let options: ItemFileOptions
    let path: String

    func run(_ file: ImportFile) throws -> ItemImportReport {
        guard options.isDryRun else { return try store.transaction(.import) { try rows(of: file) } }
        store.beginTransaction()
        defer { store.rollBackSavepoint() }
        return try rows(of: file)
    }

    private func rows(of file: ImportFile) throws -> ItemImportReport {
        try store.performBulkChange {
            let merger = try ItemMerger(store, options, path)
            let row = ImportedRow(store, options)
            do {
                switch options.format {
                case .csv, .tsv: try CSVItemReader(store, options, path, file).read(row, merger)
                case .jsonLines: try JSONLineReader(options, path, file).read(row, merger)
                case .json: try RecordReader(options, path).readJSON(file, row, merger)
                case .propertyList: try RecordReader(options, path).readPropertyList(file, row, merger)
                case .keyedArchive: try RecordReader(options, path).readArchive(file, row, merger)
                case .sqlite: try SQLiteItemReader(options, path).read(row, merger)
                }
            } catch let error as SQLiteError {
                if error.code == .interrupted { throw WorkStopped() }
                let place = merger.report.total > 0 ? ", after row \(merger.report.total)" : ""
                throw StoreError(.unreadableFile, "\(path)\(place): \(error.message)", path: path, cause: error)
            } catch let error as TextDecoding.Failure {
                throw StoreError(.unreadableFile, "\(path): \(error.message)", path: path)
            } catch let error as CSVError {
                throw StoreError(.unreadableFile, "\(path): \(error)", path: path, cause: error)
            } catch let error as StoreError where error.code == .unreadableFile && error.path == nil {
                throw StoreError(.unreadableFile, "\(path): \(error.message)", path: path)
            }
            if merger.report.total > 0 { try ImportedNames(options, row.names, path).check() }
            return try merger.finish()
        }
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
    /// - Returns: the number of items that are new or changed.
    /// - Throws: `StoreError`: `unreadableFile` when the bytes are not what the options say, `invalidRow` that names
    ///   the row, from 1, with the header counted, for one that is no item; what the options' functions throw.
    @discardableResult
    public func importItems(_ bytes: [UInt8], path: String, _ options: ItemFileOptions) throws -> Int {
        let report = try importItems(ImportFile(bytes), path: path, options)
        return report.created + report.updated
    }

    /// As ``importItems(_:path:_:)``, and what was done with the rows.
    public func importReport(_ bytes: [UInt8], path: String, _ options: ItemFileOptions) throws -> ItemImportReport {
        try importItems(ImportFile(bytes), path: path, options)
    }

    /// The same from a file, which is read as a stream where its format is one.
    package func importItems(_ file: ImportFile, path: String, _ options: ItemFileOptions) throws -> ItemImportReport {
        if isReadOnly { throw readOnlyError }
        return try ItemImporter(store: self, options: options, path: path).run(file)
    }
}
