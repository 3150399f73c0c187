package import Files
import Items
@_exported import Wording

/// A picture: the bytes of a file, decoded on first access to the pixels, or pixels in memory.
///
/// Its size and format come from the header. All output is upright and in sRGB. JPEG and PNG files can be held,
/// measured and passed on without libvips, which is loaded on first use otherwise.
public final class BitmapImage: Sendable {
    /// Upright, in pixels.
    public let width: Int
    /// Upright, in pixels.
    public let height: Int
    /// The format of the picture's file; nil for a picture made in memory, for example by resizing.
    package let format: ImageFormat?
    /// The memory of the picture in bytes.
    package let byteCount: Int

    /// Whether these are the bytes of a picture in a store, which must not be encoded again.
    let isStored: Bool
    private let source: ImageLibrary.Source
    private let limits: ImageLimits

    /// Reads a picture from a file.
    ///
    /// - Parameters:
    ///   - path: the file; its name does not determine the format.
    ///   - limits: the limits.
    /// - Returns: the picture.
    /// - Throws: `ImageError` when the file cannot be read or `init(bytes:limits:)` refuses its bytes.
    public static func open(_ path: String, limits: ImageLimits = ImageLimits()) throws(ImageError) -> BitmapImage {
        try open(path, limits: limits, using: PosixFileLayer())
    }

    /// The same in a file system; `isStored` is for a picture of an ``ImageStore``.
    package static func open(
        _ path: String, limits: ImageLimits, using layer: any FileLayer, isStored: Bool = false
    ) throws(ImageError) -> BitmapImage {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try layer.contents(of: path, limit: limits.bytes)
        } catch {
            throw ImageError(error.code == FileLayerCode.tooLarge ? .tooManyBytes : .unreadable, error)
        }
        do throws(ImageError) {
            return isStored
                ? try BitmapImage(stored: bytes, limits: limits) : try BitmapImage(bytes: bytes, limits: limits)
        } catch {
            throw ImageError(error.code, error.message, path: path)
        }
    }

    /// Makes a picture of a file's bytes.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - limits: the limits.
    /// - Throws: `ImageError` for an unknown format, truncated bytes, or a picture beyond the limits.
    public init(bytes: [UInt8], limits: ImageLimits = ImageLimits()) throws(ImageError) {
        let (format, width, height) = try Self.header(of: bytes, limits)
        (self.format, self.width, self.height, self.limits, isStored) = (format, width, height, limits, false)
        source = .encoded(bytes, width: width, height: height)
        byteCount = bytes.count
    }

    /// Makes a picture of a store's bytes.
    init(stored bytes: [UInt8], limits: ImageLimits) throws(ImageError) {
        let (format, width, height) = try Self.header(of: bytes, limits)
        (self.format, self.width, self.height, self.limits, isStored) = (format, width, height, limits, true)
        source = .encoded(bytes, width: width, height: height)
        byteCount = bytes.count
    }

    private static func header(
        of bytes: [UInt8], _ limits: ImageLimits
    ) throws(ImageError) -> (ImageFormat, width: Int, height: Int) {
        guard bytes.count <= limits.bytes else {
            throw ImageError(
                .tooManyBytes, "the picture has \(bytes.count) bytes, more than the limit of \(limits.bytes)")
        }
        guard let format = ImageFormat(firstBytes: bytes) else {
            throw ImageError(
                .notAPicture,
                bytes.isEmpty
                    ? "not a picture: there are no bytes"
                    : "not a picture in a format that is read: JPEG, PNG, WebP, HEIC, AVIF, GIF or TIFF")
        }
        let (width, height) = try measure(bytes, format, limits)
        guard width <= limits.pixels / height else {
            throw .tooManyPixels(width: width, height: height, limits: limits)
        }
        try checkWork(bytes, format, pixels: width * height, limits)
        return (format, width, height)
    }

    /// Refuses a file that is many times the work of its pixels, in libvips and so in one step.
    private static func checkWork(
        _ bytes: [UInt8], _ format: ImageFormat, pixels: Int, _ limits: ImageLimits
    ) throws(ImageError) {
        switch format {
        case .jpeg:
            // Ten are usual. Small pictures may have more, and the largest as many as are usual.
            let count = JPEGHeader.scanCount(bytes)
            if count > 12, pixels > limits.pixels * 12 / count {
                throw ImageError(
                    .tooManyPixels,
                    "the picture is stored in \(count) scans of \(pixels) pixels: save it again with fewer")
            }
        case .png:
            let count = PNGHeader.textCount(bytes)
            if count > 1000 {
                throw ImageError(
                    .tooManyBytes, "the picture has \(count) texts beside its pixels, more than the limit of 1000")
            }
        default: break
        }
    }

    /// Makes a picture of pixels.
    ///
    /// - Parameters:
    ///   - pixels: the pixels.
    ///   - limits: the limits of pictures made from it.
    package init(pixels: ImagePixels, limits: ImageLimits = ImageLimits()) {
        width = pixels.width
        height = pixels.height
        format = nil
        isStored = false
        byteCount = pixels.bytes.count
        source = .pixels(pixels)
        self.limits = limits
    }

    /// Draws an SVG document that this program has made. Documents of others are not read.
    ///
    /// - Parameters:
    ///   - document: the text of the document, with its size.
    ///   - scale: the pixels of the picture by those of the document.
    ///   - limits: the limits of the picture.
    /// - Throws: `ImageError` with `libraryMissing` where libvips, or its part for SVG, is not installed; `tooManyPixels`.
    package convenience init(
        drawing document: String, scale: Double = 1, limits: ImageLimits = ImageLimits()
    ) throws(ImageError) {
        let output = try ImageLibrary.render(.drawing(document, scale: scale), nil, as: .pixels, limits: limits)
        self.init(pixels: try Self.pixels(of: output), limits: limits)
    }

    private static func measure(
        _ bytes: [UInt8], _ format: ImageFormat, _ limits: ImageLimits
    ) throws(ImageError) -> (Int, Int) {
        let header: ImageHeader? =
            switch format {
            case .jpeg: JPEGHeader.read(bytes)
            case .png: PNGHeader.read(bytes)
            default: nil
            }
        guard let header else { return try ImageLibrary.measure(bytes, limits: limits) }
        guard header.isComplete else {
            throw ImageError(.damaged, "the \(format.displayName) picture is cut short: its end is missing")
        }
        return (header.width, header.height)
    }

    // MARK: - Output

    /// The unchanged bytes of a JPEG file; nil otherwise.
    var encodedJPEG: [UInt8]? {
        guard format == .jpeg, case .encoded(let bytes, _, _) = source else { return nil }
        return bytes
    }

    /// The unchanged bytes of an upright JPEG file without metadata; nil otherwise.
    package var bareJPEG: [UInt8]? {
        guard let bytes = encodedJPEG, let header = JPEGHeader.read(bytes), !header.hasMetadata else { return nil }
        return bytes
    }

    /// The metadata of the picture's file: camera, time, place. Empty for pixels and for a file without metadata.
    ///
    /// - Throws: `ImageError` when libvips is missing, or the file cannot be opened.
    package func metadata() throws(ImageError) -> ImageMetadata {
        guard case .encoded(let bytes, _, _) = source else { return ImageMetadata(fields: []) }
        return ImageMetadata(fields: try ImageLibrary.exif(bytes, limits: limits))
    }

    /// The picture as a JPEG file; transparency becomes white.
    ///
    /// - Parameters:
    ///   - quality: 0 (smallest) to 1 (best); other values are clamped.
    ///   - sizing: the size of the output; cheaper than resizing first.
    /// - Returns: the file's bytes, without metadata, which may have the place of a home.
    /// - Throws: `ImageError` when the picture cannot be decoded or encoded.
    public func jpegData(quality: Double = 0.5, sizing: ImageSizing? = nil) throws(ImageError) -> [UInt8] {
        try jpegData(quality: quality, sizing: sizing, metadata: .nothing)
    }

    /// The same with the metadata to keep.
    package func jpegData(
        quality: Double = 0.5, sizing: ImageSizing? = nil, metadata: ImageMetadata.Preserved
    ) throws(ImageError) -> [UInt8] {
        try jpeg(quality, sizing, metadata).bytes
    }

    /// The same, and what the decoder says of damage in the picture's file; nil for none.
    func jpeg(
        _ quality: Double, _ sizing: ImageSizing? = nil, _ metadata: ImageMetadata.Preserved = .nothing
    ) throws(ImageError) -> (bytes: [UInt8], damage: String?) {
        let percent = quality.isNaN ? 50 : Int((min(max(quality, 0), 1) * 100).rounded())
        let output = try render(sizing, as: .jpeg(quality: percent), metadata)
        return (output.bytes, output.damage)
    }

    /// The picture as a PNG file, without metadata.
    ///
    /// - Parameter sizing: the size of the output.
    /// - Returns: the file's bytes.
    /// - Throws: `ImageError` when the picture cannot be decoded or encoded.
    public func pngData(sizing: ImageSizing? = nil) throws(ImageError) -> [UInt8] {
        try render(sizing, as: .png).bytes
    }

    /// Resizes the picture. A file is decoded no larger than necessary.
    ///
    /// - Parameters:
    ///   - width: in pixels.
    ///   - height: in pixels.
    ///   - mode: the treatment of different proportions.
    /// - Returns: a picture of pixels, without a format.
    /// - Throws: `ImageError` when the picture cannot be decoded or encoded.
    public func resized(width: Int, height: Int, mode: ImageSizing.Mode = .fit) throws(ImageError) -> BitmapImage {
        BitmapImage(pixels: try pixels(sizing: ImageSizing(width: width, height: height, mode: mode)), limits: limits)
    }

    /// The picture's pixels in a size, with an alpha channel if it has transparency.
    ///
    /// - Parameter sizing: the size.
    /// - Returns: pixels of three or four channels.
    /// - Throws: `ImageError` when the picture cannot be decoded or encoded.
    package func pixels(sizing: ImageSizing) throws(ImageError) -> ImagePixels {
        try Self.pixels(of: try render(sizing, as: .pixels))
    }

    /// The picture's RGB pixels in a size, for display in a terminal.
    ///
    /// - Parameters:
    ///   - sizing: the size; nil for the picture's own.
    ///   - background: the grey behind transparent pixels, 0 to 255.
    ///   - isReduced: whether to reduce the picture to 256 colours, dithered.
    /// - Returns: pixels of three channels.
    /// - Throws: `ImageError` when the picture cannot be decoded or encoded.
    package func rgb(
        sizing: ImageSizing? = nil, background: UInt8 = 255, isReduced: Bool = false
    ) throws(ImageError) -> ImagePixels {
        try Self.pixels(of: try render(sizing, as: .rgb(background: background, isReduced: isReduced)))
    }

    private func render(
        _ sizing: ImageSizing?, as kind: ImageLibrary.Kind, _ metadata: ImageMetadata.Preserved = .nothing
    ) throws(ImageError) -> ImageLibrary.Output {
        // The picture's own size needs no resampling.
        let isSameSize = sizing.map { $0.width == width && $0.height == height } ?? true
        return try ImageLibrary.render(source, isSameSize ? nil : sizing, as: kind, metadata: metadata, limits: limits)
    }

    private static func pixels(of output: ImageLibrary.Output) throws(ImageError) -> ImagePixels {
        guard output.channels == 3 || output.channels == 4, output.width > 0, output.height > 0,
            output.bytes.count == output.width * output.height * output.channels
        else { throw ImageError(.cannotMake, "the picture cannot be made: \(output.channels) channels") }
        return ImagePixels(
            width: output.width, height: output.height, channels: output.channels, bytes: output.bytes)
    }
}

extension BitmapImage: CustomStringConvertible {
    /// `640×427 JPEG, 196,653 bytes`.
    public var description: String {
        "\(width)×\(height) \(format?.displayName ?? "pixels"), \(byteCount.counted("byte"))"
    }
}

/// A target size and the way to reach it.
public struct ImageSizing: Sendable, Hashable {
    /// How a picture fills a size of another shape.
    public enum Mode: Sendable, Hashable {
        /// The largest size within the target, with the picture's proportions (aspect fit).
        case fit
        /// Exactly the target size, filled from the middle and cropped (aspect fill).
        case fill
        /// Exactly the target size and its proportions.
        case stretch
    }

    /// In pixels.
    package var width: Int
    /// In pixels.
    package var height: Int
    /// How the picture fills the size.
    package var mode: Mode

    /// Creates a sizing to a width and a height in pixels.
    public init(width: Int, height: Int, mode: Mode = .fit) {
        self.width = width
        self.height = height
        self.mode = mode
    }
}

/// Decoded pixels: rows from the top, 8 bits per channel, sRGB.
package struct ImagePixels: Sendable, Hashable {
    /// In pixels.
    package let width: Int
    /// In pixels.
    package let height: Int
    /// Bytes per pixel: 3 for RGB, 4 for RGBA.
    package let channels: Int
    /// `width * height * channels` bytes.
    package let bytes: [UInt8]

    /// Makes pixels of bytes.
    ///
    /// - Precondition: the number of bytes matches the size, and there are 3 or 4 channels.
    package init(width: Int, height: Int, channels: Int = 3, bytes: [UInt8]) {
        precondition(channels == 3 || channels == 4, "pixels have 3 or 4 channels")
        precondition(width > 0 && height > 0 && width < 1 << 31 && height < 1 << 31, "pixels have a size")
        precondition(bytes.count == width * height * channels, "\(width)×\(height)×\(channels) needs as many bytes")
        self.width = width
        self.height = height
        self.channels = channels
        self.bytes = bytes
    }

    /// The pixels with transparent rounded corners; pixels on the arc are partly transparent by coverage.
    ///
    /// - Parameter radius: in pixels, at most half of the shorter side.
    /// - Returns: pixels of four channels.
    package func rounded(_ radius: Double) -> ImagePixels {
        var result = [UInt8]()
        result.reserveCapacity(width * height * 4)
        for start in stride(from: 0, to: bytes.count, by: channels) {
            result.append(contentsOf: bytes[start..<start + 3])
            result.append(channels == 4 ? bytes[start + 3] : 255)
        }
        let side = min(Int(radius.rounded(.up)), width, height)
        for row in 0..<max(side, 0) {
            for column in 0..<side {
                let (x, y) = (radius - Double(column) - 0.5, radius - Double(row) - 0.5)
                guard x > 0, y > 0 else { continue }
                let within = min(max(radius + 0.5 - (x * x + y * y).squareRoot(), 0), 1)
                for (column, row) in [
                    (column, row), (width - 1 - column, row), (column, height - 1 - row),
                    (width - 1 - column, height - 1 - row),
                ] {
                    let place = (row * width + column) * 4 + 3
                    result[place] = UInt8((Double(result[place]) * within).rounded())
                }
            }
        }
        return ImagePixels(width: width, height: height, channels: 4, bytes: result)
    }
}

/// The limits of pictures, checked before decoding.
public struct ImageLimits: Sendable, Hashable {
    /// The largest useful limit, 16 GB of pixels.
    package static let mostPixels = 1 << 32

    /// Maximum number of pixels; checked against the header before decoding.
    package var pixels: Int
    /// Maximum size of a file in bytes.
    package var bytes: Int

    /// Creates limits of pixels and bytes for one picture.
    public init(pixels: Int = 268_000_000, bytes: Int = 512 << 20) {
        self.pixels = pixels
        self.bytes = bytes
    }
}

/// An error in reading, making, finding or storing a picture.
public struct ImageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors. New ones may be added.
    public enum Code: String, Sendable, Hashable {
        /// The file could not be read; `fileError` has the system's reason.
        case unreadable
        /// The format is unknown.
        case notAPicture
        /// The picture is truncated or inconsistent.
        case damaged
        /// More pixels than `ImageLimits.pixels`.
        case tooManyPixels
        /// More bytes than `ImageLimits.bytes`.
        case tooManyBytes
        /// libvips is required and not available.
        case libraryMissing
        /// No font is installed for a picture with text.
        case fontMissing
        /// The picture cannot be encoded in that size or format.
        case cannotMake
        /// The key is not a valid file name, or a name of the store's own files.
        case badKey
        /// The file could not be written; `fileError` has the system's reason.
        case unwritable
        /// Only the server of a shared collection has the picture, and it does not answer.
        case disconnected
    }

    /// The kind of error.
    public let code: Code
    /// The problem, the picture, and the remedy.
    public let message: String
    /// The file, if the error has one.
    public let path: String?
    /// The file system's error, if there is one.
    package let fileError: FileError?

    public var description: String { message }

    /// Creates an error with its code, its message, and the file behind it.
    package init(_ code: Code, _ message: String, path: String? = nil, fileError: FileError? = nil) {
        self.code = code
        self.message = path.map { "\(DisplayPath.abbreviate($0)): \(message)" } ?? message
        self.path = path
        self.fileError = fileError
    }

    /// Converts an error of the attachments.
    init(_ code: Code, _ error: StoreError) {
        self.code = error.code == .disconnected ? .disconnected : code
        message = error.message
        path = error.path
        fileError = error.cause as? FileError
    }

    /// Converts an error of the file system.
    package init(_ code: Code, _ error: FileError) {
        self.code = code
        message = error.message
        path = error.path
        fileError = error
    }
}
