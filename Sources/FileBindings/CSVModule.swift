import Application
import CSV
import Files
import Items
import Logging
import Lua
import PropertyList
package import Scripting

/// `csv`: comma-separated values, read as a stream and written at once.
package enum CSVModule: ScriptModule {
    package static let name = "csv"

    package static func declare(in host: ScriptHost) -> [Global] {
        let module = LuaModule("csv", doc: "Comma-separated values (RFC 4180), byte for byte.", in: host.state)
        module.function(
            "rows", ["path": "the file's path", "options": "options for reading"], returns: [.callback("() → table")],
            doc:
                "An iterator over a file's rows: tables by column name, or arrays without a header; cells are strings.",
            example:
                "fs.write(app.container.tmp .. \"/a.csv\", \"name,room\\nLamp,Study\\n\") for row in csv.rows(app.container.tmp .. \"/a.csv\") do print(row.name, row.room) end"
        ) { [unowned host] (path: String, options: Reading) in try rows(path, options, host) }
        module.function(
            "write",
            [
                "path": ItemFiles.path, "rows": "an array of tables, or the items of a query",
                "options": "options for writing",
            ],
            doc: "Writes rows with a header, dates in ISO 8601; nil and an error if the file can't be written.",
            example:
                "return csv.write(app.container.tmp .. \"/a.csv\", { { name = \"Lamp\", value = 9 } }, { columns = { \"name\", \"value\" } })"
        ) {
            [unowned host] (path: String, rows: LuaEither<ItemQuery, LuaTable>, options: Writing) throws -> OrError<
                Bool
            > in
            switch rows {
            case .first(let value): try write(value, to: path, options, host)
            case .second(let table): try write(table, to: path, options, host)
            }
        }
        return [module.global]
    }

    private struct Reading: LuaOptions {
        var header = true
        var delimiter: String?
        var encoding: ItemFileEncoding?
        var skip = 0
        var comment: String?
        var null: LuaEither<String, [String]>?

        static var luaOptions: [LuaOption<Reading>] {
            LuaOption("header", \.header, doc: "whether the first row names the columns (default: true)")
            LuaOption("delimiter", \.delimiter, doc: "one character (default: a comma)")
            LuaOption("encoding", \.encoding, doc: "the file's encoding, to read it as UTF-8 (default: its bytes)")
            LuaOption("skip", \.skip, doc: "the lines above the header to leave out (default: none)")
            LuaOption("comment", \.comment, doc: "what lines begin with that are comments (default: none)")
            LuaOption("null", \.null, doc: "the text or texts of cells that are left out")
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
        return try ItemFiles.delimiter(text)
    }

    private static func write(
        _ query: ItemQuery, to path: String, _ given: Writing, _ host: ScriptHost
    ) throws -> OrError<Bool> {
        var options = ItemFileOptions(format: .csv)
        options.delimiter = try delimiter(given.delimiter)
        options.columns = given.columns.map { $0.map(\.description) }
        return try ItemFiles.finish {
            try FileOutput.write(host, path) { append in
                try ItemFiles.work(&options, "Writing", showsBar: false, in: host.runtime) {
                    _ = try query.exportItems($0, write: append)
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

        init(_ layer: FencedFileLayer, _ file: OpenFile, _ options: CSVOptions, _ encoding: ItemFileEncoding?) throws {
            self.layer = layer
            self.file = file
            do {
                reader = try CSVReader(try ImportFile(file, layer), encoding ?? .utf8, options)
            } catch {
                layer.close(file)
                throw error
            }
        }

        func close() {
            guard isOpen else { return }
            isOpen = false
            layer.close(file)
        }

        deinit { close() }
    }

    private static func rows(_ path: String, _ given: Reading, _ host: ScriptHost) throws -> LuaIterator {
        var options = CSVOptions(delimiter: try delimiter(given.delimiter), hasHeader: given.header)
        guard given.skip >= 0, given.comment.map({ 1...64 ~= $0.utf8.count }) ?? true else {
            throw LuaMismatch(
                "option 'skip' is a number of lines, and option 'comment' a text such as \"#\"", argument: "options")
        }
        (options.skippedLines, options.comment) = (given.skip, Array((given.comment ?? "").utf8))
        let nulls: CellNulls
        switch given.null {
        case .first(let text)?: nulls = CellNulls([text])
        case .second(let texts)?: nulls = CellNulls(texts)
        case nil: nulls = CellNulls()
        }
        let rows: Rows
        do {
            try host.askConsent(path, .read)
            rows = try Rows(host.fence.layer, host.fence.layer.open(path, .read), options, given.encoding)
            if let first = try rows.reader.header() {
                let header = try CSVHeader(first, delimiter: options.delimiter)
                rows.names = header.names.map { .string(LuaString($0)) }
                if !header.unnamed.isEmpty {
                    host.logger.info("\(path): \(header.sentence(unnamed: header.unnamed))")
                }
                if !header.renamed.isEmpty {
                    host.logger.info("\(path): \(header.sentence(renamed: header.renamed))")
                }
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
            return call.returns(LuaValue.table(call.state.makeRow(rows.row, names: rows.names, nulls)))
        }
    }

    private static func write(
        _ table: LuaTable, to path: String, _ given: Writing, _ host: ScriptHost
    ) throws -> OrError<Bool> {
        if let key = try table.keyBesideArray() {
            throw LuaMismatch(
                "rows are numbered from 1 without a gap, and there is the key \(host.state.describe(key))",
                argument: "rows")
        }
        var rows: [LuaTable] = []
        for index in 1..<(table.count + 1) {
            guard case .table(let row) = table[index] else {
                throw LuaMismatch("row \(index) is not a table", argument: "rows")
            }
            rows.append(row)
        }
        let names = given.columns ?? []
        // A row may have any number of columns, so each cell is a step.
        var pace = InterruptionPace()
        let columns = names.isEmpty ? try columns(of: rows, host, &pace) : names.map { Column.name($0) }
        var writer = try CSVWriter(delimiter: delimiter(given.delimiter))
        for column in columns {
            if pace.isDue() { throw WorkStopped() }
            writer.append(column.text)
        }
        writer.endRow()
        var areEmpty = names.map { _ in true }
        for (index, row) in rows.enumerated() {
            if pace.isDue() { throw WorkStopped() }
            var values = try columns.map { column throws(WorkStopped) in
                if pace.isDue() { throw WorkStopped() }
                return row[column.key]
            }
            // Columns may be named for rows that are arrays.
            if !names.isEmpty, values.allSatisfy(\.isNil) {
                try row.forEach { key, _ in
                    guard case .integer(let position) = key, position < 1 || position > Int64(columns.count) else {
                        return true
                    }
                    throw LuaMismatch(
                        "row \(index + 1) has a value at \(position), and there are \(columns.count.counted("column"))",
                        argument: "rows")
                }
                values = columns.indices.map { row[$0 + 1] }
            }
            for index in areEmpty.indices where areEmpty[index] { areEmpty[index] = values[index].isNil }
            for (column, value) in zip(columns, values) {
                if pace.isDue() { throw WorkStopped() }
                writer.append(
                    try cell(of: value, host) {
                        "row \(index + 1), column \(VisibleText.line(String(decoding: column.text, as: UTF8.self)))"
                    })
            }
            writer.endRow()
        }
        if !rows.isEmpty, let empty = areEmpty.firstIndex(of: true) {
            let name = VisibleText.line(names[empty].description)
            try host.report(
                loss: "csv.write: the option columns names \(name), which no row has a value of: the column is empty")
        }
        let bytes = writer.take()
        return try FileOutput.write(host, path) { append in
            try bytes.withUnsafeBytes(append)
            return true
        }
    }

    /// A column of rows that are tables: the key of its values.
    private enum Column: Hashable {
        case position(Int64)
        case name(LuaString)

        var key: LuaValue {
            switch self {
            case .position(let position): .integer(position)
            case .name(let name): .string(name)
            }
        }

        var text: [UInt8] {
            switch self {
            case .position(let position): Array(String(position).utf8)
            case .name(let name): name.bytes
            }
        }

        /// Positions by number, then names by bytes.
        static func < (one: Column, other: Column) -> Bool {
            switch (one, other) {
            case (.position(let one), .position(let other)): one < other
            case (.name(let one), .name(let other)): one.bytes.lexicographicallyPrecedes(other.bytes)
            case (.position, .name): true
            case (.name, .position): false
            }
        }
    }

    /// All keys of the rows, in order.
    private static func columns(
        of rows: [LuaTable], _ host: ScriptHost, _ pace: inout InterruptionPace
    ) throws -> [Column] {
        var columns: Set<Column> = []
        for (index, row) in rows.enumerated() {
            try row.forEach { key, _ in
                if pace.isDue() { throw WorkStopped() }
                switch key {
                case .integer(let position): columns.insert(.position(position))
                case .string(let name): columns.insert(.name(name))
                default:
                    throw LuaMismatch(
                        "row \(index + 1): a column is a text or a position, got \(host.state.describe(key))",
                        argument: "rows")
                }
                return true
            }
        }
        let sorted = columns.sorted { !Interruption.isDueAtStep && $0 < $1 }
        if Interruption.isDue { throw WorkStopped() }
        return sorted
    }

    /// A value in the notation of all exports: dates in ISO 8601, days without a time, numbers with all digits, data in
    /// Base64, tables as JSON, nothing for nil and null.
    ///
    /// - Throws: `LuaMismatch` with the cell's place for a value that a file of cells does not have.
    private static func cell(of value: LuaValue, _ host: ScriptHost, at place: () -> String) throws -> [UInt8] {
        if value.isNil || host.values.nulls.object(of: value) != nil { return [] }
        if let date = host.values.dates.object(of: value) { return Array(date.exchangeText.utf8) }
        if case .number(let number) = value {
            guard number.isFinite else {
                let text = number.isNaN ? "nan" : "\(number)"
                throw LuaMismatch("\(place()): a cell has no \(text): it would be read as a text", argument: "rows")
            }
            return Array(LuaValueText.text(number).utf8)
        }
        var isJSON = host.values.datas.object(of: value) != nil
        if case .table(let table) = value, table.metatable?["__tostring"].isNil ?? true { isJSON = true }
        guard isJSON else {
            let text = try BaseModule.text(of: value, in: host.state)
            // A function, a file and their like have only an address.
            let kind = host.values.className(of: value)
            var hasText = !text.starts(with: "\(kind): 0x".utf8)
            if case .userdata(let object) = value, object.className == nil { hasText = false }
            guard hasText else {
                throw LuaMismatch("\(place()): a cell holds text, got \(kind.withArticle)", argument: "rows")
            }
            return text
        }
        do {
            let text = try host.values.propertyList(value).json()
            return text.first == UInt8(ascii: "\"") ? Array(text.dropFirst().dropLast()) : text
        } catch let error as ValueBridge.BridgeError {
            throw LuaMismatch("\(place()): \(error.message)", argument: "rows")
        } catch let error as JSONError {
            throw LuaMismatch("\(place()): \(error.message)", argument: "rows")
        }
    }
}

extension LuaState {
    /// A row as a table: by the header's names or, without, as an array. Cells beyond the header keep their position.
    fileprivate func makeRow(_ row: CSVRow, names: [LuaValue]?, _ nulls: CellNulls) -> LuaTable {
        let table = makeTable(array: names == nil ? row.count : 0, fields: names?.count ?? 0)
        for index in 0..<row.count {
            // A cell beyond the header has no name.
            let name = names.flatMap { $0.indices.contains(index) ? Optional($0[index]) : .none }
            let key = name ?? .integer(Int64(index + 1))
            if row[index].withUnsafeBufferPointer({ nulls.contains($0) }) { continue }
            table[key] = .string(LuaString(Array(row[index])))
        }
        return table
    }
}
