import Images
import Items
import Logging
import Lua
import Scripting

/// `item.image` and `item.images`.
struct ItemPictures {
    private unowned let host: ScriptHost
    private let images: ImageClasses

    init(_ host: ScriptHost, _ images: ImageClasses) { (self.host, self.images) = (host, images) }

    func declare(on cls: LuaClass<Item>) {
        cls.property(
            "image",
            "The image under its key, the first of images. Assigning replaces it; nil removes it, and the next becomes the first. Assigning a picture that failed to open in the same line is an error, and the old image stays.",
            get: { item -> Image? in
                let key = try item.itemKey
                return images.store.hasImage(forKey: key) ? try images.store.image(forKey: key) : nil
            },
            set: { [self] item, image in
                let key = try item.itemKey
                if let image { return try images.store.setImage(image, forKey: key) }
                if try meansRemoval(item) { try images.store.deleteImage(forKey: key) }
            })
        cls.property(
            "images", .optional(.array(Image.luaType)),
            "A copy of its images, in order. Assigning an array replaces all of them; stored images, of this or other items, keep their bytes. nil or an empty array removes all.",
            set: { [self] item, call in
                let key = try item.itemKey
                if call.isNil(0) {
                    if try meansRemoval(item) { try images.store.setImages([], forKey: key) }
                    return
                }
                let pictures: PictureArray
                do throws(LuaMismatch) { pictures = try PictureArray(lua: call.value(0)) } catch {
                    throw images.failureToOpen() ?? error
                }
                try images.store.setImages(pictures.images, forKey: key)
            }
        ) { [self] item, call in
            call.returns(try images.store.images(forKey: item.itemKey).luaValue(in: host.state))
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
    let images: [Image]

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
        var images: [Image] = []
        var place: Int64 = 1
        while place <= last {
            let element = table[LuaValue.integer(place)]
            if element.isNil {
                throw LuaMismatch(
                    "element \(place): Image expected, got nil, and \(last) is the last: an array has no holes")
            }
            do throws(LuaMismatch) { images.append(try Image(lua: element)) } catch {
                throw LuaMismatch("element \(place): \(error.message)")
            }
            place += 1
        }
        self.images = images
    }
}
