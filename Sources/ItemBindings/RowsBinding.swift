import Application
import Items
import Logging
import Lua
import Scripting
import Wording

extension SQLRowFormat: LuaRepresentable {}

/// The result of `sql`: an array of rows, whose tables are made when they are read.
enum RowsBinding {
    /// The number of rows of `tostring`.
    private static let textLimit = 1000

    private struct Options: LuaOptions {
        enum Numbers: String, CaseIterable, LuaRepresentable { case null }

        var format: SQLRowFormat?
        var nan: Numbers?

        static var luaOptions: [LuaOption<Options>] {
            LuaOption("format", \.format, doc: "the file's format (default: from its extension)")
            LuaOption(
                "nan", \.nan, doc: "how to write infinities, which no format has: \"null\" (default: an error)")
        }
    }

    static func makeClass(in host: ScriptHost) -> LuaClass<SQLRows> {
        let cls = LuaClass<SQLRows>(
            SQLRows.luaName,
            doc:
                "The rows of a statement: an array, each row a table by column name, in which NULL is nil. Reading a row makes its table.",
            in: host.state,
            unknownKey: { [unowned host] rows, call in
                guard let place = call.value(0).integerValue, place > 0, place <= Int64(rows.count) else {
                    return call.returns(LuaValue.nil)
                }
                return call.returns(.table(row(Int(place) - 1, of: rows, host)))
            })
        cls.declareOperator("index", .integer, returns: .optional(.table), doc: "A row by its place, from 1.")
        cls.declareOperator("len", returns: .integer, doc: "The number of rows.")
        cls.metamethod("__len") { rows, call in call.returns(rows.count) }
        cls.metamethod("__pairs") { [unowned host] rows, call in
            var place = 0
            return call.returns(ownedFunction: { call in
                guard place < rows.count else { return call.returns(LuaValue.nil) }
                place += 1
                return call.returns(place) + call.returns(.table(row(place - 1, of: rows, host)))
            })
        }
        cls.metamethod("__tostring") { [unowned host] rows, call in
            call.returns(text(of: rows, host.activePrompt?.screenColumns))
        }
        cls.property(
            "columns", doc: "The names of the columns in the statement's order, as a new array.",
            get: { $0.columns })
        cls.method(
            "export", ["path": ItemFiles.path, "options": "how to write the file"],
            doc:
                "Writes all rows to a CSV, TSV, JSON, JSON Lines or Markdown file, atomically: every column in the statement's order, NULL as null. Returns their number; every failure raises.",
            example:
                "items:createItem{ name = \"Lamp\", valueInDollars = 9 } return sql(\"select name, valueInDollars from items\"):export(app.container.tmp .. \"/rows.csv\")"
        ) { [unowned host] (rows: SQLRows, path: String, options: Options) in
            try export(rows, path, options, host)
        }
        PlotBinding.declare(on: cls, in: host)
        return cls
    }

    private static func row(_ place: Int, of rows: SQLRows, _ host: ScriptHost) -> LuaTable {
        let table = host.state.makeTable(fields: rows.columns.count)
        for (column, name) in rows.columns.enumerated() {
            let value = rows.withCell(place, column) { host.luaValue(of: $0) }
            if !value.isNil { table[name] = value }
        }
        return table
    }

    private static func export(
        _ rows: SQLRows, _ path: String, _ options: Options, _ host: ScriptHost
    ) throws -> Int {
        guard let format = options.format ?? SQLRowFormat(path: path) else {
            let formats = SQLRowFormat.allCases.map(\.rawValue)
            throw LuaMismatch(
                "the extension of '\(path.shortened(to: 4096))' names no format of rows: give options.format, \(formats.dropLast().joined(separator: ", ")) or \(formats.last ?? "")",
                argument: "path")
        }
        let nullCount = try FileOutput.write(host, path) { append in
            var writer = SQLRowWriter(
                rows, as: format, writesNull: options.nan == .null,
                advice: ": nan = \"null\" writes null (on the command line --nan null)", write: append)
            try writer.run()
            return writer.nullCount
        }.get()
        if nullCount > 0 {
            host.logger.warning("\(path): \(nullCount.counted("number")) infinite: written as null")
        }
        return rows.count
    }

    /// The rows as a table, for `print`; of many the first ones.
    ///
    /// - Parameters:
    ///   - rows: the rows.
    ///   - columns: the width of the screen; nil for none.
    /// - Returns: the lines, the last one with the number of rows.
    private static func text(of rows: SQLRows, _ columns: Int?) -> String {
        let shown = 0..<min(rows.count, textLimit)
        var table = TextTable(columns: columns ?? .max)
        table.add(TextTable.Column(title: "#", cells: shown.map { String($0 + 1) }, isNumber: true))
        var hiddenCount = 0
        for (column, name) in rows.columns.enumerated() {
            let cells = shown.map { row in
                let text = rows.shownText(row, column)
                return columns == nil ? text : TextTable.cut(text, to: 48)
            }
            let isNumber =
                shown.contains { rows.isNumber($0, column) }
                && shown.allSatisfy {
                    rows.isNumber($0, column) || rows.isNull($0, column)
                }
            if hiddenCount > 0 || !table.add(TextTable.Column(title: name, cells: cells, isNumber: isNumber)) {
                hiddenCount += 1
            }
        }
        var lines = table.lines
        if shown.count < rows.count || hiddenCount > 0 {
            let more = hiddenCount > 0 ? " and \(hiddenCount.grouped) more \(hiddenCount.word("column"))" : ""
            lines.append(" …" + more)
        }
        return (lines + [rows.count.counted("row")]).joined(separator: "\n")
    }
}
