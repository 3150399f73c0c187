import Images
import Lua

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
