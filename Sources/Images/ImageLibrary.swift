import CImaging
import CPlatform

/// The Swift interface of libvips: bytes in, bytes out, errors as text.
package enum ImageLibrary {
    /// The input: a file's bytes, or pixels.
    enum Source {
        /// A file, with its upright size if it is known.
        case encoded([UInt8], width: Int = 0, height: Int = 0)
        case pixels(ImagePixels)
        /// An SVG document that this program has made, to be drawn enlarged by a factor.
        case drawing(String, scale: Double)
    }

    /// The output.
    struct Output {
        var width: Int
        var height: Int
        var channels: Int
        var bytes: [UInt8]
        /// What the decoder says of damage; nil for none.
        var damage: String?
    }

    enum Kind {
        /// Quality 1 to 100.
        case jpeg(quality: Int)
        case png
        /// RGB over a grey background, 0 to 255, reduced to 256 colours if requested.
        case rgb(background: UInt8, isReduced: Bool)
        case pixels
    }

    /// Runs a function on this thread in parallel with others that process pictures.
    package static func concurrently<Value>(_ body: () -> Value) -> Value {
        cimaging_set_concurrent(1)
        defer { cimaging_set_concurrent(0) }
        return body()
    }

    /// Width and height, upright, without decoding.
    static func measure(_ bytes: [UInt8], limits: ImageLimits) throws(ImageError) -> (width: Int, height: Int) {
        var result = cimaging_result()
        let status = withSource(.encoded(bytes), limits) { cimaging_measure(&$0, &result) }
        try check(status, result, limits: limits)
        return (Int(result.width), Int(result.height))
    }

    /// The fields of the EXIF segment with libvips's names (`ifd0-Make`) and texts, and the segment in hexadecimal digits as
    /// `data`, without decoding.
    static func exif(_ bytes: [UInt8], limits: ImageLimits) throws(ImageError) -> [(name: String, text: String)] {
        var result = cimaging_result()
        let status = withSource(.encoded(bytes), limits) { cimaging_exif(&$0, &result) }
        try check(status, result, limits: limits)
        defer { cimaging_free(result.bytes) }
        let parts = UnsafeRawBufferPointer(start: result.bytes, count: result.length).split(
            separator: 0, omittingEmptySubsequences: false
        ).map { String(decoding: $0, as: UTF8.self) }
        return stride(from: 0, to: parts.count - 1, by: 2).map { (parts[$0], parts[$0 + 1]) }
    }

    /// Decodes, turns upright, resizes, converts to sRGB and encodes.
    static func render(
        _ source: Source, _ sizing: ImageSizing?, as kind: Kind, metadata: ImageMetadata.Preserved = .nothing,
        limits: ImageLimits
    ) throws(ImageError) -> Output {
        var request = cimaging_request()
        if let sizing {
            let pixels = min(Int64(limits.pixels), max(cubby_work_capacity() / 4, 0))
            guard (1...65535).contains(sizing.width), (1...65535).contains(sizing.height),
                Int64(sizing.width) * Int64(sizing.height) <= pixels
            else {
                throw ImageError(
                    .cannotMake,
                    "a picture cannot be made \(sizing.width)×\(sizing.height): each side is 1 to 65535 pixels, all "
                        + "together at most \(pixels)")
            }
            request.width = Int32(sizing.width)
            request.height = Int32(sizing.height)
            request.mode =
                switch sizing.mode {
                case .fit: CIMAGING_FIT
                case .fill: CIMAGING_FILL
                case .stretch: CIMAGING_STRETCH
                }
        }
        switch kind {
        case .jpeg(let quality):
            request.output = CIMAGING_JPEG
            request.quality = Int32(min(max(quality, 1), 100))
        case .png: request.output = CIMAGING_PNG
        case .rgb(let background, let isReduced):
            request.output = CIMAGING_RGB
            request.background = Int32(background)
            request.is_reduced = isReduced ? 1 : 0
        case .pixels: request.output = CIMAGING_PIXELS
        }
        request.metadata =
            switch metadata {
            case .nothing: CIMAGING_NO_METADATA
            case .withoutLocation: CIMAGING_EXIF_WITHOUT_PLACE
            case .everything: CIMAGING_ALL_METADATA
            }
        var result = cimaging_result()
        cimaging_set_stop(cubby_work_is_stopped)
        defer { cimaging_set_stop(nil) }
        let status = withSource(source, limits) { cimaging_render(&$0, &request, &result) }
        try check(status, result, limits: limits)
        defer { cimaging_free(result.bytes) }
        return Output(
            width: Int(result.width), height: Int(result.height), channels: Int(result.bands),
            bytes: [UInt8](UnsafeRawBufferPointer(start: result.bytes, count: result.length)),
            damage: result.message.0 == 0 ? nil : words(of: result))
    }

    private static func withSource(
        _ source: Source, _ limits: ImageLimits, _ body: (inout cimaging_source) -> cimaging_status
    ) -> cimaging_status {
        var raw = cimaging_source()
        // Four bytes per pixel of the memory that a script may still use.
        raw.pixel_limit = min(Int64(limits.pixels), max(cubby_work_capacity() / 4, 0))
        let bytes: [UInt8]
        switch source {
        case .encoded(let file, let width, let height):
            bytes = file
            raw.width = Int32(clamping: width)
            raw.height = Int32(clamping: height)
        case .pixels(let pixels):
            bytes = pixels.bytes
            raw.width = Int32(pixels.width)
            raw.height = Int32(pixels.height)
            raw.bands = Int32(pixels.channels)
        case .drawing(let text, let scale):
            bytes = Array(text.utf8)
            raw.drawing_scale = scale
        }
        return bytes.withUnsafeBytes { buffer in
            raw.bytes = buffer.baseAddress
            raw.length = buffer.count
            return body(&raw)
        }
    }

    private static func check(
        _ status: cimaging_status, _ result: cimaging_result, limits: ImageLimits
    ) throws(ImageError) {
        switch status {
        case CIMAGING_OK: return
        case CIMAGING_LIBRARY_MISSING:
            throw ImageError(
                .libraryMissing, "this needs libvips (on Debian: apt-get install libvips42): \(words(of: result))")
        case CIMAGING_TOO_MANY_PIXELS:
            throw .tooManyPixels(width: Int(result.width), height: Int(result.height), limits: limits)
        case CIMAGING_UNREADABLE:
            throw ImageError(.damaged, "the picture cannot be decoded: \(words(of: result))")
        default:
            throw ImageError(.cannotMake, "the picture cannot be made: \(words(of: result))")
        }
    }

    /// The first line of the library's message; later lines are consequences.
    private static func words(of result: cimaging_result) -> String {
        withUnsafeBytes(of: result.message) { buffer in
            let line = buffer.prefix { $0 != 0 && $0 != UInt8(ascii: "\n") }
            return line.isEmpty ? "the library does not say why" : String(decoding: line, as: UTF8.self)
        }
    }
}

extension ImageError {
    static func tooManyPixels(width: Int, height: Int, limits: ImageLimits) -> ImageError {
        ImageError(.tooManyPixels, "the picture is \(width)×\(height) pixels, more than the limit of \(limits.pixels)")
    }
}

/// The fonts that drawings have for their texts. A drawing without them has empty places where its texts would be.
package enum InstalledFonts {
    /// The characters of a text that no installed font has, each once. None where it is not known: without fontconfig, which
    /// the part of libvips that draws needs itself.
    ///
    /// - Parameter text: in any script.
    /// - Returns: the characters, in the order of their code points.
    /// - Throws: `ImageError` with `fontMissing` where no font is installed.
    package static func missingCharacters(in text: String) throws(ImageError) -> [Unicode.Scalar] {
        let shown = Set(text.unicodeScalars).filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator: false
            default: !scalar.properties.isDefaultIgnorableCodePoint
            }
        }
        var characters = shown.map(\.value).sorted()
        var count = characters.count
        switch cimaging_find_characters(&characters, &count) {
        case CIMAGING_FONTS: return characters.prefix(count).compactMap { Unicode.Scalar($0) }
        case CIMAGING_NO_FONT:
            throw ImageError(
                .fontMissing,
                "no font is installed, and the picture would have no text (on Debian: apt-get install fonts-dejavu-core)"
            )
        default: return []
        }
    }
}
