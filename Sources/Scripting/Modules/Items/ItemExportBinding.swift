import Application
import Items
import Lua

/// `items:export` and `query:export`.
enum ItemExportBinding {
    private struct Options: LuaOptions {
        var format: ItemFileFormat?
        var columns: [String]?
        var map: LuaTable?
        var table: String?
        var delimiter: String?
        var progress = false

        static var luaOptions: [LuaOption<Options>] {
            LuaOption("format", \.format, doc: "what the file will be; else its extension says")
            LuaOption("columns", \.columns, doc: "which fields, in this order; all that some item has, if not given")
            LuaOption("map", \.map, doc: "other names of fields by their names; false leaves a field out")
            LuaOption("table", \.table, doc: "the table's name in a SQLite database; items if not given")
            LuaOption("delimiter", \.delimiter, doc: ItemFilesBinding.delimiter)
            LuaOption("progress", \.progress, doc: ItemFilesBinding.progress)
        }

        func fileOptions(_ path: String) throws -> ItemFileOptions {
            var options = ItemFileOptions(format: try ItemFilesBinding.format(format, path))
            if let delimiter { options.delimiter = try ItemFilesBinding.delimiter(delimiter) }
            if let map { options.names = try ItemFilesBinding.names(map) }
            (options.columns, options.table) = (columns, table)
            return options
        }
    }

    private static let parameters: LuaArguments = ["path": ItemFilesBinding.path, "options": "how the file is written"]

    static func declare(on cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        cls.method(
            "export", parameters,
            "Writes all items to a file of CSV, JSON, JSON Lines, a property list, an archive or a SQLite database, atomically; how many, or nil and an error.",
            example:
                "items:randomItem() return items:export(app.container.tmp .. \"/items.csv\", { map = { name = \"Title\", itemKey = false } })"
        ) { [unowned host = classes.host] (store, path: String, options: Options) in
            try export(store, nil, path, options, host)
        }
    }

    static func declare(on cls: LuaClass<QueryValue>, _ classes: ItemClasses) {
        cls.method(
            "export", parameters,
            "Writes the items of the answer, in its order, as items:export writes all; how many, or nil and an error.",
            example:
                "items:createItem{ name = \"Lamp\", valueInDollars = 9 } return items:query(\"valueInDollars < 10\"):export(\"-\", { format = \"jsonl\", columns = { \"name\", \"valueInDollars\" } })"
        ) { [unowned host = classes.host] (value, path: String, options: Options) in
            try export(value.query.store, value.query, path, options, host)
        }
    }

    private static func export(
        _ store: ItemStore, _ query: ItemQuery?, _ path: String, _ given: Options, _ host: ScriptHost
    ) throws -> OrError<Int> {
        var options = try given.fileOptions(path)
        if options.format == .sqlite {
            if path == "-" {
                throw LuaMismatch("a SQLite database is a file, and no stream of bytes", argument: "path")
            }
            return try ItemFilesBinding.finish {
                try host.attempt(path, .readWrite) { _ in
                    try ItemFilesBinding.work(&options, "Exporting", showsBar: given.progress, on: host) { options in
                        try DatabaseFile.replace(host, path) { try store.exportItems(query, options, into: $0) }
                    }
                }
            }
        }
        return try ItemFilesBinding.finish {
            try FileOutput.write(host, path) { append in
                try ItemFilesBinding.work(&options, "Exporting", showsBar: given.progress, on: host) {
                    try store.exportItems(query, $0, write: append)
                }
            }
        }
    }
}
