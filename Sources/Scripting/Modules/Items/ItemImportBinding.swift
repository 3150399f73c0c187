import Application
import Files
import Items
import Logging
import Lua
import PropertyList
import Wording

/// `items:import`.
final class ItemImportBinding {
    private unowned let host: ScriptHost
    private unowned let classes: ItemClasses

    private init(_ classes: ItemClasses) { (self.classes, host) = (classes, classes.host) }

    private static let kinds = ItemFileKind.allCases.map(\.rawValue)

    private static let options = LuaParameter(
        "options",
        .optional(
            .options([
                ItemFilesBinding.format("what the file is; else its extension says"),
                LuaParameter("map", .table, "new names of columns by their names; false leaves a column out"),
                LuaParameter(
                    "key", .union([.text, .array(.text)]),
                    "the field, or fields, by which a row finds the item that it is about; each row is a new item if not given"
                ),
                LuaParameter(
                    "update", .boolean,
                    "whether rows replace fields of items that exist; else those items stay as they are"),
                LuaParameter(
                    "types", .union([.choice(["infer", "text"]), .table]),
                    "what texts become: \"infer\" kinds of whole columns, the default for CSV; \"text\"; or kinds by field: \(kinds.joined(separator: ", "))"
                ),
                LuaParameter(
                    "transform", .callback("(row: table) → table or nil"),
                    "makes the row that is imported of one of the file, under the names of fields; nil leaves it out"),
                LuaParameter(
                    "onError",
                    .union([
                        .choice(["stop", "skip"]), .callback("(row: table, line: integer, message: string) → string"),
                    ]),
                    "what becomes of a row that is no item: \"stop\", the default, changes nothing; \"skip\" leaves it out; a function says which"
                ),
                LuaParameter(
                    "rejects", .text,
                    "a file for the rows that were left out, as they were, and why; \"-\" is standard output"),
                LuaParameter(
                    "encoding", .choice(ItemFileEncoding.allCases.map(\.rawValue)), "of text; utf-8 if not given"),
                LuaParameter("table", .text, "of a SQLite database; items, or the only one, if not given"),
                LuaParameter("dryRun", .boolean, "whether nothing is changed, and only the report made"),
                ItemFilesBinding.delimiter, ItemFilesBinding.progress,
            ])), "how the file is read")

    private static let report = LuaType.record(
        "import.report",
        [
            LuaParameter("created", .integer, "items that are new"),
            LuaParameter("updated", .integer, "items that have other values now"),
            LuaParameter("unchanged", .integer, "items that a row was for, and that are as they were"),
            LuaParameter("rejected", .integer, "rows that were left out, since they are no items"),
            LuaParameter("total", .integer, "rows of the file"),
            LuaParameter("pictures", .integer, "pictures that came with the items of an archive"),
        ])

    static func declare(on cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        let binding = ItemImportBinding(classes)
        cls.method(
            "import", [ItemFilesBinding.path, options],
            returns: [.optional(.integer), .union([report, .object("Error")])],
            "Brings the items of a file of CSV, JSON, JSON Lines, a property list, an archive or a SQLite database in, in one transaction: how many are new or changed and a report that prints, or nil and an error that names the row.",
            example:
                "fs.write(app.container.tmp .. \"/a.csv\", \"Title,valueInDollars\\nLamp,9\\n\") return items:import(app.container.tmp .. \"/a.csv\", { map = { Title = \"name\" }, key = \"name\", update = true })"
        ) { store, call in try binding.importItems(store, call) }
    }

    private func importItems(_ store: ItemStore, _ call: LuaCall) throws -> LuaResults {
        let path = try call.text(0)
        var options = try options(call, path)
        let rejects = try call.option("rejects", of: 1).textValue
        return try ItemFilesBinding.finish(call) {
            try read(call, path, options.format) { file in
                var report = ItemImportReport()
                func run() throws {
                    report = try ItemFilesBinding.work(&options, "Importing", on: host) {
                        try store.importItems(file, path: path, $0)
                    }
                }
                guard let rejects else {
                    try run()
                    return try results(of: report, call)
                }
                // Opened before the items change: a file that cannot be written ends the import.
                return try FileOutput.write(call, host, rejects) { append in
                    try run()
                    try report.rejects.withUnsafeBytes(append)
                    return try results(of: report, call)
                }
            }
        }
    }

    /// Runs a body with the file's bytes. A database's file is left to its library: to close it here would give up the locks
    /// of other connections.
    private func read(
        _ call: LuaCall, _ path: String, _ format: ItemFileFormat, _ body: (ImportFile) throws -> LuaResults
    ) throws -> LuaResults {
        if format == .sqlite {
            return try host.attempt(path, .read) { _ in try body(ImportFile([])) }.results(call)
        }
        return try FileInput.read(call, host, path) { try body(try ImportFile($0, $1)) }
    }

    private func results(of report: ItemImportReport, _ call: LuaCall) throws -> LuaResults {
        let table = host.state.makeTable(fields: 6)
        for (name, count) in [
            ("created", report.created), ("updated", report.updated), ("unchanged", report.unchanged),
            ("rejected", report.rejected), ("total", report.total), ("pictures", report.pictures),
        ] { table[name] = .integer(Int64(count)) }
        classes.describe(table, as: "report", report.description)
        return call.returns(report.created + report.updated) + call.returns(LuaValue.table(table))
    }

    // MARK: Options

    private func options(_ call: LuaCall, _ path: String) throws -> ItemFileOptions {
        var options = try ItemFilesBinding.options(call, path)
        options.checkField = { [classes] in try classes.itemBinding.checkName($0) }
        options.key = try ItemFilesBinding.texts(call, "key") ?? []
        options.updates = try call.option("update", of: 1).isTruthy
        if options.updates, options.key.isEmpty {
            throw call.refuse(1, "option 'update' needs the option 'key', by which items are found")
        }
        options.isDryRun = try call.option("dryRun", of: 1).isTruthy
        options.kinds = try kinds(call)
        options.encoding = try call.option("encoding", of: 1).textValue.flatMap(ItemFileEncoding.init) ?? .utf8
        options.transform = try transform(call)
        options.skipsRow = try skipsRow(call)
        options.onKinds = { [unowned host] in host.logger.info("\($0)") }
        options.table = try call.option("table", of: 1).textValue
        if options.format == .sqlite {
            if path == "-" { throw call.refuse(0, "a SQLite database is a file, and no stream of bytes") }
            options.openDatabase = { [unowned host] in try DatabaseFile.open(host, path, isReadOnly: true) }
        }
        if options.format == .keyedArchive { options.attachment = attachment(beside: path) }
        return options
    }

    private func kinds(_ call: LuaCall) throws -> ItemFileKinds? {
        switch try call.option("types", of: 1) {
        case .nil: return nil
        case .table(let table):
            var kinds: [String: ItemFileKind] = [:]
            try table.forEach { key, value in
                let word = value.textValue == "text" ? "string" : value.textValue
                guard let name = key.textValue, let kind = word.flatMap(ItemFileKind.init) else {
                    throw call.refuse(
                        1,
                        "option 'types': a kind by each field's name expected (\(Self.kinds.joined(separator: ", "))), got \(host.state.describe(value)) for \(host.state.describe(key))"
                    )
                }
                kinds[name] = kind
                return true
            }
            return .named(kinds)
        case let value: return value.textValue == "text" ? .text : .inferred
        }
    }

    private func transform(
        _ call: LuaCall
    ) throws -> (([String: PropertyListValue]) throws -> [String: PropertyListValue]?)? {
        guard case .function(let function) = try call.option("transform", of: 1) else { return nil }
        let values = host.values
        return { row in
            let result = try function.call(try values.table(of: row)).first ?? .nil
            if result.isNil { return nil }
            guard case .table(let table) = result else {
                throw call.refuse(
                    1, "option 'transform': the function answers a row or nil, got \(call.state.describe(result))")
            }
            var made: [String: PropertyListValue] = [:]
            try table.forEach { key, value in
                guard let name = key.textValue else {
                    throw call.refuse(1, "option 'transform': a row's names are text, got \(call.state.describe(key))")
                }
                do throws(ValueBridge.Refusal) { made[name] = try values.propertyList(value, path: name) } catch {
                    throw call.refuse(1, "option 'transform': \(error.message)")
                }
                return true
            }
            return made
        }
    }

    private func skipsRow(_ call: LuaCall) throws -> (([String: PropertyListValue], Int, String) throws -> Bool)? {
        switch try call.option("onError", of: 1) {
        case .function(let function):
            let values = host.values
            return { row, line, message in
                let arguments: [LuaValue] = [try values.table(of: row), .integer(Int64(line)), .text(message)]
                switch try function.call(arguments: arguments).first?.textValue {
                case "skip": return true
                case "stop": return false
                default: throw call.refuse(1, "option 'onError': the function answers \"skip\" or \"stop\"")
                }
            }
        case let value: return value.textValue == "skip" ? { _, _, _ in true } : nil
        }
    }

    // MARK: Pictures

    /// The pictures beside an archive, under the keys of its items, as far as the sandbox lets them be read.
    private func attachment(beside path: String) -> (String) throws -> [UInt8]? {
        let folder = PathText.parent(of: PathText.absolute(path, from: host.fence.base))
        var isRefused = false
        return { [host] key in
            guard !isRefused else { return nil }
            let layer = host.fence.layer
            let picture = PathText.join(folder, key)
            do throws(FileError) {
                guard try layer.status(picture)?.kind == .regular else { return nil }
                return try layer.contents(of: picture, limit: FileSystemModule.readLimit)
            } catch {
                if error.code == FileLayerCode.interrupted { throw error }
                isRefused = true
                host.logger.warning("the pictures beside \(path) are not imported: \(error.message)")
                return nil
            }
        }
    }
}

extension ValueBridge {
    /// The table of a row.
    fileprivate func table(of row: [String: PropertyListValue]) throws -> LuaValue {
        let table = state.makeTable(fields: row.count)
        for (name, value) in row { table[name] = try lua(value) }
        return .table(table)
    }
}
