/// The formats of pictures, detected by the first bytes and not by the file's name.
public enum ImageFormat: String, Sendable, Hashable, CaseIterable {
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
    public var displayName: String {
        self == .webp ? "WebP" : rawValue.uppercased()
    }

    /// Detects the format of a file's bytes; nil when it is unknown.
    public init?(firstBytes bytes: some Collection<UInt8>) {
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
