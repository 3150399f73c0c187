import Application
package import Files
public import Images
public import Items
import PropertyList
@_exported import Wording

/// Items as a web page: thumbnails, fields, search, sort and totals, in files that need no server and no network.
public struct WebGallery {
    /// A summary of the written files.
    public struct Summary: Sendable, Hashable {
        /// The number of items on the page.
        public var items = 0
        /// The number of pictures on the page.
        public var pictures = 0
        /// The reasons for unreadable pictures, by the item's key, of a further picture with its number.
        public var failures: [String: String] = [:]
        /// The number of files of an earlier gallery that were removed: those of pictures that are no longer on the page.
        public var removedFiles = 0
        /// The path of the page.
        public var page = ""
    }

    private struct Entry {
        var values: PropertyListFields
        /// The number that is in the totals, as its shortest decimal text; nil for none.
        var worth: String?
        var thumbnail: String?
        var picture: String?
        /// The item's further pictures.
        var others: [String]?
        /// What is said of pictures that are not shown.
        var lacks: [String]?

        mutating func add(_ file: GalleryPicture) {
            let path = "\(GalleryPicture.pictures)/\(file.name)"
            if file.isFirst {
                picture = path
                thumbnail = "\(GalleryPicture.thumbnails)/\(file.name)"
            } else {
                others = (others ?? []) + [path]
            }
        }

        mutating func add(_ failure: ImageError) { lacks = (lacks ?? []) + ["(\(failure.pictureText))"] }

        /// As an object of JSON, which has the pictures only if there are any.
        var value: PropertyListValue {
            .of([
                "values": JSONValue.fields(values), "worth": worth, "thumbnail": thumbnail, "picture": picture,
                "others": others, "lacks": lacks,
            ])
        }
    }

    private let images: ImageStore
    private let layer: any FileLayer
    private let title: String

    /// - Parameters:
    ///   - images: the store of the items' pictures.
    ///   - title: the page's title, plain text.
    public init(images: ImageStore, title: String) {
        self.init(images: images, title: title, using: PosixFileLayer())
    }

    /// The same with a file system for the output.
    package init(images: ImageStore, title: String, using layer: any FileLayer) {
        self.images = images
        self.title = title
        self.layer = layer
    }

    /// Writes `index.html` and its files into a folder, which is created if it is missing, and else must be empty or
    /// hold an earlier gallery.
    ///
    /// - Parameters:
    ///   - items: the items, in order.
    ///   - folder: the folder's path.
    ///   - replaces: whether other files may be replaced.
    ///   - progress: called after each item with the number of finished ones; an error from it ends the work, without a
    ///     page.
    /// - Returns: the summary. An unreadable picture is not an error: its item has none.
    /// - Throws: `FileError` when a file cannot be written, or the folder holds other files; `StoreError` for a removed
    ///   item. O(n), with one decoding per picture.
    public func write(
        _ items: [Item], to folder: String, replaces: Bool = false, progress: (Int) throws -> Void = { _ in }
    ) throws -> Summary {
        var summary = Summary()
        try layer.makeDirectories(folder)
        let isOwn = try isGallery(folder)
        if !replaces, !isOwn { try checkIsEmpty(folder) }
        // The style sheet is first: it marks the folder, so that a later gallery may replace an interrupted one.
        try write(Array(GalleryStyle.css.utf8), "gallery.css", in: folder)
        var custom: NameSet = []
        var entries: [Entry] = []
        var work: [[GalleryPicture]] = []
        let value = try ReportContent.value(of: items)
        for item in items {
            var entry = Entry(values: [:])
            entry.worth = try value.flatMap { ReportSum.decimal(try item.value(forField: $0)) }
            let names = try item.customFieldNames
            custom.formUnion(names)
            for name in item.store.schema.names + names {
                guard let value = try item.value(forField: name) else { continue }
                let isNumber = GalleryValue.isNumber(value)
                let shown = isNumber ? nil : item.store.shown(value, name)
                entry.values[name] = shown.map { .string($0) } ?? GalleryValue.of(value)
            }
            let files = images.listedPictureFiles(forKey: try item.itemKey)
            let first = files.firstIndex { $0.isAtHand } ?? 0
            work.append(
                files.enumerated().map { place, file in
                    GalleryPicture(
                        file, number: entries.count + 1, place: place, isFirst: place == first, folder: folder,
                        layer: layer)
                })
            entries.append(entry)
        }
        for kind in [GalleryPicture.pictures, GalleryPicture.thumbnails] where work.contains(where: { !$0.isEmpty }) {
            try layer.makeDirectories(PathText.join(folder, kind))
        }
        var written: NameSet = []
        // Nearly all of the time is spent here.
        let pictures = work
        try ParallelWork.forEach(pictures.count) { number in
            ImageLibrary.concurrently { pictures[number].map { $0.write() } }
        } consume: { number, results in
            for (picture, result) in zip(pictures[number], results) {
                switch result {
                case .success:
                    entries[number].add(picture)
                    written.formUnion(picture.paths)
                    summary.pictures += 1
                case .failure(let error):
                    if error.code == .unwritable, let fileError = error.fileError { throw fileError }
                    entries[number].add(error)
                    summary.failures[picture.file.failureKey(picture.place)] = error.message
                }
            }
            try progress(number + 1)
        }
        summary.items = entries.count
        let fields = (items.first?.store.schema ?? .household).names + (items.first?.store.ordered(custom) ?? [])
        let amounts = items.first?.store.declarations.all.filter { $0.format == .money }.map(\.name) ?? []
        let store = items.first?.store
        try write(
            javaScript(fields, amounts, entries, value, titleField: store.flatMap(\.titleName) ?? "name"), "items.js",
            in: folder)
        try write(Array(GalleryScript.javaScript.utf8), "gallery.js", in: folder)
        // The page is last, after its files.
        try write(Array(GalleryPage.html(title: title).utf8), "index.html", in: folder)
        summary.page = PathText.join(folder, "index.html")
        // In a folder of somebody else's, pictures may be theirs.
        if isOwn { summary.removedFiles = try removeFiles(in: folder, but: written) }
        return summary
    }

    /// Removes the pictures of an earlier gallery, and returns their number.
    private func removeFiles(in folder: String, but written: NameSet) throws(FileError) -> Int {
        var count = 0
        for kind in [GalleryPicture.pictures, GalleryPicture.thumbnails] {
            let subfolder = PathText.join(folder, kind)
            for name in layer.exists(subfolder) ? try layer.list(subfolder) : []
            where GalleryPicture.isName(name) && !written.contains(PathText.join(kind, name)) {
                try layer.remove(PathText.join(subfolder, name))
                count += 1
            }
        }
        return count
    }

    /// Whether a folder has a gallery, or the beginning of one.
    private func isGallery(_ folder: String) throws(FileError) -> Bool {
        let names = try layer.list(folder)
        let (name, marker) =
            names.contains("index.html") ? ("index.html", GalleryPage.marker) : ("gallery.css", GalleryStyle.marker)
        return names.contains(name) && isMarked(PathText.join(folder, name), marker)
    }

    /// Refuses a folder with files.
    private func checkIsEmpty(_ folder: String) throws(FileError) {
        let names = try layer.list(folder)
        guard !names.isEmpty else { return }
        let culprit = names.contains("index.html") ? "index.html" : names.sorted().first ?? ""
        throw FileError(
            .write, PathText.join(folder, "index.html"), code: Self.fileExists,
            reason: "\(culprit) in this folder is from no gallery; choose an empty folder, or "
                + "replace = true (cubby gallery --replace)")
    }

    private static let fileExists: Int32 = 17

    private func isMarked(_ path: String, _ marker: String) -> Bool {
        guard let bytes = try? layer.contents(of: path, limit: 1 << 20) else { return false }
        return String(decoding: bytes.prefix(2048), as: UTF8.self).contains(marker)
    }

    private func javaScript(
        _ fields: [String], _ amounts: [String], _ entries: [Entry], _ value: String?, titleField: String
    ) throws(JSONError) -> [UInt8] {
        func json(_ value: PropertyListValue) throws(JSONError) -> String {
            String(decoding: try value.json(), as: UTF8.self)
        }
        var text = "{\"fields\":\(try json(fields.jsonValue))"
        if titleField != "name" { text += ",\"title\":\(try json(titleField.jsonValue))" }
        if let value { text += ",\"value\":\(try json(value.jsonValue))" }
        if !amounts.isEmpty { text += ",\"money\":\(try json(amounts.jsonValue))" }
        var items: [String] = []
        for entry in entries { items.append(try json(entry.value)) }
        text += ",\"items\":[\(items.joined(separator: ","))]}"
        // As text, because a field __proto__ of an object literal would be lost.
        return Array("window.gallery = JSON.parse(\(JSONText.quoted(text)));\n".utf8)
    }

    private func write(_ bytes: [UInt8], _ name: String, in folder: String) throws(FileError) {
        try FileTarget.write(bytes, to: PathText.join(folder, name), using: layer, durable: false)
    }
}

/// The files of one picture in a gallery. Usable on any thread.
struct GalleryPicture: Sendable {
    /// The subfolders of the gallery.
    static let pictures = "pictures"
    static let thumbnails = "thumbnails"
    /// The longest side of a picture in the gallery, in pixels.
    static let pictureSize = 1600
    /// The side of a thumbnail, in pixels: 120 points on a screen of twice the density.
    static let thumbnailSize = 240

    let file: PictureFile
    /// The name of both files.
    let name: String
    /// Its place among its item's pictures, from 0.
    let place: Int
    /// Whether it is its item's first that is there; only that one has a thumbnail.
    let isFirst: Bool
    private let folder: String
    private let layer: any FileLayer

    /// - Parameters:
    ///   - file: the picture in the store.
    ///   - number: its item's number, from 1.
    ///   - place: its place among its item's pictures, from 0.
    ///   - isFirst: whether it is the first that is there.
    ///   - folder: the gallery's folder, with its two subfolders.
    ///   - layer: the file system for the output.
    init(_ file: PictureFile, number: Int, place: Int, isFirst: Bool, folder: String, layer: any FileLayer) {
        (self.file, self.place, self.isFirst) = (file, place, isFirst)
        self.folder = folder
        self.layer = layer
        name = Self.fileName(file.key, number, place)
    }

    /// Makes both files.
    func write() -> Result<Void, ImageError> {
        Result { () throws(ImageError) in
            let image = try file.open()
            try write(try image.jpeg(within: Self.pictureSize, quality: 0.8), Self.pictures)
            guard isFirst else { return }
            let small = ImageSizing(width: Self.thumbnailSize, height: Self.thumbnailSize, mode: .fill)
            try write(try image.jpegData(quality: 0.7, sizing: small), Self.thumbnails)
        }
    }

    private func write(_ bytes: [UInt8], _ kind: String) throws(ImageError) {
        let path = PathText.join(PathText.join(folder, kind), name)
        do throws(FileError) {
            try AtomicFile.write(bytes, to: path, using: layer, durable: false)
        } catch {
            throw ImageError(.unwritable, error)
        }
    }

    /// The files in the gallery's folder.
    var paths: [String] {
        [PathText.join(Self.pictures, name)] + (isFirst ? [PathText.join(Self.thumbnails, name)] : [])
    }

    /// A name that is valid in a URL; other keys are replaced by a number.
    private static func fileName(_ key: String, _ number: Int, _ place: Int) -> String {
        (isPlain(key) ? key : "picture-\(number)") + (place == 0 ? "" : ".\(place + 1)") + ".jpg"
    }

    /// Whether a file has a name like those of pictures.
    static func isName(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3 && (Int(parts[1]) ?? 0) > 1, parts.last == "jpg" else {
            return false
        }
        return isPlain(parts[0])
    }

    private static func isPlain(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy {
            switch $0 {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: true
            default: false
            }
        }
    }
}

extension BitmapImage {
    /// The image as JPEG, no wider and no higher than a square: one that is JPEG and fits is not compressed again.
    func jpeg(within side: Int, quality: Double) throws(ImageError) -> [UInt8] {
        let isLarge = width > side || height > side
        // Files of the store usually have no metadata, and another encoding would only lose quality.
        if !isLarge, let bare = bareJPEG { return bare }
        return try jpegData(quality: quality, sizing: isLarge ? ImageSizing(width: side, height: side) : nil)
    }
}

/// The gallery's page, which needs only the files beside it.
enum GalleryPage {
    /// Marks a page of a gallery.
    static let marker = #"<meta name="generator" content="Cubby">"#

    /// - Parameter title: plain text.
    /// - Returns: the page.
    static func html(title: String) -> String {
        let title = HTMLText.escaped(title)
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            \(marker)
            <title>\(title)</title>
            <link rel="stylesheet" href="gallery.css">
            </head>
            <body>
            <header>
              <h1>\(title)</h1>
              <p id="count" role="status" aria-live="polite"></p>
              <form id="controls" role="search">
                <label>Search <input id="search" type="search" placeholder="words, or field:word" autocomplete="off"></label>
                <label>Sort by <select id="sort"></select></label>
                <button id="direction" type="button" aria-pressed="false" title="Turn the order round">↑</button>
                <label>Totals by <select id="group"></select></label>
              </form>
            </header>
            <figure id="totals" aria-label="Totals"><svg id="chart" role="img"></svg><figcaption id="caption"></figcaption></figure>
            <main id="cards" aria-label="Items"></main>
            <p id="more" hidden><button type="button">Show more</button></p>
            <dialog id="detail" aria-labelledby="detail-title"></dialog>
            <footer><kbd>/</kbd> search · <kbd>←</kbd> <kbd>↑</kbd> <kbd>↓</kbd> <kbd>→</kbd> move · <kbd>Enter</kbd> open · <kbd>Esc</kbd> close</footer>
            <script src="items.js"></script>
            <script src="gallery.js"></script>
            <noscript><p>This page finds and sorts with JavaScript, which is off.</p></noscript>
            </body>
            </html>

            """
    }
}

/// A field's value in `items.js`: dates as ISO 8601, and data as its length. Integers that a browser's numbers would
/// change are texts.
enum GalleryValue {
    /// - Returns: nil for values without a representation.
    static func of(_ value: PropertyListValue) -> PropertyListValue? {
        switch value {
        case .null, .uid: return nil
        case .string, .boolean: return value
        case .utf16: return .string(value.text ?? "")
        case .integer(let number): return number.magnitude > 1 << 53 ? .string(String(number)) : value
        case .wideInteger(let number): return .string(String(number))
        case .real(let number): return real(number)
        case .single(let number): return real(Double("\(number)") ?? Double(number))
        case .date(let date): return .string(date.exchangeText)
        case .data(let bytes): return .string("\(bytes.count) bytes")
        case .array(let elements), .set(let elements): return .array(elements.map { of($0) ?? .null })
        case .dictionary(let entries):
            var object: PropertyListFields = [:]
            for (key, value) in entries.sortedEntries { object[key.keyText] = of(value) }
            return .fields(object)
        }
    }

    /// Whether a value is a number.
    static func isNumber(_ value: PropertyListValue) -> Bool {
        switch value {
        case .integer, .wideInteger, .real, .single: true
        default: false
        }
    }

    private static func real(_ number: Double) -> PropertyListValue {
        guard number.isFinite else { return .string("\(number)") }
        return Int64(exactly: number).map { .integer($0) } ?? .real(number)
    }
}

/// The gallery's style sheet: a grid that fits a phone and a wall, light and dark.
enum GalleryStyle {
    /// The first line of the style sheet, the first file of a gallery, which marks the folder.
    static let marker = "/* A gallery of Cubby's. */"

    static let css = """
        \(marker)
        :root {
          color-scheme: light dark;
          --ground: #f6f5f2; --card: #fff; --ink: #1d1d1f; --soft: #6b6b70; --line: #dedcd6; --accent: #0b63ce;
        }
        @media (prefers-color-scheme: dark) {
          :root { --ground: #161618; --card: #222226; --ink: #f2f2f4; --soft: #a2a2a9; --line: #3a3a40; --accent: #6ab0ff; }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.45 system-ui, sans-serif; }
        header { position: sticky; top: 0; z-index: 1; padding: .75rem 1rem; background: var(--ground); border-bottom: 1px solid var(--line); }
        h1 { display: inline; margin: 0 .75rem 0 0; font-size: 1.25rem; }
        #count { display: inline; color: var(--soft); }
        [hidden] { display: none !important; }
        #controls { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; margin-top: .5rem; }
        label { display: flex; flex-direction: column; font-size: .75rem; color: var(--soft); }
        label:first-child { flex: 1 1 14rem; }
        input, select, button { min-height: 2.5rem; padding: .3rem .6rem; font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
        select { max-width: 12rem; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
        #totals { margin: 1rem 1rem 0; padding: .75rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
        #chart { display: block; width: 100%; }
        #chart rect { fill: var(--accent); }
        #chart text { fill: var(--ink); font-size: 13px; }
        figcaption { color: var(--soft); font-size: .8rem; }
        #cards { display: grid; gap: .75rem; padding: 1rem; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); }
        .card { display: flex; flex-direction: column; min-width: 0; padding: 0; text-align: left; cursor: pointer; border-radius: .75rem; overflow: hidden; }
        .card img, .card .blank { width: 100%; height: auto; aspect-ratio: 1; object-fit: cover; background: var(--line); }
        .card .blank { display: grid; place-items: center; font-size: 2.5rem; color: var(--soft); }
        .card div.text { padding: .5rem .65rem .65rem; min-width: 0; }
        .card strong { display: block; overflow-wrap: anywhere; display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow: hidden; }
        .card span { color: var(--soft); font-size: .85rem; }
        #more { text-align: center; }
        #none { grid-column: 1 / -1; padding: 3rem 1rem; text-align: center; color: var(--soft); }
        dialog { width: min(56rem, 94vw); max-height: 92vh; padding: 0; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: .9rem; }
        dialog::backdrop { background: rgb(0 0 0 / 60%); }
        dialog img { display: block; max-width: 100%; max-height: 60vh; margin: 0 auto; }
        dialog .bar { display: flex; gap: .5rem; justify-content: space-between; padding: .6rem; }
        dialog .lack { margin: .5rem 1rem; color: var(--soft); }
        dialog h2 { margin: .75rem 1rem 0; font-size: 1.15rem; overflow-wrap: anywhere; }
        dialog dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .25rem 1rem; margin: .75rem 1rem 1rem; }
        dialog dt { color: var(--soft); }
        dialog dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
        footer { padding: 1rem; color: var(--soft); font-size: .85rem; text-align: center; }
        kbd { padding: 0 .35em; border: 1px solid var(--line); border-radius: .3em; background: var(--card); }
        @media (max-width: 30rem) {
          header { position: static; }
          #cards { grid-template-columns: repeat(2, minmax(0, 1fr)); padding: .75rem; }
          #totals { margin: .75rem .75rem 0; }
          select { max-width: 9rem; }
          footer { display: none; }
        }
        @page { margin: 15mm; }
        @media print {
          :root { color-scheme: light; --ground: #fff; --card: #fff; --ink: #1d1d1f; --soft: #6b6b70; --line: #dedcd6; --accent: #0b63ce; }
          body { font-size: 10pt; }
          header { position: static; padding: 0 0 .5rem; }
          #controls, footer, #more { display: none; }
          #totals { margin: .75rem 0 0; break-inside: avoid; }
          #cards { display: block; padding: .75rem 0 0; font-size: 0; }
          .card { display: inline-flex; width: 23%; margin: 0 1% .75rem; border-radius: 0; vertical-align: top; break-inside: avoid; font-size: 9pt; print-color-adjust: exact; }
          .card strong { display: block; }
        }

        """
}
