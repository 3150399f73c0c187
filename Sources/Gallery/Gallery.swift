import Application
public import Files
import FoundationEssentials
public import Images
public import Items
import PropertyList

/// Items as a page to look at: thumbnails, fields, search, sort and totals, in files that need no server and no network.
public struct Gallery {
    /// What was written.
    public struct Summary: Sendable, Hashable {
        public var items = 0
        public var pictures = 0
        /// Pictures that could not be read, by key, and why.
        public var failures: [String: String] = [:]
        /// The page to open.
        public var page = ""
    }

    private struct Entry: Encodable {
        var values: [String: GalleryValue]
        var thumbnail: String?
        var picture: String?
    }

    private struct Contents: Encodable {
        var fields: [String]
        var items: [Entry]
    }

    private let images: ImageStore
    private let layer: any FileLayer
    private let title: String

    /// - Parameters:
    ///   - images: where the items' pictures are.
    ///   - title: of the page, plain text.
    ///   - layer: the file system that the page is written to.
    public init(images: ImageStore, title: String, using layer: any FileLayer = PosixFileLayer()) {
        self.images = images
        self.title = title
        self.layer = layer
    }

    /// Writes `index.html` and what it needs into a folder, which is made when it is not there and else is empty or holds
    /// an earlier gallery.
    ///
    /// - Parameters:
    ///   - items: what is shown, in this order.
    ///   - folder: the folder's path.
    ///   - replaces: whether files that no gallery wrote may be replaced.
    ///   - progress: told after each item how many are done; what it throws ends the work, and there is no page then.
    /// - Returns: what was written. A picture that cannot be read is no error: its item is shown without.
    /// - Throws: `FileError` when a file cannot be written, or the folder holds something else; `StoreError` for an item that was removed.
    ///   O(n), and a decoding for each picture.
    public func write(
        _ items: [Item], to folder: String, replaces: Bool = false, progress: (Int) throws -> Void = { _ in }
    ) throws -> Summary {
        var summary = Summary()
        try layer.makeDirectories(folder)
        if !replaces { try checkOwner(of: folder) }
        // It claims the folder: the next gallery may go over what an interrupted one left.
        try write(Array(GalleryStyle.css.utf8), "gallery.css", in: folder)
        var custom: Set<String> = []
        var entries: [Entry] = []
        var pictures: [GalleryPicture?] = []
        for item in items {
            var entry = Entry(values: [:])
            let names = try item.customFieldNames
            custom.formUnion(names)
            for name in Self.domain + names {
                if let value = try item.value(forField: name) { entry.values[name] = GalleryValue(value) }
            }
            pictures.append(
                images.pictureFile(forKey: try item.itemKey).map {
                    GalleryPicture($0, number: entries.count + 1, folder: folder, layer: layer)
                })
            entries.append(entry)
        }
        let work = pictures
        for kind in [GalleryPicture.pictures, GalleryPicture.thumbnails] where work.contains(where: { $0 != nil }) {
            try layer.makeDirectories(PathText.join(folder, kind))
        }
        // Nearly all of the time goes here.
        try ParallelWork.forEach(work.count) { number in
            ImageLibrary.besideOthers { work[number]?.write() }
        } consume: { number, result in
            if let picture = work[number] {
                switch result {
                case .success:
                    entries[number].picture = "\(GalleryPicture.pictures)/\(picture.name)"
                    entries[number].thumbnail = "\(GalleryPicture.thumbnails)/\(picture.name)"
                    summary.pictures += 1
                case .failure(let error):
                    if error.code == .unwritable, let fileError = error.fileError { throw fileError }
                    summary.failures[picture.file.key] = error.message
                case nil: break
                }
            }
            try progress(number + 1)
        }
        summary.items = entries.count
        let contents = Contents(fields: Self.domain + custom.sorted(), items: entries)
        try write(try javaScript(contents), "items.js", in: folder)
        try write(Array(GalleryScript.javaScript.utf8), "gallery.js", in: folder)
        // The page comes last: it is there when all that it needs is.
        try write(Array(GalleryPage.html(title: title).utf8), "index.html", in: folder)
        summary.page = PathText.join(folder, "index.html")
        return summary
    }

    /// Refuses a folder that holds something else than a gallery: pages and pictures of others are not written over.
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

    private static let domain = ["name", "serialNumber", "valueInDollars", "dateCreated", "itemKey"]

    private func javaScript(_ contents: Contents) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = String(decoding: try encoder.encode(contents), as: UTF8.self)
        // As a text: in an object that JavaScript itself reads, a field __proto__ would be no field.
        return Array("window.gallery = JSON.parse(".utf8) + Array(try encoder.encode(json)) + Array(");\n".utf8)
    }

    private func write(_ bytes: [UInt8], _ name: String, in folder: String) throws(FileError) {
        try FileTarget.write(bytes, to: PathText.join(folder, name), using: layer, durable: false)
    }
}
