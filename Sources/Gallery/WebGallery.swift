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
        /// The reasons for unreadable pictures, by key.
        public var failures: [String: String] = [:]
        /// The path of the page.
        public var page = ""
    }

    private struct Entry {
        var values: PropertyListFields
        var thumbnail: String?
        var picture: String?
        /// The item's further pictures.
        var others: [String]?

        mutating func add(_ file: GalleryPicture) {
            let path = "\(GalleryPicture.pictures)/\(file.name)"
            if file.isFirst {
                picture = path
                thumbnail = "\(GalleryPicture.thumbnails)/\(file.name)"
            } else {
                others = (others ?? []) + [path]
            }
        }

        /// As an object of JSON, which has the pictures only if there are any.
        var value: PropertyListValue {
            var entry: PropertyListFields = ["values": .fields(values)]
            entry["thumbnail"] = thumbnail.map { .string($0) }
            entry["picture"] = picture.map { .string($0) }
            entry["others"] = others.map { .array($0.map { .string($0) }) }
            return .fields(entry)
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
        if !replaces { try checkOwner(of: folder) }
        // The style sheet is first: it marks the folder, so that a later gallery may replace an interrupted one.
        try write(Array(GalleryStyle.css.utf8), "gallery.css", in: folder)
        var custom: NameSet = []
        var entries: [Entry] = []
        var work: [[GalleryPicture]] = []
        for item in items {
            var entry = Entry(values: [:])
            let names = try item.customFieldNames
            custom.formUnion(names)
            for name in item.store.schema.names + names {
                guard let value = try item.value(forField: name) else { continue }
                let isNumber = GalleryValue.isNumber(value)
                let shown = isNumber ? nil : item.store.shown(value, name)
                entry.values[name] = shown.map { .string($0) } ?? GalleryValue.of(value)
            }
            work.append(
                images.pictureFiles(forKey: try item.itemKey).enumerated().map { place, file in
                    GalleryPicture(file, number: entries.count + 1, place: place, folder: folder, layer: layer)
                })
            entries.append(entry)
        }
        for kind in [GalleryPicture.pictures, GalleryPicture.thumbnails] where work.contains(where: { !$0.isEmpty }) {
            try layer.makeDirectories(PathText.join(folder, kind))
        }
        // Nearly all of the time is spent here.
        let pictures = work
        try ParallelWork.forEach(pictures.count) { number in
            ImageLibrary.concurrently { pictures[number].map { $0.write() } }
        } consume: { number, results in
            for (picture, result) in zip(pictures[number], results) {
                switch result {
                case .success:
                    entries[number].add(picture)
                    summary.pictures += 1
                case .failure(let error):
                    if error.code == .unwritable, let fileError = error.fileError { throw fileError }
                    summary.failures[picture.file.key] = error.message
                }
            }
            try progress(number + 1)
        }
        summary.items = entries.count
        let fields = (items.first?.store.schema ?? .household).names + (items.first?.store.ordered(custom) ?? [])
        let amounts = items.first?.store.declarations.all.filter { $0.format == .money }.map(\.name) ?? []
        let store = items.first?.store
        try write(
            javaScript(fields, amounts, entries, titleField: store.flatMap(\.titleName) ?? "name"), "items.js",
            in: folder)
        try write(Array(GalleryScript.javaScript.utf8), "gallery.js", in: folder)
        // The page is last, after its files.
        try write(Array(GalleryPage.html(title: title).utf8), "index.html", in: folder)
        summary.page = PathText.join(folder, "index.html")
        return summary
    }

    /// Refuses a folder with other files than a gallery's.
    private func checkOwner(of folder: String) throws(FileError) {
        let names = try layer.list(folder)
        guard !names.isEmpty else { return }
        let (name, marker) =
            names.contains("index.html") ? ("index.html", GalleryPage.marker) : ("gallery.css", GalleryStyle.marker)
        if names.contains(name), isMarked(PathText.join(folder, name), marker) { return }
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
        _ fields: [String], _ amounts: [String], _ entries: [Entry], titleField: String
    ) throws(JSONError) -> [UInt8] {
        var json = JSONText(.compact)
        json.append("{\"fields\":")
        json.append(json: try PropertyListValue.array(fields.map { .string($0) }).json())
        if titleField != "name" {
            json.append(",\"title\":")
            json.append(json: try PropertyListValue.string(titleField).json())
        }
        if !amounts.isEmpty {
            json.append(",\"money\":")
            json.append(json: try PropertyListValue.array(amounts.map { .string($0) }).json())
        }
        json.append(",\"items\":[")
        for (place, entry) in entries.enumerated() {
            json.next(1, isFirst: place == 0)
            json.append(json: try entry.value.json())
        }
        json.append("]}")
        // As text, because a field __proto__ of an object literal would be lost.
        var script = JSONText(.compact)
        script.append("window.gallery = JSON.parse(")
        script.string(String(decoding: json.bytes, as: UTF8.self))
        script.append(");\n")
        return script.bytes
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
    /// Whether it is its item's first; only that one has a thumbnail.
    let isFirst: Bool
    private let folder: String
    private let layer: any FileLayer

    /// - Parameters:
    ///   - file: the picture in the store.
    ///   - number: its item's number, from 1.
    ///   - place: its place among its item's pictures, from 0.
    ///   - folder: the gallery's folder, with its two subfolders.
    ///   - layer: the file system for the output.
    init(_ file: PictureFile, number: Int, place: Int, folder: String, layer: any FileLayer) {
        self.file = file
        self.folder = folder
        self.layer = layer
        isFirst = place == 0
        name = Self.fileName(file.key, number, place)
    }

    /// Makes both files.
    func write() -> Result<Void, ImageError> {
        do throws(ImageError) {
            let image = try file.open()
            let side = Self.pictureSize
            let isLarge = image.width > side || image.height > side
            // Files of the store usually have no metadata, and another encoding would only lose quality.
            let bare = isLarge ? nil : image.bareJPEG
            let picture: [UInt8]
            if let bare {
                picture = bare
            } else {
                picture = try image.jpegData(
                    quality: 0.8, sizing: isLarge ? ImageSizing(width: side, height: side) : nil)
            }
            try write(picture, Self.pictures)
            guard isFirst else { return .success(()) }
            let small = ImageSizing(width: Self.thumbnailSize, height: Self.thumbnailSize, mode: .fill)
            let thumbnail = try image.jpegData(quality: 0.7, sizing: small)
            try write(thumbnail, Self.thumbnails)
            return .success(())
        } catch {
            return .failure(error)
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

    /// A name that is valid in a URL; other keys are replaced by a number.
    private static func fileName(_ key: String, _ number: Int, _ place: Int) -> String {
        let isPlain = key.utf8.allSatisfy {
            switch $0 {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: true
            default: false
            }
        }
        return (isPlain ? key : "picture-\(number)") + (place == 0 ? "" : ".\(place + 1)") + ".jpg"
    }
}
