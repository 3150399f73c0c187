import ColumnEngine
import PropertyList
import SQLite
import Wording

/// A file's rows as a table: read by the import's readers into columns of their own, like those of the items.
///
/// Columns, and not rows of SQLite: they take a third of the memory, a scan reads no more than the columns that a
/// statement uses, and a join looks up rows as it does in the items.
struct SQLFileTable {
    let table: SQLRowTable
    /// What was left out or carried differently.
    let remarks: [String]

    /// Reads a file.
    ///
    /// - Throws: `SQLError` for options; errors of the host, and of the import.
    init(_ call: SQLFileCalls.Call, _ files: any SQLFiles, _ plans: SQLPlans) throws {
        var options = try ItemFileOptions(call.format, json: call.options, of: call.format.rawValue)
        let store = ItemStore(schema: ItemSchema())
        store.history.commits = 1
        store.history.bytes = 0
        var remarks: [String] = []
        var kinds: String?
        options.onKinds = { kinds = $0 }
        options.progress = { [columns = store.columns] _, _ in
            // A word for each value at least, and the texts; a file that is being looked through has no rows yet.
            let values = columns.rowCount * (columns.fieldNames.count + 4)
            do throws(SQLiteError) { try SQLiteMemory.check(values * 8 + columns.textBytes) } catch {
                throw SQLError(.limit, "\(call.path): its rows are larger than the memory that the script may use")
            }
        }
        try files.withFile(call.path) { file in
            let words = OptionWords.FileTable(call.format.rawValue, path: call.path, functions: SQLFileCalls.names)
            let report = try OptionWords.$table.withValue(words) {
                try store.importItems(file, path: call.path, options)
            }
            // A null is NULL.
            remarks = report.remarks.filter { ![.noName, .nulls].contains($0.kind) }.map {
                "\(call.path): \($0.description)"
            }
        }
        if let kinds { remarks.insert(kinds, at: 0) }
        self.remarks = remarks
        let columns = store.columns
        var fields: [ItemField] = []
        for name in columns.visibleFieldNames {
            guard let field = columns.existingField(named: name), field != columns.keyField else { continue }
            fields.append(field)
        }
        columns.prepareColumns(fields)
        let days = Set(fields.filter { columns.haveNoTimes($0) })
        var names: [ItemField: String] = [:]
        if let key = options.keyField, let field = columns.existingField(named: key) { names[field] = "itemKey" }
        let shape = SQLColumns(columns, fields, hasPosition: false, days: days, names: names)
        table = SQLRowTable(call.text, id: call.table, columns, shape, plans)
    }
}
