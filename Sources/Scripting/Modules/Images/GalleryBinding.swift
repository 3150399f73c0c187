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
                "folder": "the page's folder: created if missing, otherwise empty or an earlier gallery's",
                "options": "options of the page",
            ],
            returns: LuaType.orError(.table),
            "Writes an offline page with the items' pictures and fields, search, sort and totals: open its index.html. "
                + "A terminal shows a progress bar. Returns a table with page, items, pictures and failures (messages by key), or nil and an error.",
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
            LuaOption("title", \.title, doc: "the page's title (default: Items)")
            LuaOption("replace", \.replace, doc: "whether to write into a folder that holds other files")
        }
    }
}
