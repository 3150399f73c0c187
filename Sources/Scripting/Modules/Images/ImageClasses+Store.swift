import Images
import Lua

extension ImageClasses {
    func declareThumbnails(_ host: ScriptHost) {
        images.method(
            "thumbnail",
            [
                "key": LuaArgument(Self.keyText), "size": "the side in pixels (default: 40)",
                "options": "options of the thumbnail",
            ],
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
            returns: [.table],
            "Creates the missing thumbnails of many pictures, on all processors; images:thumbnail then reads a small file. Returns the failures' messages by key, empty if there are none.",
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

    func declareCache() {
        images.integer("cacheCount", "The number of pictures in the cache.", get: { Int64($0.cacheCount) })
        images.integer("cacheCost", "The size of the cache in bytes.", get: { Int64($0.cacheCost) })
        images.integer(
            "cacheLimit", "The maximum size of the cache in bytes.", get: { Int64($0.cacheLimit) },
            set: { $0.cacheLimit = Int(max($1, 0)) })
        images.integer("cacheHits", "The number of cache hits.", get: { Int64($0.cacheHits) })
        images.integer("cacheMisses", "The number of cache misses.", get: { Int64($0.cacheMisses) })
        images.boolean(
            "flushesInBackground", "Whether entering the background flushes the cache.",
            get: { $0.flushesInBackground }, set: { $0.flushesInBackground = $1 })
    }

    func declareLimits() {
        images.integer(
            "pixelLimit", "The maximum number of pixels of a picture; a larger one is refused before it is decoded.",
            get: { Int64($0.limits.pixels) },
            set: { $0.limits.pixels = try Self.positive($1, "images.pixelLimit", most: ImageLimits.mostPixels) })
        images.integer(
            "byteLimit", "The maximum size of a picture's file in bytes; a larger one is refused before it is read.",
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
