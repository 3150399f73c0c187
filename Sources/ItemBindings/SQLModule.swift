import Application
import Items
import Logging
import Lua
import PropertyList
package import Scripting
import Wording

/// `sql`: SQL over the items, and over files.
package enum SQLModule: ScriptModule {
    package static let name = "sql"
    package static let needs = ["items"]

    private static let statement = [
        LuaParameter("text", .text, "one statement"),
        LuaParameter(
            "parameters", .variadic(.any),
            "values for ? in order, or a table with those of $name, :name and @name; nil and null are NULL"),
    ]

    package static func declare(in host: ScriptHost) -> [Global] {
        let rows = RowsBinding.makeClass(in: host)
        let readers = LuaClass<RowReader>(hidden: "rows of a statement", in: host.state)
        readers.metamethod("__close") { reader, call in
            reader.close()
            return call.returnsNothing()
        }
        let module = LuaModule(
            "sql", doc: "SQL over the items and over files, by SQLite. Every failure raises.", in: host.state)
        module.callable(
            statement, returns: [.union([.object("Rows"), .integer])],
            doc:
                "Runs a statement: its rows, or the number of items that it inserted, changed or deleted, in one transaction.",
            example:
                "items:createItem{ name = \"Lamp\", room = \"Attic\" } for _, row in ipairs(sql(\"select name, room from items where room = $room\", { room = \"Attic\" })) do print(row.name) end return sql(\"update items set room = ? where name = ?\", \"Study\", \"Lamp\")"
        ) { [unowned host] call in
            let text = try call.text(0)
            return try host.explaining(text) {
                let statement = try prepare(text, call, host)
                defer { statement.close() }
                switch try host.run(statement) {
                case .rows(let result): return call.returns(result, rows)
                case .changes(let count): return call.returns(count)
                }
            }
        }
        module.function(
            "each", statement, returns: [.callback("() → table")],
            doc:
                "An iterator over the rows of a statement as they are found: tables by column name; NULL is nil. Leaving the loop ends the statement.",
            example:
                "items:createItem{ name = \"Lamp\" } for row in sql.each(\"select name, valueInDollars from items order by name\") do print(row.name, row.valueInDollars) end"
        ) { [unowned host] call in
            let text = try call.text(0)
            let statement = try host.explaining(text) { try prepare(text, call, host) }
            guard !statement.columns.isEmpty else {
                statement.close()
                throw call.refuse(0, "a statement with rows expected: sql(…) runs one that changes")
            }
            let reader = RowReader(statement, text, host)
            let next = call.returns(ownedFunction: { call in call.returns(try reader.next()) })
            // The fourth value of a loop is closed when the loop is left.
            return next + call.returns(LuaValue.nil) + call.returns(LuaValue.nil) + call.returns(reader, readers)
        }
        declareNames(in: module, host)
        return [module.global]
    }

    private static func declareNames(in module: LuaModule, _ host: ScriptHost) {
        module.function(
            "attach",
            [
                LuaParameter("name", .text, "the name before its tables: name.table"),
                LuaParameter("path", .text, "the path of a SQLite database"),
            ],
            doc:
                "Attaches a database, whose tables further statements join with the items. It is read-only unless writing it is granted.",
            example:
                "local path = app.container.tmp .. \"/a.sqlite\" local db = assert(sqlite.open(path)) db:execute(\"create table if not exists t(x)\") db:close() sql.attach(\"other\", path) return #sql(\"select * from other.t\")"
        ) { [unowned host] call in
            let (name, path) = (try call.text(0), try call.text(1))
            let isWritable = ["", "-journal", "-wal", "-shm"].allSatisfy {
                host.fence.verdict(path + $0, .readWrite) == .granted
            }
            try host.explaining("") {
                try host.sql.attach(name, path, isWritable: isWritable && !host.options.isReadOnly)
            }
            return call.returnsNothing()
        }
        module.function(
            "detach", [LuaParameter("name", .text, "the name of an attached database")],
            doc: "Closes an attached database.",
            example:
                "local path = app.container.tmp .. \"/a.sqlite\" assert(sqlite.open(path)):close() sql.attach(\"other\", path) sql.detach(\"other\")"
        ) { [unowned host] call in
            try host.explaining("") { try host.sql.detach(try call.text(0)) }
            return call.returnsNothing()
        }
        module.function(
            "define",
            [
                LuaParameter("name", .text, "the function's name in statements, in any case"),
                LuaParameter(
                    "fn", .optional(.callback("(…) → any")),
                    "called with the values of each row, and returns one; it may call sql, but not wait. Nil removes it"
                ),
            ],
            doc:
                "Defines a function that statements call. An error in it is the statement's; NULL is nil in both directions.",
            example:
                "sql.define(\"discount\", function(price, percent) return price * (100 - percent) // 100 end) return sql(\"select discount(200, 10) as price\")[1].price"
        ) { [unowned host] call in
            let name = try call.text(0)
            let function = try call.optional(1, call.function)
            try host.explaining("") {
                try host.sql.define(
                    name, function.map { ScriptFunction(function: $0, name: name, values: host.values).call })
            }
            return call.returnsNothing()
        }
        module.function(
            "explain", [LuaParameter("text", .text, "one statement")], returns: [.text],
            doc:
                "How a statement would run, without running it: SQLite's plan as a tree, then what the items answer by themselves.",
            example: "print(sql.explain(\"select name from items where valueInDollars > 100 order by name\"))"
        ) { [unowned host] call in
            let text = try call.text(0)
            return call.returns(try host.explaining(text) { try host.sql.explain(text).description })
        }
    }

    // MARK: Running

    /// Prepares the statement of a call, and binds its parameters.
    private static func prepare(_ text: String, _ call: LuaCall, _ host: ScriptHost) throws -> SQLStatement {
        let statement = try host.prepare(text)
        do {
            host.report(statement.remarks)
            try SQLParameters(statement: statement, call: call, host: host).bind()
            return statement
        } catch {
            statement.close()
            throw error
        }
    }
}

/// The parameters of a statement, from a call's arguments.
private struct SQLParameters {
    let statement: SQLStatement
    let call: LuaCall
    let host: ScriptHost

    func bind() throws {
        let names = statement.parameters
        let hasNames = names.contains { $0.map { !$0.hasPrefix("?") } ?? false }
        if hasNames, call.count == 2, case .table(let table) = call.value(1), isPlain(table) {
            return try bind(table, names)
        }
        let given = call.count - 1
        guard given == names.count else {
            let missing = names.dropFirst(given).compactMap { $0 }.first
            let named = missing.map { "; \($0) has none" } ?? ""
            throw SQLError(
                .parameter,
                "the statement has \(names.count.counted("parameter")), and \(given.counted("value")) \(given == 1 ? "is" : "are") given\(named)"
            )
        }
        for place in names.indices {
            try bind(call.value(place + 1), at: place, names[place] ?? "\(place + 1)")
        }
    }

    /// Binds the values of a table by the parameters' names, which it has without their prefixes.
    private func bind(_ table: LuaTable, _ names: [String?]) throws {
        let known = names.map { $0.map { String($0.dropFirst()) } }
        try table.forEach { key, _ in
            guard let name = key.textValue, known.contains(where: { $0 == name }) else {
                let hint = key.textValue.map { NearestNames.hint(for: $0, among: known.compactMap { $0 }) } ?? ""
                throw SQLError(.parameter, "the statement has no parameter '\(host.state.describe(key))'\(hint)")
            }
            return true
        }
        for (place, name) in known.enumerated() {
            guard let name, case let value = table[name], !value.isNil else {
                throw SQLError(.parameter, "parameter \(names[place] ?? "\(place + 1)") has no value (null is NULL)")
            }
            try bind(value, at: place, name)
        }
    }

    private func bind(_ value: LuaValue, at place: Int, _ name: String) throws {
        if value.isNil { return try statement.bind(nil, at: place) }
        let converted: PropertyListValue
        do throws(ValueBridge.BridgeError) {
            converted = try host.values.propertyList(value, writesDays: true)
        } catch { throw SQLError(.parameter, "parameter \(name): \(error.message)") }
        try statement.bind(converted, at: place)
    }

    /// Whether a table is neither an array nor an object: the parameters by name.
    private func isPlain(_ table: LuaTable) -> Bool { table.count == 0 && table.metatable == nil }
}

/// The rows of `sql.each`, read one by one.
final class RowReader {
    private unowned let host: ScriptHost
    private let text: String
    private let names: [LuaValue]
    private var statement: SQLStatement?

    init(_ statement: SQLStatement, _ text: String, _ host: ScriptHost) {
        (self.statement, self.text, self.host) = (statement, text, host)
        names = SQLRows(columns: statement.columns.map(\.name)).columns.map(LuaValue.text)
    }

    /// The next row; nil after the last one.
    func next() throws -> LuaValue {
        guard let statement else { return .nil }
        do {
            guard try host.explaining(text, statement.step) else {
                close()
                return .nil
            }
        } catch {
            close()
            throw error
        }
        let row = host.state.makeTable(fields: names.count)
        for (column, name) in names.enumerated() {
            let value = host.luaValue(of: statement.cell(column))
            if !value.isNil { row[name] = value }
        }
        return .table(row)
    }

    func close() {
        statement?.close()
        statement = nil
    }

    deinit { close() }
}

/// A function of a script that statements call.
private struct ScriptFunction {
    let function: LuaFunction
    let name: String
    let values: ValueBridge

    func call(_ arguments: [PropertyListValue]) throws -> PropertyListValue {
        let given = try arguments.map { $0 == .null ? LuaValue.nil : try values.lua($0) }
        let result: LuaValue
        do throws(LuaError) {
            result = try function.call(arguments: given).first ?? .nil
        } catch {
            guard error.message.contains("attempt to yield") else { throw error }
            throw LuaError(
                .runtime, "the function \(name) of sql.define cannot yield: the statement waits for its result")
        }
        if result.isNil { return .null }
        do throws(ValueBridge.BridgeError) {
            return try values.propertyList(result, writesDays: true)
        } catch {
            throw LuaError(.runtime, "the result of the function \(name) of sql.define: \(error.message)")
        }
    }
}

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
