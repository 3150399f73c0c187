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
                "folder": "where the page goes: made when it is not there, else empty or an earlier gallery's",
                "options": "what is written",
            ],
            returns: LuaType.orError(.table),
            "Writes a page with the items' pictures and fields, search, sort and totals, which needs no network: open its "
                + "index.html. A bar shows on a terminal how far it is. A table with page, items, pictures and failures (messages by key), or nil and an error.",
            example: "return items:query():gallery(app.container.tmp .. \"/gallery\").items"
        ) { [unowned host] (value, folder: String, options: Page) in
            try OrError(returning: FileError.self) {
                try host.askConsent(folder, .readWrite)
                try host.fence.check(folder, .readWrite)
                let gallery = Gallery(images: host.images, title: options.title, using: host.fence.layer)
                let items = try value.query.all()
                let work = try LongWork("Writing", total: items.count, on: host)
                defer { work.finish() }
                let summary = try gallery.write(items, to: folder, replaces: options.replace, progress: work.step)
                let table = host.state.makeTable()
                table["page"] = .text(summary.page)
                table["items"] = .integer(Int64(summary.items))
                table["pictures"] = .integer(Int64(summary.pictures))
                table["failures"] = summary.failures.luaValue(in: host.state)
                return table
            }
        }
    }

    /// Options of the page.
    private struct Page: LuaOptions {
        var title = "Items"
        var replace = false

        static var luaOptions: [LuaOption<Page>] {
            LuaOption("title", \.title, doc: "the page's; Items if not given")
            LuaOption("replace", \.replace, doc: "also into a folder that holds something else than a gallery")
        }
    }
}
