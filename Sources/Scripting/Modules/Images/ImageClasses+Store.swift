import Images
import Lua

extension ImageClasses {
    func declareThumbnails(_ host: ScriptHost) {
        images.method(
            "thumbnail",
            [
                "key": LuaArgument(Self.keyText), "size": "pixels a side; 40 if not given",
                "options": "how it looks",
            ],
            "The picture in a small square with rounded corners, filled from its middle, kept in Library/Caches.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) images:setImage(picture, \"cover\") return images:thumbnail(\"cover\", 16).width"
        ) { (store, key: String, size: Int?, options: Corners) in
            let (size, radius) = try options.checked(size)
            return try Self.keyed { try store.thumbnail(forKey: key, size: size, cornerRadius: radius) }
        }
        images.method(
            "prepareThumbnails",
            [
                "keys": "the pictures' keys: images:keys(), say", "size": "pixels a side; 40 if not given",
                "options": "how they look",
            ],
            returns: [.table],
            "Makes the thumbnails of many pictures that are not there yet, on all processors; images:thumbnail then reads a small file. Why there is none, by key: empty when all are there.",
            example:
                "local picture = assert(image.fromData(data.fromBase64(\"R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=\"))) images:setImage(picture, \"cover\") return next(images:prepareThumbnails({ \"cover\" }, 16))"
        ) { [unowned host] (store, keys: [String], size: Int?, options: Corners) in
            let (size, radius) = try options.checked(size)
            return try Self.keyed(argument: "keys") {
                let work = try LongWork("Making thumbnails", total: keys.count, on: host)
                defer { work.finish() }
                return try store.prepareThumbnails(
                    forKeys: keys, size: size, cornerRadius: radius, progress: work.step
                ).mapValues(\.message)
            }
        }
    }

    /// The shape of a thumbnail's corners.
    private struct Corners: LuaOptions {
        var radius: Double?

        static var luaOptions: [LuaOption<Corners>] {
            LuaOption("cornerRadius", \.radius, doc: "in pixels; an eighth of the size if not given")
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
