import Files
import Glibc

/// The formats of pictures, detected by the first bytes and not by the file's name.
package enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    /// JPEG.
    case jpeg
    /// PNG.
    case png
    /// WebP.
    case webp
    /// HEIC.
    case heic
    /// AVIF.
    case avif
    /// GIF, of which the first picture is read.
    case gif
    /// TIFF, of which the first picture is read.
    case tiff

    /// The name for display: `JPEG`, `WebP`.
    package var displayName: String {
        self == .webp ? "WebP" : rawValue.uppercased()
    }

    /// Detects the format of a file's bytes; nil when it is unknown.
    package init?(firstBytes bytes: some Collection<UInt8>) {
        let first = Array(bytes.prefix(32))
        func has(_ text: String, at offset: Int = 0) -> Bool { first.dropFirst(offset).starts(with: text.utf8) }
        if first.starts(with: [0xff, 0xd8, 0xff]) {
            self = .jpeg
        } else if first.starts(with: PNGHeader.signature) {
            self = .png
        } else if has("RIFF") && has("WEBP", at: 8) {
            self = .webp
        } else if has("GIF87a") || has("GIF89a") {
            self = .gif
        } else if first.starts(with: [0x49, 0x49, 0x2a, 0]) || first.starts(with: [0x4d, 0x4d, 0, 0x2a]) {
            self = .tiff
        } else if has("ftyp", at: 4) {
            guard let format = Self.format(ofBrands: first.dropFirst(8)) else { return nil }
            self = format
        } else {
            return nil
        }
    }

    /// The format by the major brand of the ISO base media format; general brands are resolved by the compatible
    /// brands, which follow a version.
    private static func format(ofBrands bytes: ArraySlice<UInt8>) -> ImageFormat? {
        switch String(decoding: bytes.prefix(4), as: UTF8.self) {
        case "heic", "heix", "hevc", "hevx", "heim", "heis": .heic
        case "avif", "avis": .avif
        case "mif1", "msf1": String(decoding: bytes.dropFirst(8), as: UTF8.self).contains("avi") ? .avif : .heic
        default: nil
        }
    }
}

/// The header of a picture, parsed here for the two commonest formats, so that a picture's size needs neither decoding
/// nor libvips.
struct ImageHeader: Equatable {
    /// Upright, in pixels.
    var width: Int
    var height: Int
    /// EXIF's orientation, 1 to 8.
    var orientation = 1
    /// Whether the file has its end marker, so that it is not truncated.
    var isComplete: Bool
    /// Whether the file has more than the picture and its colours: EXIF, XMP, comments.
    var hasMetadata = false

    /// Swaps width and height if the orientation requires it.
    mutating func turnUpright() {
        if (5...8).contains(orientation) { swap(&width, &height) }
    }
}

/// Reads numbers from bytes, which may be too few.
struct HeaderBytes {
    let bytes: ArraySlice<UInt8>
    var isLittleEndian = false

    init(_ bytes: ArraySlice<UInt8>, isLittleEndian: Bool = false) {
        self.bytes = bytes
        self.isLittleEndian = isLittleEndian
    }

    func byte(_ offset: Int) -> UInt8? {
        offset >= 0 && offset < bytes.count ? bytes[bytes.startIndex + offset] : nil
    }

    func int16(_ offset: Int) -> Int? { number(offset, length: 2) }

    func int32(_ offset: Int) -> Int? { number(offset, length: 4) }

    func has(_ expected: some Collection<UInt8>, at offset: Int) -> Bool {
        offset >= 0 && offset <= bytes.count && bytes.dropFirst(offset).starts(with: expected)
    }

    private func number(_ offset: Int, length: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - length else { return nil }
        let part = bytes[(bytes.startIndex + offset)..<(bytes.startIndex + offset + length)]
        return isLittleEndian
            ? part.reversed().reduce(0) { $0 << 8 | Int($1) } : part.reduce(0) { $0 << 8 | Int($1) }
    }
}

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
                orientation = EXIFSegment(segment)?.orientation ?? orientation
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

/// The fields of EXIF that are read here: the orientation, which needs no libvips, and values for which libvips has prose.
struct EXIFSegment {
    private let file: HeaderBytes
    /// The offset of the first directory.
    private let first: Int

    /// Reads a JPEG's APP1 segment without its marker and length; nil for another one.
    init?(_ segment: HeaderBytes) {
        guard segment.has(Array("Exif\0\0".utf8), at: 0) else { return nil }
        let tiff = segment.bytes.dropFirst(6)
        let isLittleEndian = tiff.starts(with: "II".utf8)
        guard isLittleEndian || tiff.starts(with: "MM".utf8) else { return nil }
        file = HeaderBytes(tiff, isLittleEndian: isLittleEndian)
        guard file.int16(2) == 42, let directory = file.int32(4) else { return nil }
        first = directory
    }

    /// 1 to 8; nil when there is none.
    var orientation: Int? {
        guard let entry = entry(0x0112, in: first), file.int16(entry + 2) == 3 else { return nil }
        return file.int16(entry + 8).flatMap { (1...8).contains($0) ? $0 : nil }
    }

    /// 1 for an altitude below the sea.
    var altitudeReference: Int64? {
        guard let entry = entry(5, in: directory(0x8825)), file.int16(entry + 2) == 1 else { return nil }
        return file.byte(entry + 8).map { Int64($0) }
    }

    /// A comment in UTF-16.
    var unicodeComment: String? {
        guard let entry = entry(0x9286, in: directory(0x8769)), let count = file.int32(entry + 4), count > 8,
            let offset = file.int32(entry + 8), file.has(Array("UNICODE\0".utf8), at: offset)
        else { return nil }
        let units = stride(from: offset + 8, to: offset + count - 1, by: 2).compactMap(file.int16)
        guard units.count == (count - 8) / 2 else { return nil }
        return String(decoding: units.map { UInt16($0) }.prefix { $0 != 0 }, as: UTF16.self)
    }

    private func directory(_ tag: Int) -> Int? { entry(tag, in: first).flatMap { file.int32($0 + 8) } }

    /// The offset of a field's entry in a directory.
    private func entry(_ tag: Int, in directory: Int?) -> Int? {
        guard let directory, let count = file.int16(directory) else { return nil }
        return (0..<count).lazy.map { directory + 2 + $0 * 12 }.first { file.int16($0) == tag }
    }
}

/// The metadata of a picture: the fields of EXIF 2.3 by their standard names, such as `DateTimeOriginal`.
package struct ImageMetadata: Sendable, Hashable {
    /// A field's value, by its EXIF type.
    package enum Value: Sendable, Hashable {
        /// A text.
        case text(String)
        /// A whole number.
        case integer(Int64)
        /// A number, such as a fraction.
        case number(Double)
        /// Several numbers, such as degrees, minutes and seconds.
        case numbers([Double])
    }

    /// The metadata to keep in an output file.
    package enum Preserved: Sendable, Hashable {
        /// None of it.
        case nothing
        /// EXIF without the place and without fields that may contain it: maker's notes, comments, a thumbnail.
        case withoutLocation
        /// All of it.
        case everything
    }

    /// The fields by name. A field of both the picture and its thumbnail is the picture's.
    package let fields: [String: Value]
    /// The fields whose values cannot be read, such as texts that are not UTF-8.
    package let unread: [String]

    /// Degrees north and east, if the file has a place.
    package var location: (latitude: Double, longitude: Double)? {
        guard let latitude, let longitude else { return nil }
        return (latitude, longitude)
    }
    private let latitude: Double?
    private let longitude: Double?

    /// - Parameter fields: libvips's names and texts: `ifd2-FNumber`, `28/10 (f/2.8, Rational, 1 components, 8 bytes)`; and as
    ///   `data` the segment in hexadecimal digits.
    init(fields: [(name: String, text: String)]) {
        var values: [String: Value] = [:]
        var unread: [String] = []
        let data = fields.last.flatMap { field in
            field.name == "data" ? [UInt8](hexadecimal: field.text, count: field.text.utf8.count / 2) : nil
        }
        let segment = data.flatMap { EXIFSegment(HeaderBytes($0[...])) }
        for (name, text) in fields {
            guard let dash = name.firstIndex(of: "-") else { continue }
            let key = String(name[name.index(after: dash)...])
            let exact: Value? =
                switch key {
                case "GPSAltitudeRef": segment?.altitudeReference.map(Value.integer)
                case "UserComment": segment?.unicodeComment.map(Value.text)
                default: nil
                }
            guard let value = exact ?? Self.value(text) else {
                unread.append(key)
                continue
            }
            // Directory 1 belongs to the thumbnail.
            if name.hasPrefix("ifd1"), values[key] != nil { continue }
            values[key] = value
        }
        (self.fields, self.unread) = (values, unread)
        latitude = Self.degrees(values["GPSLatitude"], values["GPSLatitudeRef"], negative: "S", limit: 90)
        longitude = Self.degrees(values["GPSLongitude"], values["GPSLongitudeRef"], negative: "W", limit: 180)
    }

    /// `value (display form, Type, n components, m bytes)`; the first two are free text for the type ASCII.
    private static func value(_ text: String) -> Value? {
        guard let components = text.range(backwards: ", "), let typed = text[..<components].range(backwards: ", "),
            let kind = text[..<typed].range(backwards: ", ")
        else { return nil }
        let type = text[text.index(kind, offsetBy: 2)..<typed]
        let both = text[..<kind]
        let numbers =
            type == "ASCII" || type == "Undefined"
            ? []
            : both[..<(both.range(forwards: " (") ?? both.endIndex)].split(separator: " ").map {
                Self.number($0, isUnsigned: type == "Long")
            }
        // Bytes may hold a text, such as Windows' titles, and 0/0 is no number.
        guard !numbers.isEmpty, !numbers.contains(where: { $0 == nil }) else {
            // The value and its display form are equal in texts, separated by " (".
            let length = (both.count - 2) / 2
            let first = both.prefix(length)
            let value =
                both.dropFirst(length).hasPrefix(" (") ? first : both[..<(both.range(forwards: " (") ?? both.endIndex)]
            // A comment in a coding that libvips does not read.
            return value.hasPrefix("Unsupported ") && type == "Undefined" ? nil : .text(String(value))
        }
        if numbers.count > 1 { return .numbers(numbers.compactMap { $0 }) }
        guard let single = numbers[0] else { return nil }
        return type.hasSuffix("Rational")
            ? .number(single) : Int64(exactly: single).map(Value.integer) ?? .number(single)
    }

    /// `28/10` or `100`; nil for a denominator of zero. Libvips writes an unsigned number of 32 bits as a signed one.
    private static func number(_ text: Substring, isUnsigned: Bool) -> Double? {
        let parts = text.split(separator: "/", maxSplits: 1)
        guard let first = parts.first, let numerator = Double(first) else { return nil }
        guard parts.count == 2 else { return isUnsigned && numerator < 0 ? numerator + 0x1p32 : numerator }
        guard let denominator = Double(parts[1]), denominator != 0 else { return nil }
        return numerator / denominator
    }

    private static func degrees(_ value: Value?, _ reference: Value?, negative: String, limit: Double) -> Double? {
        guard case .numbers(let parts) = value, parts.count == 3 else { return nil }
        let degrees = parts[0] + parts[1] / 60 + parts[2] / 3600
        guard degrees <= limit else { return nil }
        if case .text(let letter) = reference, letter.hasPrefix(negative) { return -degrees }
        return degrees
    }
}

extension StringProtocol {
    /// The index of a text's first occurrence.
    fileprivate func range(forwards text: String) -> Index? { firstRange(of: text)?.lowerBound }

    /// The index of a text's last occurrence.
    fileprivate func range(backwards text: String) -> Index? {
        var found: Index?
        var rest = self[...]
        while let range = rest.firstRange(of: text) {
            found = range.lowerBound
            rest = rest[range.upperBound...]
        }
        return found
    }
}
