/// A PNG file's size, from its chunks (ISO/IEC 15948).
enum PNGHeader {
    static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    /// Reads the headers of the chunks; nil when they are invalid, and for files with EXIF, which libvips reads.
    static func read(_ bytes: [UInt8]) -> ImageHeader? {
        let file = HeaderBytes(bytes[...])
        guard file.has(signature, at: 0), file.int32(8) == 13, file.has("IHDR".utf8, at: 12),
            let width = file.int32(16), let height = file.int32(20), width > 0, height > 0,
            width < 1 << 31, height < 1 << 31
        else { return nil }
        var header = ImageHeader(width: width, height: height, isComplete: false)
        var position = 8
        while let length = file.int32(position), position + 12 + length <= bytes.count {
            if file.has("eXIf".utf8, at: position + 4) { return nil }
            if file.has("IEND".utf8, at: position + 4) {
                header.isComplete = true
                break
            }
            position += 12 + length
        }
        return header
    }

    /// The number of chunks with texts, each of which libvips keeps and copies with every step of its work.
    static func textCount(_ bytes: [UInt8]) -> Int {
        let file = HeaderBytes(bytes[...])
        var (position, count) = (8, 0)
        while let length = file.int32(position), position + 12 + length <= bytes.count {
            if ["tEXt", "zTXt", "iTXt"].contains(where: { file.has($0.utf8, at: position + 4) }) { count += 1 }
            position += 12 + length
        }
        return count
    }
}
