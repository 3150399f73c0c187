import Application
import CSV
import Files
import Items
import Lua
import PropertyList

/// `csv`: comma-separated values, read as a stream and written at once.
enum CSVModule {
    static func install(in host: ScriptHost) -> LuaModule {
        let module = LuaModule("csv", "Comma-separated values (RFC 4180), byte for byte.", in: host.state)
        module.function(
            "rows", ["path": "the file's path", "options": "options for reading"], returns: [.callback("() → table")],
            "An iterator over a file's rows: tables by column name, or arrays without a header; cells are strings.",
            example:
                "fs.write(app.container.tmp .. \"/a.csv\", \"name,room\\nLamp,Study\\n\") for row in csv.rows(app.container.tmp .. \"/a.csv\") do print(row.name, row.room) end"
        ) { [unowned host] (path: String, options: Reading) in try rows(path, options, host) }
        module.function(
            "write",
            [
                "path": ItemFilesBinding.path, "rows": "an array of tables, or the items of a query",
                "options": "options for writing",
            ],
            "Writes rows with a header, dates in ISO 8601; nil and an error if the file can't be written.",
            example:
                "return csv.write(app.container.tmp .. \"/a.csv\", { { name = \"Lamp\", value = 9 } }, { columns = { \"name\", \"value\" } })"
        ) { [unowned host] (path: String, rows: LuaEither<QueryValue, LuaTable>, options: Writing) in
            switch rows {
            case .first(let value): try write(value.query, to: path, options, host)
            case .second(let table): try write(table, to: path, options, host)
            }
        }
        return module
    }

    private struct Reading: LuaOptions {
        var header = true
        var delimiter: String?

        static var luaOptions: [LuaOption<Reading>] {
            LuaOption("header", \.header, doc: "whether the first row names the columns (default: true)")
            LuaOption("delimiter", \.delimiter, doc: "one character (default: a comma)")
        }
    }

    private struct Writing: LuaOptions {
        var columns: [LuaString]?
        var delimiter: String?

        static var luaOptions: [LuaOption<Writing>] {
            LuaOption(
                "columns", \.columns,
                doc:
                    "the columns in this order (default: all names, sorted; for items, the built-in fields first)"
            )
            LuaOption("delimiter", \.delimiter, doc: "one character (default: a comma)")
        }
    }

    private static func delimiter(_ text: String?) throws(LuaMismatch) -> UInt8 {
        guard let text else { return UInt8(ascii: ",") }
        return try ItemFilesBinding.delimiter(text)
    }

    private static func write(
        _ query: ItemQuery, to path: String, _ given: Writing, _ host: ScriptHost
    ) throws -> OrError<Bool> {
        var options = ItemFileOptions(format: .csv)
        options.delimiter = try delimiter(given.delimiter)
        options.columns = given.columns.map { $0.map(\.description) }
        return try ItemFilesBinding.finish {
            try FileOutput.write(host, path) { append in
                try ItemFilesBinding.work(&options, "Writing", showsBar: false, on: host) {
                    _ = try query.store.exportItems(query, $0, write: append)
                    return true
                }
            }
        }
    }

    /// Reads rows on demand; the file is closed at its end, or when the iterator is collected.
    private final class Rows {
        let layer: FencedFileLayer
        let file: OpenFile
        let reader: CSVReader
        var names: [LuaValue]?
        var row = CSVRow()
        var isOpen = true

        init(_ layer: FencedFileLayer, _ file: OpenFile, _ options: CSVOptions) throws(CSVError) {
            self.layer = layer
            self.file = file
            reader = try CSVReader(fileDescriptor: file.descriptor, options: options)
        }

        func close() {
            guard isOpen else { return }
            isOpen = false
            layer.close(file)
        }

        deinit { close() }
    }

    private static func rows(_ path: String, _ given: Reading, _ host: ScriptHost) throws -> LuaIterator {
        let options = CSVOptions(delimiter: try delimiter(given.delimiter), hasHeader: given.header)
        let rows: Rows
        do {
            try host.askConsent(path, .read)
            rows = try Rows(host.fence.layer, host.fence.layer.open(path, .read), options)
            if let header = try rows.reader.header() {
                rows.names = (0..<header.count).map { .string(LuaString(Array(header[$0]))) }
            }
        } catch let error as FileError {
            throw LuaError(.runtime, error.message)
        } catch let error as CSVError {
            throw LuaError(.runtime, "\(path): \(error)")
        }
        return LuaIterator { call in
            do {
                guard rows.isOpen, try rows.reader.next(into: &rows.row) else {
                    rows.close()
                    return call.returns(LuaValue.nil)
                }
            } catch let error as CSVError {
                rows.close()
                throw LuaError(.runtime, "\(path): \(error)")
            }
            return call.returns(LuaValue.table(call.state.makeRow(rows.row, names: rows.names)))
        }
    }

    private static func write(
        _ table: LuaTable, to path: String, _ given: Writing, _ host: ScriptHost
    ) throws -> OrError<Bool> {
        var columns = given.columns ?? []
        var rows: [LuaTable] = []
        for index in 1..<(table.count + 1) {
            guard case .table(let row) = table[index] else {
                throw LuaMismatch("row \(index) is no table", argument: "rows")
            }
            rows.append(row)
        }
        if columns.isEmpty {
            var names: Set<LuaString> = []
            for row in rows {
                try row.forEach { key, _ in
                    names.insert(LuaString(host.state.describe(key).bytes))
                    return true
                }
            }
            columns = names.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        }
        var writer = try CSVWriter(delimiter: delimiter(given.delimiter))
        for name in columns { writer.append(name.bytes) }
        writer.endRow()
        var pace = InterruptionPace()
        for row in rows {
            if pace.isDue() { throw WorkStopped() }
            for (position, name) in columns.enumerated() {
                var value = row[.string(name)]
                if value.isNil, row.count == columns.count { value = row[position + 1] }
                writer.append(try cell(of: value, host))
            }
            writer.endRow()
        }
        let bytes = writer.take()
        return try FileOutput.write(host, path) { append in
            try bytes.withUnsafeBytes(append)
            return true
        }
    }

    /// A value in the notation of all exports: a date in ISO 8601, nothing for nil.
    private static func cell(of value: LuaValue, _ host: ScriptHost) throws -> [UInt8] {
        if value.isNil { return [] }
        if let date = host.values.dates.object(of: value) { return Array(date.date.exchangeText.utf8) }
        return try BaseModule.text(of: value, in: host.state)
    }
}

extension LuaState {
    /// A row as a table: by the header's names or, without, as an array. Cells beyond the header keep their position.
    fileprivate func makeRow(_ row: CSVRow, names: [LuaValue]?) -> LuaTable {
        let table = makeTable(array: names == nil ? row.count : 0, fields: names?.count ?? 0)
        for index in 0..<row.count {
            // A cell beyond the header has no name.
            let name = names.flatMap { $0.indices.contains(index) ? Optional($0[index]) : .none }
            let key = name ?? .integer(Int64(index + 1))
            table[key] = .string(LuaString(Array(row[index])))
        }
        return table
    }
}
