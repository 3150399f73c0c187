public import Application
import FoundationEssentials
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

    /// The longest side of a picture in the gallery, in pixels.
    public static let pictureSize = 1600
    /// The side of a thumbnail, in pixels: 120 points on a screen of twice the density.
    public static let thumbnailSize = 240

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

    /// Writes `index.html` and what it needs into a folder, which is made when it is not there; files of an earlier
    /// gallery are replaced, others left alone.
    ///
    /// - Parameters:
    ///   - items: what is shown, in this order.
    ///   - folder: the folder's path.
    ///   - progress: told after each item how many are done; what it throws ends the work, and there is no page then.
    /// - Returns: what was written. A picture that cannot be read is no error: its item is shown without.
    /// - Throws: `FileError` when a file cannot be written; `StoreError` for an item that was removed.
    ///   O(n), and a decoding for each picture.
    public func write(_ items: [Item], to folder: String, progress: (Int) throws -> Void = { _ in }) throws -> Summary {
        var summary = Summary()
        try layer.makeDirectories(folder)
        var custom: Set<String> = []
        var entries: [Entry] = []
        for item in items {
            var entry = Entry(values: [:])
            let names = try item.customFieldNames
            custom.formUnion(names)
            for name in Self.domain + names {
                if let value = try item.value(forField: name) { entry.values[name] = GalleryValue(value) }
            }
            try addPicture(of: item, to: &entry, in: folder, &summary)
            entries.append(entry)
            try progress(entries.count)
        }
        summary.items = entries.count
        let contents = Contents(fields: Self.domain + custom.sorted(), items: entries)
        try write(try javaScript(contents), "items.js", in: folder)
        try write(Array(GalleryStyle.css.utf8), "gallery.css", in: folder)
        try write(Array(GalleryScript.javaScript.utf8), "gallery.js", in: folder)
        // The page comes last: it is there when all that it needs is.
        try write(Array(GalleryPage.html(title: title).utf8), "index.html", in: folder)
        summary.page = PathText.join(folder, "index.html")
        return summary
    }

    private static let domain = ["name", "serialNumber", "valueInDollars", "dateCreated", "itemKey"]

    private func addPicture(
        of item: Item, to entry: inout Entry, in folder: String, _ summary: inout Summary
    ) throws {
        let key = try item.itemKey
        guard images.hasImage(forKey: key) else { return }
        do throws(ImageError) {
            let file = try images.uncachedImage(forKey: key)
            let name = Self.fileName(key, summary.pictures)
            let side = Self.pictureSize
            let isLarge = file.width > side || file.height > side
            // What the store keeps holds no metadata as a rule, and would only lose by another coding.
            let picture =
                isLarge
                ? try file.jpegData(quality: 0.8, sizing: ImageSizing(width: side, height: side))
                : try whole(file)
            let thumbnail = try file.jpegData(
                quality: 0.7,
                sizing: ImageSizing(width: Self.thumbnailSize, height: Self.thumbnailSize, mode: .fill))
            for (kind, bytes) in [("pictures", picture), ("thumbnails", thumbnail)] {
                do throws(FileError) {
                    let directory = PathText.join(folder, kind)
                    try layer.makeDirectories(directory)
                    try AtomicFile.write(bytes, to: PathText.join(directory, name), using: layer, durable: false)
                } catch {
                    throw ImageError(.unwritable, error)
                }
            }
            entry.picture = "pictures/" + name
            entry.thumbnail = "thumbnails/" + name
            summary.pictures += 1
        } catch {
            if error.code == .unwritable, let fileError = error.fileError { throw fileError }
            summary.failures[key] = error.message
        }
    }

    private func whole(_ file: Image) throws(ImageError) -> [UInt8] {
        if let bytes = file.bareJPEG { return bytes }
        return try file.jpegData(quality: 0.8)
    }

    /// A name that is one in a URL as well: keys that are not plain get a number.
    private static func fileName(_ key: String, _ number: Int) -> String {
        let isPlain = key.utf8.allSatisfy {
            switch $0 {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: true
            default: false
            }
        }
        return (isPlain ? key : "picture-\(number + 1)") + ".jpg"
    }

    private func javaScript(_ contents: Contents) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = Array(try encoder.encode(contents))
        return Array("window.gallery = ".utf8) + json + Array(";\n".utf8)
    }

    private func write(_ bytes: [UInt8], _ name: String, in folder: String) throws(FileError) {
        try AtomicFile.write(bytes, to: PathText.join(folder, name), using: layer, durable: false)
    }
}
