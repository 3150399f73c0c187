import CSV
import ColumnEngine
import Files
import ItemArchive
import PropertyList
import SQLite

/// Imports items from a file into a store, all or none.
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
    public func importItems(_ bytes: [UInt8], path: String, _ options: ItemFileOptions) throws -> Int {
        let report = try importItems(ImportFile(bytes), path: path, options)
        return report.created + report.updated
    }

    /// As ``importItems(_:path:_:)``, with a report on the rows.
    public func importReport(_ bytes: [UInt8], path: String, _ options: ItemFileOptions) throws -> ItemImportReport {
        try importItems(ImportFile(bytes), path: path, options)
    }

    /// The same from a file, read as a stream if the format allows it.
    package func importItems(_ file: ImportFile, path: String, _ options: ItemFileOptions) throws -> ItemImportReport {
        if isReadOnly { throw readOnlyError }
        return try ItemImporter(store: self, options: options, path: path).run(file)
    }
}
