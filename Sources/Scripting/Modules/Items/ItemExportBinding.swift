import Application
import Items
import Logging
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
            LuaOption("format", \.format, doc: "the file's format (default: from its extension)")
            LuaOption("columns", \.columns, doc: "the fields to write, in order (default: all fields in use)")
            LuaOption("map", \.map, doc: "new field names by field name; false omits the field")
            LuaOption("table", \.table, doc: "the table's name in a SQLite database (default: items)")
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

    private static let parameters: LuaArguments = ["path": ItemFilesBinding.path, "options": "how to write the file"]

    static func declare(on cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        cls.method(
            "export", parameters,
            "Writes all items to a CSV, JSON, JSON Lines, property-list, archive or SQLite file, atomically. Returns their number, or nil and an error.",
            example:
                "items:randomItem() return items:export(app.container.tmp .. \"/items.csv\", { map = { name = \"Title\", itemKey = false } })"
        ) { [unowned host = classes.host] (store, path: String, options: Options) in
            try export(store, nil, path, options, host)
        }
    }

    static func declare(on cls: LuaClass<QueryValue>, _ classes: ItemClasses) {
        cls.method(
            "export", parameters,
            "Writes the query's items, in its order, as items:export does. Returns their number, or nil and an error.",
            example:
                "items:createItem{ name = \"Lamp\", valueInDollars = 9 } return items:query(\"valueInDollars < 10\"):export(\"-\", { format = \"jsonl\", columns = { \"name\", \"valueInDollars\" } })"
        ) { [unowned host = classes.host] (value, path: String, options: Options) in
            try export(value.query.store, value.query, path, options, host)
        }
    }

    private static func export(
        _ store: ItemStore, _ query: ItemQuery?, _ path: String, _ given: Options, _ host: ScriptHost
    ) throws -> OrError<Int> {
        let result = try write(store, query, path, given, host)
        if case .success = result {
            for notice in try store.carriedNotices(exporting: query, given.columns) { host.logger.warning("\(notice)") }
        }
        return result
    }

    private static func write(
        _ store: ItemStore, _ query: ItemQuery?, _ path: String, _ given: Options, _ host: ScriptHost
    ) throws -> OrError<Int> {
        var options = try given.fileOptions(path)
        options.onRemark = { [unowned host] in host.logger.warning("\(path): \($0)") }
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
