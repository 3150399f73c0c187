import Application
import Items
import Lua

/// `items:export` and `query:export`.
enum ItemExportBinding {
    private static let options = LuaParameter(
        "options",
        .optional(
            .options([
                ItemFilesBinding.format("what the file will be; else its extension says"),
                LuaParameter(
                    "columns", .array(.text), "which fields, in this order; all that some item has, if not given"),
                LuaParameter("map", .table, "other names of fields by their names; false leaves a field out"),
                LuaParameter("table", .text, "the table's name in a SQLite database; items if not given"),
                ItemFilesBinding.delimiter, ItemFilesBinding.progress,
            ])), "how the file is written")
    private static let parameters = [ItemFilesBinding.path, options]

    static func declare(on cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        cls.method(
            "export", parameters, returns: LuaType.orError(.integer),
            "Writes all items to a file of CSV, JSON, JSON Lines, a property list, an archive or a SQLite database, atomically; how many, or nil and an error.",
            example:
                "items:randomItem() return items:export(app.container.tmp .. \"/items.csv\", { map = { name = \"Title\", itemKey = false } })"
        ) { [unowned host = classes.host] store, call in
            try export(store, nil, try call.text(0), call, host)
        }
    }

    static func declare(on cls: LuaClass<QueryValue>, _ classes: ItemClasses) {
        cls.method(
            "export", parameters, returns: LuaType.orError(.integer),
            "Writes the items of the answer, in its order, as items:export writes all; how many, or nil and an error.",
            example:
                "items:createItem{ name = \"Lamp\", valueInDollars = 9 } return items:query(\"valueInDollars < 10\"):export(\"-\", { format = \"jsonl\", columns = { \"name\", \"valueInDollars\" } })"
        ) { [unowned host = classes.host] value, call in
            try export(value.query.store, value.query, try call.text(0), call, host)
        }
    }

    private static func export(
        _ store: ItemStore, _ query: ItemQuery?, _ path: String, _ call: LuaCall, _ host: ScriptHost
    ) throws -> LuaResults {
        var options = try ItemFilesBinding.options(call, path)
        options.columns = try ItemFilesBinding.texts(call, "columns")
        options.table = try call.option("table", of: 1).textValue
        if options.format == .sqlite {
            if path == "-" { throw call.refuse(0, "a SQLite database is a file, and no stream of bytes") }
            return try ItemFilesBinding.finish(call) {
                try host.attempt(path, .readWrite) { _ in
                    try ItemFilesBinding.work(&options, "Exporting", on: host) { options in
                        try DatabaseFile.replace(host, path) {
                            call.returns(try store.exportItems(query, options, into: $0))
                        }
                    }
                }.results(call)
            }
        }
        return try ItemFilesBinding.finish(call) {
            try FileOutput.write(call, host, path) { append in
                try ItemFilesBinding.work(&options, "Exporting", on: host) {
                    call.returns(try store.exportItems(query, $0, write: append))
                }
            }
        }
    }
}
