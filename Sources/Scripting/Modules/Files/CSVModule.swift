import Application
import CSV
import Files
import Items
import Lua
import PropertyList

/// `csv`: comma-separated values, read as a stream and written at once.
enum CSVModule {
    static func install(_ classes: ItemClasses) -> LuaModule {
        let host = classes.host
        let module = LuaModule("csv", "Comma-separated values (RFC 4180), byte for byte.", in: host.state)
        module.function(
            "rows",
            [
                LuaParameter("path", .text, "the file's"),
                LuaParameter(
                    "options",
                    .optional(
                        .options([
                            LuaParameter(
                                "header", .boolean, "whether the first row names the columns; true if not given"),
                            LuaParameter("delimiter", .text, "one character; a comma if not given"),
                        ])), "how the file is read"),
            ], returns: [.callback("() → table")],
            "An iterator over a file's rows: tables by the header's names, or arrays without a header; cells are strings.",
            example:
                "fs.write(app.container.tmp .. \"/a.csv\", \"name,room\\nLamp,Study\\n\") for row in csv.rows(app.container.tmp .. \"/a.csv\") do print(row.name, row.room) end"
        ) { [unowned host] call in try rows(call, host) }
        module.function(
            "write",
            [
                ItemFilesBinding.path,
                LuaParameter(
                    "rows", .union([.table, .object("Query")]), "an array of tables, or the items of a query"),
                LuaParameter(
                    "options",
                    .optional(
                        .options([
                            LuaParameter(
                                "columns", .array(.text),
                                "which columns, in this order; if not given all names, sorted, or an item's own and then the others"
                            ),
                            LuaParameter("delimiter", .text, "one character; a comma if not given"),
                        ])), "how the file is written"),
            ], returns: LuaType.orError(.boolean),
            "Writes rows with a header; nil and an error when the file can't be written.",
            example:
                "return csv.write(app.container.tmp .. \"/a.csv\", { { name = \"Lamp\", value = 9 } }, { columns = { \"name\", \"value\" } })"
        ) { [unowned classes] call in
            guard let query = call.optionalObject(1, classes.query)?.query else { return try write(call, classes.host) }
            var options = ItemFileOptions(format: .csv)
            options.delimiter = try delimiter(call, of: 2)
            options.columns = try ItemFilesBinding.texts(call, "columns", at: 2)
            return try ItemFilesBinding.finish(call) {
                try FileOutput.write(call, classes.host, try call.text(0)) { append in
                    try ItemFilesBinding.work(&options, "Writing", on: classes.host) {
                        _ = try query.store.exportItems(query, $0, write: append)
                        return call.returns(true)
                    }
                }
            }
        }
        return module
    }

    private static func delimiter(_ call: LuaCall, of position: Int) throws -> UInt8 {
        guard let text = try call.option("delimiter", of: position).textValue else { return UInt8(ascii: ",") }
        guard text.utf8.count == 1, let byte = text.utf8.first else {
            throw call.refuse(position, "option 'delimiter': one ASCII character expected, got '\(text)'")
        }
        return byte
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

    private static func rows(_ call: LuaCall, _ host: ScriptHost) throws -> LuaResults {
        let path = try call.text(0)
        let hasHeader = try call.option("header", of: 1).isNil || call.option("header", of: 1).isTruthy
        let options = CSVOptions(delimiter: try delimiter(call, of: 1), hasHeader: hasHeader)
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
        return call.returns(ownedFunction: { call in
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
        })
    }

    private static func write(_ call: LuaCall, _ host: ScriptHost) throws -> LuaResults {
        let path = try call.text(0)
        let table = try call.table(1)
        var columns: [LuaString] = []
        if case .table(let given) = try call.option("columns", of: 2) {
            for index in 1..<(given.count + 1) {
                guard case .string(let name) = given[index] else {
                    throw call.refuse(2, "option 'columns': an array of strings expected")
                }
                columns.append(name)
            }
        }
        var rows: [LuaTable] = []
        for index in 1..<(table.count + 1) {
            guard case .table(let row) = table[index] else {
                throw call.refuse(1, "row \(index) is no table")
            }
            rows.append(row)
        }
        if columns.isEmpty {
            var names: Set<LuaString> = []
            for row in rows {
                try row.forEach { key, _ in
                    names.insert(LuaString(call.state.describe(key).bytes))
                    return true
                }
            }
            columns = names.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        }
        var writer = try CSVWriter(delimiter: delimiter(call, of: 2))
        for name in columns { writer.append(name.bytes) }
        writer.endRow()
        var pace = InterruptionPace()
        for row in rows {
            if pace.isDue() { throw WorkStopped() }
            for (position, name) in columns.enumerated() {
                var value = row[.string(name)]
                if value.isNil, row.count == columns.count { value = row[position + 1] }
                writer.append(value.isNil ? [] : try BaseModule.text(of: value, in: call.state))
            }
            writer.endRow()
        }
        let bytes = writer.take()
        return try FileOutput.write(call, host, path) { append in
            try bytes.withUnsafeBytes(append)
            return call.returns(true)
        }
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
