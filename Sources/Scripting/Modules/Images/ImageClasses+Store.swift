import Images
import Lua
import Wording

extension ImageClasses {
    func declareThumbnails(_ host: ScriptHost) {
        let image = image
        let size = LuaParameter("size", .optional(.integer), "pixels a side; 40 if not given")
        let radius = LuaType.optional(
            .options([LuaParameter("cornerRadius", .number, "in pixels; an eighth of the size if not given")]))
        images.method(
            "thumbnail",
            [
                LuaParameter("key", .text, "a file name of at most 255 bytes: an item's key, say"),
                size, LuaParameter("options", radius, "how it looks"),
            ],
            returns: LuaType.orError(.object("Image")),
            "The picture in a small square with rounded corners, filled from its middle, kept in Library/Caches.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) images:setImage(picture, \"cover\") return images:thumbnail(\"cover\", 16).width"
        ) { store, call in
            let (size, radius) = try Self.thumbnailOptions(call)
            return try Self.keyed(call, 0) {
                call.returns(
                    try store.thumbnail(forKey: try call.text(0), size: size, cornerRadius: radius), image)
            }
        }
        images.method(
            "prepareThumbnails",
            [
                LuaParameter("keys", .array(.text), "the pictures' keys: images:keys(), say"),
                size, LuaParameter("options", radius, "how they look"),
            ],
            returns: [.table],
            "Makes the thumbnails of many pictures that are not there yet, on all processors; images:thumbnail then reads a small file. Why there is none, by key: empty when all are there.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) images:setImage(picture, \"cover\") return next(images:prepareThumbnails({ \"cover\" }, 16))"
        ) { [unowned host] store, call in
            let (size, radius) = try Self.thumbnailOptions(call)
            let given = try call.table(0)
            var keys: [String] = []
            for index in 1..<(given.count + 1) {
                let value = given[index]
                guard let key = value.textValue else {
                    throw call.refuse(0, "an array of keys expected, got \(value.typeName.withArticle) at \(index)")
                }
                keys.append(key)
            }
            return try Self.keyed(call, 0) {
                let work = try LongWork("Making thumbnails", total: keys.count, on: host)
                defer { work.finish() }
                let failures = try store.prepareThumbnails(
                    forKeys: keys, size: size, cornerRadius: radius, progress: work.step)
                let table = call.state.makeTable()
                for (key, error) in failures { table[key] = .text(error.message) }
                return call.returns(LuaValue.table(table))
            }
        }
    }

    /// The size and the radius of a thumbnail.
    private static func thumbnailOptions(_ call: LuaCall) throws -> (size: Int, radius: Double?) {
        let size = try call.optional(1, call.integer) ?? 40
        guard (1...4096).contains(size) else { throw call.refuse(1, "a size from 1 to 4096 expected, got \(size)") }
        let radius = try call.option("cornerRadius", of: 2).numberValue
        if let radius, !(0...Double(size) / 2).contains(radius) {
            throw call.refuse(2, "option 'cornerRadius': 0 to half of the size expected, got \(radius)")
        }
        return (Int(size), radius)
    }

    func declareCache() {
        images.integer("cacheCount", "Pictures in the cache.", get: { Int64($0.cacheCount) })
        images.integer("cacheCost", "Bytes in the cache.", get: { Int64($0.cacheCost) })
        images.integer(
            "cacheLimit", "Bytes that the cache may hold.", get: { Int64($0.cacheLimit) },
            set: { $0.cacheLimit = Int(max($1, 0)) })
        images.integer("cacheHits", "How often a picture was in the cache.", get: { Int64($0.cacheHits) })
        images.integer("cacheMisses", "How often a picture was not in the cache.", get: { Int64($0.cacheMisses) })
        images.boolean(
            "flushesInBackground", "Whether entering the background flushes the cache, too.",
            get: { $0.flushesInBackground }, set: { $0.flushesInBackground = $1 })
    }

    func declareLimits() {
        images.integer(
            "pixelLimit", "The most pixels of a picture; one that has more is refused before it is decoded.",
            get: { Int64($0.limits.pixels) },
            set: { $0.limits.pixels = try Self.positive($1, "images.pixelLimit", most: ImageLimits.mostPixels) })
        images.integer(
            "byteLimit", "The most bytes of a picture's file; one that has more is refused before it is read.",
            get: { Int64($0.limits.bytes) },
            set: { $0.limits.bytes = try Self.positive($1, "images.byteLimit", most: Int(Int32.max)) })
    }

    private static func positive(_ value: Int64, _ name: String, most: Int) throws -> Int {
        guard (1...Int64(most)).contains(value) else {
            throw LuaError(.argument, "bad value for '\(name)' (1 to \(most) expected, got \(value))")
        }
        return Int(value)
    }
}
