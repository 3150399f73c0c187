import Application
import Files
import Items
import Lua

/// `items:import` and `items:export`.
enum ItemFilesBinding {
    private static let options = LuaParameter(
        "options",
        .optional(
            .options([
                LuaParameter(
                    "format", .choice(ItemFileFormat.allCases.map(\.rawValue)),
                    "what the file is; else its extension says"),
                LuaParameter("map", .table, "new names of columns by their names; false leaves a column out"),
                LuaParameter("delimiter", .text, "between the cells of CSV; a comma, a tab for .tsv, if not given"),
                LuaParameter("progress", .boolean, "whether a bar is drawn on a terminal"),
            ])), "how the file is read or written")

    static func declare(on cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        let host = classes.host
        let parameters = [LuaParameter("path", .text, "the file's"), options]
        cls.method(
            "import", parameters, returns: LuaType.orError(.integer),
            "Appends the items of a CSV, JSON, property-list or archive file, in one transaction; how many, or nil and an error that names the row.",
            example:
                "fs.write(app.container.tmp .. \"/a.csv\", \"Title,valueInDollars\\nLamp,9\\n\") return items:import(app.container.tmp .. \"/a.csv\", { map = { Title = \"name\" } })"
        ) { [unowned host, unowned classes] store, call in
            let path = try call.text(0)
            var options = try self.options(call, path, host)
            options.checkField = { try classes.itemBinding.checkName($0) }
            return try FileSystemModule.attempt(call, host, path, .read) { layer in
                let bytes = try layer.contents(of: path, limit: 4 << 30)
                return try finish(call) {
                    try work(&options, "Importing", on: host) { try store.importItems(bytes, path: path, $0) }
                }
            }
        }
        cls.method(
            "export", parameters, returns: LuaType.orError(.integer),
            "Writes all items to a CSV, JSON, property-list or archive file, atomically; how many, or nil and an error.",
            example:
                "items:randomItem() return items:export(app.container.tmp .. \"/items.csv\", { map = { name = \"Title\", itemKey = false } })"
        ) { [unowned host] store, call in
            let path = try call.text(0)
            var options = try self.options(call, path, host)
            return try FileSystemModule.write(call, host, path) { write in
                try finish(call) {
                    try write(try work(&options, "Exporting", on: host) { try store.exportItems($0) })
                    return store.count
                }
            }
        }
    }

    /// Returns a count, or nil and an error.
    private static func finish(_ call: LuaCall, _ body: () throws -> Int) throws -> LuaResults {
        do {
            return call.returns(try body())
        } catch let error as StoreError where !error.code.isProgrammerError {
            return call.returns(failure: error)
        }
    }

    /// Runs long work that Ctrl-C and time limits reach, with an optional progress bar.
    private static func work<Result>(
        _ options: inout ItemFileOptions, _ verb: String, on host: ScriptHost,
        _ body: (ItemFileOptions) throws -> Result
    ) throws -> Result {
        let checkpoint = try host.state.load(Array("".utf8), name: "=checkpoint")
        let showsBar = options.progress != nil
        // A CSV import counts bytes; everything else counts items.
        let unit = verb == "Importing" && options.format == .csv ? ProgressBar.Unit.bytes : .steps
        var bar: ProgressBar?
        defer { bar?.finish(host.output) }
        options.progress = { done, total in
            // The VM checks for interrupts when it enters a function.
            _ = try checkpoint.call()
            guard showsBar else { return }
            let shown = bar ?? ProgressBar(total: Int64(total), label: verb, unit: unit)
            bar = shown
            shown.show(Int64(done), host.output)
        }
        return try body(options)
    }

    private static func options(_ call: LuaCall, _ path: String, _ host: ScriptHost) throws -> ItemFileOptions {
        let given = try call.option("format", of: 1).textValue
        guard let format = given.flatMap(ItemFileFormat.init(rawValue:)) ?? ItemFileFormat(path: path) else {
            throw call.refuse(
                0, "the extension of '\(path)' names no format: give options.format, csv, json, plist or archive")
        }
        var options = ItemFileOptions(format: format)
        if path.lowercased().hasSuffix(".tsv") { options.delimiter = UInt8(ascii: "\t") }
        if let text = try call.option("delimiter", of: 1).textValue {
            guard text.utf8.count == 1, let byte = text.utf8.first else {
                throw call.refuse(1, "option 'delimiter': one ASCII character expected, got '\(text)'")
            }
            options.delimiter = byte
        }
        if case .table(let map) = try call.option("map", of: 1) {
            try map.forEach { key, value in
                guard let name = key.textValue else {
                    throw call.refuse(1, "option 'map': names are text, got \(host.state.describe(key))")
                }
                switch value {
                case .boolean(false): options.names[name] = .some(nil)
                default:
                    guard let other = value.textValue else {
                        throw call.refuse(1, "option 'map': '\(name)' needs a name, or false to leave it out")
                    }
                    options.names[name] = other
                }
                return true
            }
        }
        if try call.option("progress", of: 1).isTruthy { options.progress = { _, _ in } }
        return options
    }
}
