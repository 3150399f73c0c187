import Application
import Files
import Images
import Logging
import Lua

/// `images`, `image` and the class of pictures.
final class ImageClasses {
    let store: ImageStore
    let image: LuaClass<Image>
    let images: LuaClass<ImageStore>
    let module: LuaModule

    /// The latest failure to open a picture, with its place in the script; see `failureToOpen`.
    private var failure: (place: String, error: any Error)?

    var storeValue: LuaValue { images.value(store) }

    init(_ host: ScriptHost) {
        let state = host.state
        store = host.images
        image = Self.makeImageClass(in: host)
        images = LuaClass<ImageStore>("images", "The image store: pictures by key, JPEG files in Documents.", in: state)
        module = LuaModule("image", "Pictures: JPEG, PNG, WebP, HEIC, GIF and TIFF come in, upright.", in: state)
        declareStore(host)
        declareModule(host)
    }

    private static func makeImageClass(in host: ScriptHost) -> LuaClass<Image> {
        let cls = LuaClass<Image>("Image", "A picture.", in: host.state)
        cls.integer("width", "In pixels, upright.", get: { Int64($0.width) })
        cls.integer("height", "In pixels, upright.", get: { Int64($0.height) })
        cls.optionalText("format", "jpeg, png, …; nil for one that was made.", get: { $0.format?.rawValue })
        cls.method(
            "jpegData",
            [
                LuaParameter("quality", .optional(.number), "0 to 1; 0.5 if not given"),
                LuaParameter(
                    "options",
                    .optional(
                        .options([
                            LuaParameter("metadata", .boolean, "keep EXIF, but not the place"),
                            LuaParameter("location", .boolean, "keep all, the place, too"),
                        ])), "what is kept of the file's metadata; nothing if not given"),
            ],
            returns: LuaType.orError(.string),
            "The picture as a JPEG file's bytes, without metadata unless it is asked for.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) return #picture:jpegData(0.8)"
        ) { picture, call in
            let quality = try call.optional(0, call.number) ?? 0.5
            guard (0...1).contains(quality) else {
                throw call.refuse(0, "a quality from 0 to 1 expected, got \(quality)")
            }
            let kept: ImageMetadata.Kept =
                try call.option("location", of: 1).isTruthy
                ? .everything : try call.option("metadata", of: 1).isTruthy ? .withoutLocation : .nothing
            return try attempt(call) {
                call.returns(LuaString(try picture.jpegData(quality: quality, metadata: kept)))
            }
        }
        cls.property(
            "exif", .optional(.table),
            "What the camera wrote, by EXIF's names: text, numbers, arrays of numbers, and latitude and longitude in degrees; nil, and a warning why, when it can't be read."
        ) { [unowned host] picture, call in
            do throws(ImageError) {
                return call.returns(LuaValue.table(exif(try picture.metadata(), call.state)))
            } catch {
                // A property has one value, so the reason is logged.
                host.logger.warning("\(error.message)")
                return call.returns(LuaValue.nil)
            }
        }
        cls.method(
            "pngData", returns: LuaType.orError(.string), "The picture as a PNG file's bytes.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) return #picture:pngData()"
        ) { picture, call in
            try attempt(call) { call.returns(LuaString(try picture.pngData())) }
        }
        cls.method(
            "resized",
            [
                LuaParameter("width", .integer, "the most, in pixels"),
                LuaParameter("height", .integer, "the most, in pixels"),
            ],
            returns: LuaType.orError(.object("Image")),
            "A copy that fits into so many pixels, in its own proportions.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) return picture:resized(4, 4).width"
        ) { picture, call in
            let (width, height) = (try call.integer(0), try call.integer(1))
            for (position, length) in [width, height].enumerated() where !(1...65_535).contains(length) {
                throw call.refuse(position, "a length from 1 to 65535 expected, got \(length)")
            }
            return try attempt(call) { call.returns(try picture.resized(width: Int(width), height: Int(height)), cls) }
        }
        cls.method(
            "show", "Draws the picture in the terminal; nothing elsewhere.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) picture:show()"
        ) { [unowned host] picture, call in
            host.activeFrontEnd?.show(picture)
            return call.returnsNothing()
        }
        cls.metamethod("__tostring") { picture, call in
            let kilobytes = (picture.byteCount + 500) / 1000
            let format = picture.format?.displayName ?? "picture"
            return call.returns("\(picture.width)×\(picture.height) \(format), \(kilobytes) kB")
        }
        return cls
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

    /// Failures become nil and an error.
    private static func attempt(_ call: LuaCall, _ body: () throws -> LuaResults) throws -> LuaResults {
        do { return try body() } catch let error as ImageError {
            if error.code == .badKey { throw call.refuse(error.path == nil ? 0 : 1, error.message) }
            return call.returns(failure: error)
        }
    }

    private func declareStore(_ host: ScriptHost) {
        let image = image
        let key = LuaParameter("key", .text, "a file name of at most 255 bytes: an item's key, say")
        images.method(
            "setImage",
            [
                LuaParameter("image", .object("Image"), "the picture"), key,
                LuaParameter(
                    "options", .optional(.options([LuaParameter("quality", .number, "0 to 1; 0.5 if not given")])),
                    "how it is stored"),
            ], returns: LuaType.orError(.boolean), "Stores a picture under a key, as JPEG; true, or nil and an error.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) return images:setImage(picture, \"cover\", { quality = 0.8 })"
        ) { store, call in
            let quality = try call.option("quality", of: 2).numberValue ?? 0.5
            guard (0...1).contains(quality) else {
                throw call.refuse(2, "option 'quality': 0 to 1 expected, got \(quality)")
            }
            return try Self.keyed(call, 1) {
                try store.setImage(try call.object(0, image), forKey: try call.text(1), quality: quality)
                return call.returns(true)
            }
        }
        images.method(
            "image", [key], returns: LuaType.orError(.object("Image")), "The picture under a key, or nil.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) images:setImage(picture, \"cover\") return images:image(\"cover\").width"
        ) {
            store, call in
            try Self.keyed(call, 0) { call.returns(try store.image(forKey: try call.text(0)), image) }
        }
        images.method(
            "deleteImage", [key], returns: LuaType.orError(.boolean),
            "Removes the picture under a key; harmless when there is none. nil and an error when its file cannot be removed.",
            example: "return images:deleteImage(\"cover\")"
        ) {
            store, call in
            try Self.keyed(call, 0) {
                try store.deleteImage(forKey: try call.text(0))
                return call.returns(true)
            }
        }
        images.method(
            "imagePath", [key], returns: LuaType.orError(.string), "Where the picture under a key is kept.",
            example: "return images:imagePath(\"cover\")"
        ) { store, call in
            try Self.keyed(call, 0) { call.returns(try store.imagePath(forKey: try call.text(0))) }
        }
        declareThumbnails(host)
        images.method(
            "keys", returns: LuaType.orError(.array(.text)), "The keys of all pictures, sorted.",
            example: "return #images:keys()"
        ) { store, call in
            try Self.keyed(call, 0) { call.returns(array: try store.keys()) }
        }
        images.method(
            "clearCache", "Flushes the cache; the files stay.", example: "images:clearCache() return images.cacheCount"
        ) { store, call in
            store.clearCache()
            return call.returnsNothing()
        }
        declareCache()
        declareLimits()
        images.declareGlobalObject()
        images.metamethod("__tostring") { store, call in call.returns("images (\((try? store.keys().count) ?? 0))") }
    }

    /// An invalid key is the script's fault; other failures become nil and an error.
    static func keyed(_ call: LuaCall, _ position: Int, _ body: () throws -> LuaResults) throws -> LuaResults {
        do { return try body() } catch let error as ImageError {
            if error.code == .badKey { throw call.refuse(position, error.message) }
            return call.returns(failure: error)
        }
    }

    private func declareModule(_ host: ScriptHost) {
        module.function(
            "open", [LuaParameter("path", .text, "the file's")], returns: LuaType.orError(.object("Image")),
            "Reads a picture from a file; nil and an error when it can't be read.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) fs.write(app.container.tmp .. \"/a.png\", picture:pngData()) return image.open(app.container.tmp .. \"/a.png\").format"
        ) { [unowned host, unowned self] call in
            let path = try call.text(0)
            return try opened(call) {
                try host.askConsent(path, .read)
                return try Image.open(path, limits: host.images.limits, using: host.fence.layer)
            }
        }
        module.function(
            "fromData", [LuaParameter("bytes", .union([.string, .object("data")]), "those of a picture's file")],
            returns: LuaType.orError(.object("Image")),
            "The picture of a file's bytes; nil and an error when they are none.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) return picture.width"
        ) { [unowned host, unowned self] call in
            let bytes = try call.optionalObject(0, host.values.datas)?.bytes ?? call.bytes(0)
            return try opened(call) { try Image(bytes: bytes, limits: host.images.limits) }
        }
    }

    private func opened(_ call: LuaCall, _ body: () throws -> Image) throws -> LuaResults {
        failure = nil
        do { return call.returns(try body(), image) } catch {
            guard error is ImageError || error is FileError else { throw error }
            failure = call.place(ofLevel: 1).map { ($0, error) }
            return call.returns(failure: error)
        }
    }

    /// The error when a script assigns nil to an item's picture because opening failed in the same line: `item.image =
    /// image.open(path)`. Nil when the assignment is meant to remove the picture.
    func failureToOpen(_ call: LuaCall) -> (any Error)? {
        defer { failure = nil }
        guard let failure, call.place(ofLevel: 1) == failure.place else { return nil }
        return failure.error
    }

    /// Forgets the latest failure.
    func forgetFailure() { failure = nil }
}
