import Glibc

/// A JPEG file's size and orientation, from its markers (ITU T.81, annex B).
enum JPEGHeader {
    /// Reads the markers up to the first scan; nil when they are invalid.
    static func read(_ bytes: [UInt8]) -> ImageHeader? {
        let file = HeaderBytes(bytes[...])
        guard file.int16(0) == 0xffd8 else { return nil }
        var header: ImageHeader?
        var orientation = 1
        var hasMetadata = false
        var position = 2
        while let mark = file.byte(position), let kind = file.byte(position + 1) {
            guard mark == 0xff else { return nil }
            switch kind {
            case 0xff:
                position += 1
                continue
            case 0x01, 0xd0...0xd7:
                position += 2
                continue
            case 0x00, 0xd8, 0xd9: return nil
            default: break
            }
            guard let length = file.int16(position + 2), length >= 2 else { return nil }
            let end = position + 2 + length
            guard end <= bytes.count else { return nil }
            let segment = HeaderBytes(bytes[(position + 4)..<end])
            switch kind {
            case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
                // A second frame means a hierarchical JPEG, which no reader supports.
                guard header == nil, let height = segment.int16(1), let width = segment.int16(3), width > 0, height > 0
                else { return nil }
                header = ImageHeader(width: width, height: height, isComplete: false)
            case 0xe1:
                hasMetadata = true
                orientation = EXIFOrientation.inSegment(segment) ?? orientation
            // All segments except JFIF's, the colour profile's and Adobe's; and comments.
            case 0xe3...0xed, 0xef, 0xfe: hasMetadata = true
            case 0xda:
                header?.orientation = orientation
                header?.hasMetadata = hasMetadata
                header?.turnUpright()
                header?.isComplete = hasEnd(bytes, after: end)
                return header
            default: break
            }
            position = end
        }
        return nil
    }

    /// The number of scans. A progressive file may have any number, each of which is work for all of its pixels: a few
    /// bytes of a scan refine nothing in millions of blocks.
    static func scanCount(_ bytes: [UInt8]) -> Int {
        var count = 0
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            var place = 0
            while place + 1 < bytes.count, let found = memchr(start + place, 0xFF, bytes.count - place - 1) {
                place = UnsafeRawPointer(found) - start
                if bytes[place + 1] == 0xDA { count += 1 }
                place += 1
            }
        }
        return count
    }

    /// Whether the end marker follows, searched from the file's end.
    private static func hasEnd(_ bytes: [UInt8], after start: Int) -> Bool {
        var index = bytes.count - 1
        while index > start {
            if bytes[index] == 0xd9 && bytes[index - 1] == 0xff { return true }
            index -= 1
        }
        return false
    }
}
