import Application
import Files
import Gallery
import Images
import Items
import Logging
import Lua
package import Scripting

/// `images`, `image` and the pictures of items.
package enum ImageModule: ScriptModule {
    package static let name = "images"
    package static let needs = ["items"]

    package static func declare(in host: ScriptHost) throws -> [Global] {
        let classes = ImageClasses(host)
        ItemPictures(host, classes).declare(on: try host.declaredClass(of: Item.self))
        GalleryBinding.declare(on: try host.declaredClass(of: ItemQuery.self), host)
        return [("images", classes.images.value(classes.store)), classes.module.global]
    }
}

/// The classes of pictures and their store.
final class ImageClasses {
    private unowned let host: ScriptHost
    let store: ImageStore
    let images: LuaClass<ImageStore>
    let module: LuaModule

    /// The latest failure to open a picture, with its chunk and its place in it; see `failureToOpen`.
    private var failure: (chunk: Int, place: String, error: any Error)?

    init(_ host: ScriptHost) {
        self.host = host
        let state = host.state
        store = host.images
        Self.declareImageClass(in: host)
        images = LuaClass<ImageStore>(
            "images", doc: "The image store: pictures by key, JPEG files in Documents.", in: state)
        module = LuaModule("image", doc: "Pictures, turned upright: JPEG, PNG, WebP, HEIC, GIF and TIFF.", in: state)
        declareStore()
        declareModule()
    }

    private static func declareImageClass(in host: ScriptHost) {
        let cls = LuaClass<BitmapImage>(BitmapImage.luaName, doc: "A picture.", in: host.state)
        cls.integer("width", doc: "In pixels, upright.", get: { Int64($0.width) })
        cls.integer("height", doc: "In pixels, upright.", get: { Int64($0.height) })
        cls.property("format", doc: "jpeg, png, …; nil for a generated picture.", get: { $0.format?.rawValue })
        cls.method(
            "jpegData",
            [
                "quality": "0 to 1 (default: 0.5)",
                "options": "the metadata to keep (default: none)",
            ],
            doc: "The picture as a JPEG file's bytes, by default without metadata.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) return #picture:jpegData(0.8)"
        ) { (picture, quality: Double?, options: PreservedMetadata) in
            let quality = quality ?? 0.5
            guard (0...1).contains(quality) else {
                throw LuaMismatch("a quality from 0 to 1 expected, got \(quality)", argument: "quality")
            }
            return try OrError(returning: ImageError.self) {
                LuaString(try picture.jpegData(quality: quality, metadata: options.preserved))
            }
        }
        cls.property(
            "exif",
            doc:
                "The camera's metadata by EXIF name: text, numbers, arrays of numbers, and latitude and longitude in degrees; a fraction without a denominator is a text. Fields that cannot be read are named in the log; nil and a logged warning if none can.",
            get: { [unowned host] picture -> LuaTable? in
                do throws(ImageError) {
                    let metadata = try picture.metadata()
                    if !metadata.unread.isEmpty {
                        let names = metadata.unread.map { VisibleText.line($0) }.joined(separator: ", ")
                        host.logger.warning("picture.exif leaves out \(names): the value cannot be read as text")
                    }
                    return exif(metadata, host.state)
                } catch {
                    // A property returns a single value, so the reason is logged.
                    host.logger.warning("\(error.message)")
                    return nil
                }
            })
        cls.method(
            "pngData", doc: "The picture as a PNG file's bytes.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) return #picture:pngData()"
        ) { picture in try OrError(returning: ImageError.self) { LuaString(try picture.pngData()) } }
        cls.method(
            "resized", ["width": "the maximum, in pixels", "height": "the maximum, in pixels"],
            doc: "A copy that fits into a width and a height, with the same aspect ratio.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) return picture:resized(4, 4).width"
        ) { (picture, width: Int, height: Int) in
            for (name, length) in [("width", width), ("height", height)] where !(1...65_535).contains(length) {
                throw LuaMismatch("a length from 1 to 65535 expected, got \(length)", argument: name)
            }
            return try OrError(returning: ImageError.self) { try picture.resized(width: width, height: height) }
        }
        cls.method(
            "show", doc: "Draws the picture in a terminal; otherwise does nothing.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) picture:show()"
        ) { [unowned host] picture -> Void in host.activeFrontEnd?.show(picture) }
        cls.metamethod("__tostring") { picture, call in
            let count = picture.byteCount
            let size = count < 1000 ? count.counted("byte") : "\((count + 500) / 1000) kB"
            let format = picture.format?.displayName ?? "picture"
            return call.returns("\(picture.width)×\(picture.height) \(format), \(size)")
        }
    }

    private static func exif(_ metadata: ImageMetadata, _ state: LuaState) -> LuaTable {
        let table = state.makeTable()
        for (name, value) in metadata.fields {
            switch value {
            case .text(let text): table[name] = .text(text)
            case .integer(let number): table[name] = .integer(number)
            case .number(let number): table[name] = .number(number)
            case .numbers(let numbers):
                table[name] = numbers.luaValue(in: state)
            }
        }
        if let (latitude, longitude) = metadata.location {
            table["latitude"] = .number(latitude)
            table["longitude"] = .number(longitude)
        }
        return table
    }

    /// The metadata that `jpegData` keeps.
    private struct PreservedMetadata: LuaOptions {
        var metadata = false
        var location = false

        static var luaOptions: [LuaOption<PreservedMetadata>] {
            LuaOption("metadata", \.metadata, doc: "keep EXIF without the location")
            LuaOption("location", \.location, doc: "keep all metadata, including the location")
        }

        var preserved: ImageMetadata.Preserved { location ? .everything : metadata ? .withoutLocation : .nothing }
    }

    private func declareStore() {
        let key: LuaArguments = ["key": LuaArgument(Self.keyText)]
        images.method(
            "setImage", ["image": "the picture", "key": LuaArgument(Self.keyText), "options": "how to store it"],
            doc: "Stores a picture under a key, as JPEG; true, or nil and an error.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) return images:setImage(picture, \"cover\", { quality = 0.8 })"
        ) { (store, image: BitmapImage, key: String, options: Quality) in
            if let quality = options.quality, !(0...1).contains(quality) {
                throw LuaMismatch("option 'quality': 0 to 1 expected, got \(quality)", argument: "options")
            }
            return try Self.keyed {
                try store.setImage(image, forKey: key, quality: options.quality)
                return true
            }
        }
        images.method(
            "image", key, doc: "The picture under a key, or nil.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) images:setImage(picture, \"cover\") return images:image(\"cover\").width"
        ) { (store, key: String) in try Self.keyed { try store.image(forKey: key) } }
        images.method(
            "deleteImage", key,
            doc: "Removes the picture under a key, if there is one; nil and an error if its file cannot be removed.",
            example: "return images:deleteImage(\"cover\")"
        ) { (store, key: String) in
            try Self.keyed {
                try store.deleteImage(forKey: key)
                return true
            }
        }
        images.method(
            "imagePath", key, doc: "The path of the picture under a key.",
            example: "return images:imagePath(\"cover\")"
        ) { (store, key: String) in try Self.keyed { try store.imagePath(forKey: key) } }
        declareThumbnails()
        images.method("keys", doc: "The keys of all pictures, sorted.", example: "return #images:keys()") { store in
            try Self.keyed { try store.keys() }
        }
        images.method(
            "clearCache", doc: "Flushes the cache; the files stay.",
            example: "images:clearCache() return images.cacheCount"
        ) { $0.clearCache() }
        declareCache()
        declareLimits()
        images.declareGlobalObject()
        images.metamethod("__tostring") { store, call in call.returns("images (\((try? store.keys().count) ?? 0))") }
    }

    static let keyText = "a file name of at most 255 bytes, such as an item's key"

    /// Options of `setImage`.
    private struct Quality: LuaOptions {
        var quality: Double?

        static var luaOptions: [LuaOption<Quality>] {
            LuaOption("quality", \.quality, doc: "0 to 1 (default: 0.5, and a stored picture keeps its bytes)")
        }
    }

    /// An invalid key is the script's fault; other failures are the result.
    static func keyed<Value>(argument: String = "key", _ body: () throws -> Value) throws -> OrError<Value> {
        do { return .success(try body()) } catch let error as ImageError {
            if error.code == .badKey { throw LuaMismatch(error.message, argument: argument) }
            return .failure(error)
        }
    }

    private func declareModule() {
        module.function(
            "open", ["path": "the file's path"],
            doc: "Reads a picture from a file; nil and an error if it cannot be read.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) fs.write(app.container.tmp .. \"/a.png\", picture:pngData()) return image.open(app.container.tmp .. \"/a.png\").format"
        ) { [self] (path: String) in
            try opened {
                try host.askConsent(path, .read)
                return try BitmapImage.open(path, limits: host.images.limits, using: host.fence.layer)
            }
        }
        module.function(
            "fromData", ["bytes": "the bytes of a picture's file"],
            doc: "Reads a picture from a file's bytes; nil and an error if they are not a picture.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) return picture.width"
        ) { [self] (bytes: BytesArgument) in
            try opened { try BitmapImage(bytes: bytes.bytes, limits: host.images.limits) }
        }
    }

    private func opened(_ body: () throws -> BitmapImage) throws -> OrError<BitmapImage> {
        failure = nil
        do { return .success(try body()) } catch  where error is ImageError || error is FileError {
            failure = host.state.place(ofLevel: 1).map { (host.chunkCount, $0, error) }
            return .failure(error)
        }
    }

    /// The error when a script assigns nil to an item's picture because opening failed in the same line: `item.image =
    /// image.open(path)`. Nil when the assignment is meant to remove the picture.
    func failureToOpen() -> (any Error)? {
        defer { failure = nil }
        guard let failure, failure.chunk == host.chunkCount, host.state.place(ofLevel: 1) == failure.place else {
            return nil
        }
        return failure.error
    }
}

extension ImageClasses {
    private func declareThumbnails() {
        images.method(
            "thumbnail",
            [
                "key": LuaArgument(Self.keyText), "size": "the side in pixels (default: 40)",
                "options": "options of the thumbnail",
            ],
            doc:
                "A small square thumbnail with rounded corners, cropped to the picture's centre, cached in Library/Caches.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) images:setImage(picture, \"cover\") return images:thumbnail(\"cover\", 16).width"
        ) { (store, key: String, size: Int?, options: Corners) in
            let (size, radius) = try options.checked(size)
            return try Self.keyed { try store.thumbnail(forKey: key, size: size, cornerRadius: radius) }
        }
        images.method(
            "prepareThumbnails",
            [
                "keys": "the pictures' keys, such as images:keys()", "size": "the side in pixels (default: 40)",
                "options": "options of the thumbnails",
            ],
            returns: LuaType.orError(.table),
            doc:
                "Creates the missing thumbnails of many pictures, on all processors; images:thumbnail then reads a small file. Returns the failures' messages by key, empty if there are none.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) images:setImage(picture, \"cover\") return next(images:prepareThumbnails({ \"cover\" }, 16))"
        ) { [unowned host] (store, keys: [String], size: Int?, options: Corners) in
            let (size, radius) = try options.checked(size)
            return try Self.keyed(argument: "keys") {
                let work = try LongWork("Making thumbnails", total: keys.count, in: host.runtime)
                defer { work.finish() }
                let failures = try store.prepareThumbnails(
                    forKeys: keys, size: size, cornerRadius: radius, progress: work.step)
                let table = host.state.makeTable(fields: failures.count)
                for (key, failure) in failures { table[key] = .text(failure.message) }
                return table
            }
        }
    }

    /// The shape of a thumbnail's corners.
    private struct Corners: LuaOptions {
        var radius: Double?

        static var luaOptions: [LuaOption<Corners>] {
            LuaOption("cornerRadius", \.radius, doc: "in pixels (default: an eighth of the size)")
        }

        /// The size and the radius.
        func checked(_ size: Int?) throws(LuaMismatch) -> (size: Int, radius: Double?) {
            let size = size ?? 40
            guard (1...4096).contains(size) else {
                throw LuaMismatch("a size from 1 to 4096 expected, got \(size)", argument: "size")
            }
            if let radius, !(0...Double(size) / 2).contains(radius) {
                throw LuaMismatch(
                    "option 'cornerRadius': 0 to half of the size expected, got \(radius)", argument: "options")
            }
            return (size, radius)
        }
    }

    private func declareCache() {
        images.integer("cacheCount", doc: "The number of pictures in the cache.", get: { Int64($0.cacheCount) })
        images.integer("cacheCost", doc: "The size of the cache in bytes.", get: { Int64($0.cacheCost) })
        images.integer(
            "cacheLimit", doc: "The maximum size of the cache in bytes.", get: { Int64($0.cacheLimit) },
            set: { $0.cacheLimit = try Self.checked($1, "images.cacheLimit", 0...Int.max) })
        images.integer("cacheHits", doc: "The number of cache hits.", get: { Int64($0.cacheHits) })
        images.integer("cacheMisses", doc: "The number of cache misses.", get: { Int64($0.cacheMisses) })
        images.property(
            "flushesInBackground", doc: "Whether entering the background flushes the cache.",
            get: { $0.flushesInBackground }, set: { $0.flushesInBackground = $1 })
    }

    private func declareLimits() {
        images.integer(
            "pixelLimit",
            doc: "The maximum number of pixels of a picture; a larger one is refused before it is decoded.",
            get: { Int64($0.limits.pixels) },
            set: { $0.limits.pixels = try Self.checked($1, "images.pixelLimit", 1...ImageLimits.mostPixels) })
        images.integer(
            "byteLimit",
            doc: "The maximum size of a picture's file in bytes; a larger one is refused before it is read.",
            get: { Int64($0.limits.bytes) },
            set: { $0.limits.bytes = try Self.checked($1, "images.byteLimit", 1...Int(Int32.max)) })
    }

    private static func checked(_ value: Int64, _ name: String, _ range: ClosedRange<Int>) throws -> Int {
        guard range.contains(Int(value)) else {
            let (least, most) = (range.lowerBound, range.upperBound)
            let expected = most == .max ? "\(least) or more" : "\(least) to \(most)"
            throw LuaError(.argument, "bad value for '\(name)' (\(expected) expected, got \(value))")
        }
        return Int(value)
    }
}

/// `query:gallery(dir)`: a page of items and pictures.
enum GalleryBinding {
    static func declare(on queries: LuaClass<ItemQuery>, _ host: ScriptHost) {
        queries.method(
            "gallery",
            [
                "folder": "the page's folder: created if missing, otherwise empty or an earlier gallery's",
                "options": "options of the page",
            ],
            returns: LuaType.orError(.table),
            doc:
                "Writes an offline page with the items' pictures and fields, search, sort and totals: open its index.html. "
                + "A terminal shows a progress bar. Returns a table with page, items, pictures, removedFiles (of an earlier gallery) and failures (messages by key), or nil and an error.",
            example: "return items:query():gallery(app.container.tmp .. \"/gallery\").items"
        ) { [unowned host] (value, folder: String, options: Page) in
            try OrError(returning: FileError.self) {
                try host.askConsent(folder, .readWrite)
                try host.fence.check(folder, .readWrite)
                let gallery = WebGallery(images: host.images, title: options.title, using: host.fence.layer)
                let items = try value.all()
                let work = try LongWork("Writing", total: items.count, in: host.runtime)
                defer { work.finish() }
                let summary = try gallery.write(items, to: folder, replaces: options.replace, progress: work.step)
                return host.state.makeTable([
                    "page": summary.page, "items": summary.items, "pictures": summary.pictures,
                    "removedFiles": summary.removedFiles,
                    "failures": summary.failures,
                ])
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

/// `item.image` and `item.images`.
struct ItemPictures {
    private unowned let host: ScriptHost
    private let images: ImageClasses

    init(_ host: ScriptHost, _ images: ImageClasses) { (self.host, self.images) = (host, images) }

    func declare(on cls: LuaClass<Item>) {
        cls.property(
            "image",
            doc:
                "The image under its key, the first of images. Assigning replaces it; nil removes it, and the next becomes the first. Assigning a picture that failed to open in the same line is an error, and the old image stays.",
            get: { item -> BitmapImage? in
                let key = try item.itemKey
                return images.store.hasImage(forKey: key) ? try images.store.image(forKey: key) : nil
            },
            set: { [self] item, image in
                let key = try item.itemKey
                if let image { return try images.store.setImage(image, forKey: key) }
                if try meansRemoval(item), AttachmentKey.isKey(key) { try images.store.deleteImage(forKey: key) }
            })
        cls.property(
            "images", .optional(.array(BitmapImage.luaType)),
            doc:
                "A copy of its images, in order. Assigning an array replaces all of them; stored images, of this or other items, keep their bytes. nil or an empty array removes all.",
            set: { [self] item, call in
                let key = try item.itemKey
                if call.isNil(0) {
                    if try meansRemoval(item), AttachmentKey.isKey(key) { try images.store.setImages([], forKey: key) }
                    return
                }
                let pictures: PictureArray
                do throws(LuaMismatch) { pictures = try PictureArray(lua: call.value(0)) } catch {
                    throw images.failureToOpen() ?? error
                }
                if pictures.images.isEmpty, !AttachmentKey.isKey(key) { return }
                try images.store.setImages(pictures.images, forKey: key)
            }
        ) { [self] item, call in
            let key = try item.itemKey
            // One that cannot be a file's name has none: assigning one is refused.
            let pictures = AttachmentKey.isKey(key) ? try images.store.images(forKey: key) : []
            return call.returns(pictures.luaValue(in: host.state))
        }
    }

    /// Whether nil was assigned to remove a picture, rather than because opening one failed in the same line.
    private func meansRemoval(_ item: Item) throws -> Bool {
        guard let failure = images.failureToOpen() else { return true }
        if try images.store.hasImage(forKey: item.itemKey) { throw failure }
        let name = try item.label
        host.logger.warning("\(name) gets no picture: \(failure)")
        return false
    }
}

/// An array of pictures without holes. The length operator alone would omit the elements after a hole.
struct PictureArray {
    let images: [BitmapImage]

    /// - Throws: `LuaMismatch` with the first element that is not a picture.
    init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .table(let table) = value else {
            throw LuaMismatch("array of Image expected, got \(value.typeName)")
        }
        var last: Int64 = 0
        var other: LuaValue?
        do {
            try table.forEach { key, _ in
                guard case .integer(let place) = key, place > 0 else {
                    other = key
                    return false
                }
                last = max(last, place)
                return true
            }
        } catch { throw LuaMismatch("\(error)") }
        if let other { throw LuaMismatch("array of Image expected, got a table with the key \(other)") }
        var images: [BitmapImage] = []
        var place: Int64 = 1
        while place <= last {
            let element = table[LuaValue.integer(place)]
            if element.isNil {
                throw LuaMismatch(
                    "element \(place): Image expected, got nil, and \(last) is the last: an array has no holes")
            }
            do throws(LuaMismatch) { images.append(try BitmapImage(lua: element)) } catch {
                throw LuaMismatch("element \(place): \(error.message)")
            }
            place += 1
        }
        self.images = images
    }
}
