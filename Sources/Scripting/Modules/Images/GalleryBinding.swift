import Application
import Files
import Gallery
import Images
import Items
import Lua

/// `query:gallery(dir)`: a page of items and pictures.
enum GalleryBinding {
    static func declare(on queries: LuaClass<QueryValue>, _ host: ScriptHost) {
        queries.method(
            "gallery",
            [
                LuaParameter(
                    "folder", .text,
                    "where the page goes: made when it is not there, else empty or an earlier gallery's"),
                LuaParameter(
                    "options",
                    .optional(
                        .options([
                            LuaParameter("title", .text, "the page's; Items if not given"),
                            LuaParameter(
                                "replace", .boolean, "also into a folder that holds something else than a gallery"),
                        ])),
                    "what is written"),
            ],
            returns: LuaType.orError(.table),
            "Writes a page with the items' pictures and fields, search, sort and totals, which needs no network: open its "
                + "index.html. A bar shows on a terminal how far it is. A table with page, items, pictures and failures (messages by key), or nil and an error.",
            example: "return items:query():gallery(app.container.tmp .. \"/gallery\").items"
        ) { [unowned host] value, call in
            let folder = try call.text(0)
            let title = try call.option("title", of: 1).textValue ?? "Items"
            do {
                try host.askConsent(folder, .readWrite)
                try host.fence.check(folder, .readWrite)
                let gallery = Gallery(images: host.images, title: title, using: host.fence.layer)
                let items = try value.query.all()
                let work = try LongWork("Writing", total: items.count, on: host)
                defer { work.finish() }
                let replaces = try call.option("replace", of: 1).isTruthy
                let summary = try gallery.write(items, to: folder, replaces: replaces, progress: work.step)
                let table = call.state.makeTable()
                table["page"] = .text(summary.page)
                table["items"] = .integer(Int64(summary.items))
                table["pictures"] = .integer(Int64(summary.pictures))
                let failures = call.state.makeTable()
                for (key, message) in summary.failures { failures[key] = .text(message) }
                table["failures"] = .table(failures)
                return call.returns(LuaValue.table(table))
            } catch let error as FileError {
                return call.returns(failure: error)
            }
        }
    }
}
