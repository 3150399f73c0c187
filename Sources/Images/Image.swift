public import Files
import PropertyList
import Wording

/// A picture: the bytes of a file, decoded when its pixels are first needed, or pixels that were made.
///
/// Its size and format are known from the header alone. Whatever comes out is upright and in sRGB. JPEG and PNG files can
/// be held, measured and handed on without libvips; everything else opens it, on first use.
public final class Image: Sendable {
    /// Upright, in pixels.
    public let width: Int
    /// Upright, in pixels.
    public let height: Int
    /// The format of the file that the picture came in; nil when it was made, by resizing for example.
    public let format: ImageFormat?
    /// The memory that it takes.
    public let byteCount: Int

    private let source: ImageLibrary.Source
    private let limits: ImageLimits

    /// Reads a picture from a file.
    ///
    /// - Parameters:
    ///   - path: the file; its name says nothing about its format.
    ///   - limits: what is refused.
    ///   - layer: the file system.
    /// - Returns: the picture.
    /// - Throws: `ImageError` when the file cannot be read or `init(bytes:limits:)` refuses its bytes.
    public static func open(
        _ path: String, limits: ImageLimits = ImageLimits(), using layer: any FileLayer = PosixFileLayer()
    ) throws(ImageError) -> Image {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try layer.contents(of: path, limit: limits.bytes)
        } catch {
            throw ImageError(error.code == FileLayerCode.tooLarge ? .tooManyBytes : .unreadable, error)
        }
        do throws(ImageError) {
            return try Image(bytes: bytes, limits: limits)
        } catch {
            throw ImageError(error.code, error.message, path: path)
        }
    }

    /// A picture from a file's bytes.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - limits: what is refused.
    /// - Throws: `ImageError` when they are of no known format, cut short, or more than the limits allow.
    public init(bytes: [UInt8], limits: ImageLimits = ImageLimits()) throws(ImageError) {
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
        (width, height) = try Self.measure(bytes, format, limits)
        guard width <= limits.pixels / height else {
            throw .tooManyPixels(width: width, height: height, limits: limits)
        }
        self.format = format
        self.limits = limits
        source = .encoded(bytes, width: width, height: height)
        byteCount = bytes.count
    }

    /// A picture of pixels at hand.
    ///
    /// - Parameters:
    ///   - pixels: what it shows.
    ///   - limits: what is refused of what is made from it.
    public init(pixels: ImagePixels, limits: ImageLimits = ImageLimits()) {
        width = pixels.width
        height = pixels.height
        format = nil
        byteCount = pixels.bytes.count
        source = .pixels(pixels)
        self.limits = limits
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

    // MARK: - What comes out

    /// The file's own bytes when it is a JPEG file, as it came; nil otherwise.
    package var encodedJPEG: [UInt8]? {
        guard format == .jpeg, case .encoded(let bytes, _, _) = source else { return nil }
        return bytes
    }

    /// The file's own bytes when it is a JPEG file that holds a picture and nothing else, upright as it is; nil otherwise.
    package var bareJPEG: [UInt8]? {
        guard let bytes = encodedJPEG, let header = JPEGHeader.read(bytes), !header.hasMetadata else { return nil }
        return bytes
    }

    /// What the picture's file says of the camera, the time and the place; empty for pixels and where it says nothing.
    ///
    /// - Throws: `ImageError` when libvips, which reads it, cannot be used, or the file cannot be opened.
    public func metadata() throws(ImageError) -> ImageMetadata {
        guard case .encoded(let bytes, _, _) = source else { return ImageMetadata(fields: []) }
        return ImageMetadata(fields: try ImageLibrary.exif(bytes, limits: limits))
    }

    /// The picture as a JPEG file; transparency becomes white.
    ///
    /// - Parameters:
    ///   - quality: 0 (smallest) to 1 (best); what is beyond counts as these.
    ///   - sizing: the size to give it on the way, which costs less than resizing first.
    ///   - metadata: what is kept of what the file says beside the picture; without being asked nothing, the place of a
    ///     home least of all.
    /// - Returns: the file's bytes.
    /// - Throws: `ImageError` when it cannot be decoded or made.
    public func jpegData(
        quality: Double = 0.5, sizing: ImageSizing? = nil, metadata: ImageMetadata.Kept = .nothing
    ) throws(ImageError) -> [UInt8] {
        let percent = quality.isNaN ? 50 : Int((min(max(quality, 0), 1) * 100).rounded())
        return try render(sizing, as: .jpeg(quality: percent), metadata).bytes
    }

    /// The picture as a PNG file, without metadata.
    ///
    /// - Parameter sizing: the size to give it on the way.
    /// - Returns: the file's bytes.
    /// - Throws: `ImageError` when it cannot be decoded or made.
    public func pngData(sizing: ImageSizing? = nil) throws(ImageError) -> [UInt8] {
        try render(sizing, as: .png).bytes
    }

    /// The picture in another size. A file is decoded no larger than that needs.
    ///
    /// - Parameters:
    ///   - width: in pixels.
    ///   - height: in pixels.
    ///   - mode: how proportions that differ are dealt with.
    /// - Returns: a picture of pixels, without a format.
    /// - Throws: `ImageError` when it cannot be decoded or made.
    public func resized(width: Int, height: Int, mode: ImageSizing.Mode = .fit) throws(ImageError) -> Image {
        Image(pixels: try pixels(sizing: ImageSizing(width: width, height: height, mode: mode)), limits: limits)
    }

    /// The picture's pixels in a size, with opacity where it has any.
    ///
    /// - Parameter sizing: the size.
    /// - Returns: pixels of three or four channels.
    /// - Throws: `ImageError` when it cannot be decoded or made.
    public func pixels(sizing: ImageSizing) throws(ImageError) -> ImagePixels {
        try pixels(of: try render(sizing, as: .pixels))
    }

    /// The picture's pixels, red, green and blue, in a size; for drawing in a terminal.
    ///
    /// - Parameters:
    ///   - sizing: the size; nil is the picture's own.
    ///   - background: the grey behind what is transparent, 0 to 255.
    ///   - isReduced: whether there are to be at most 256 colours, dithered.
    /// - Returns: pixels of three channels.
    /// - Throws: `ImageError` when it cannot be decoded or made.
    package func rgb(
        sizing: ImageSizing? = nil, background: UInt8 = 255, isReduced: Bool = false
    ) throws(ImageError) -> ImagePixels {
        try pixels(of: try render(sizing, as: .rgb(background: background, isReduced: isReduced)))
    }

    private func render(
        _ sizing: ImageSizing?, as kind: ImageLibrary.Kind, _ metadata: ImageMetadata.Kept = .nothing
    ) throws(ImageError) -> ImageLibrary.Output {
        // In its own size it is not resampled.
        let isOwnSize = sizing.map { $0.width == width && $0.height == height } ?? true
        return try ImageLibrary.render(source, isOwnSize ? nil : sizing, as: kind, metadata: metadata, limits: limits)
    }

    private func pixels(of output: ImageLibrary.Output) throws(ImageError) -> ImagePixels {
        guard output.channels == 3 || output.channels == 4, output.width > 0, output.height > 0,
            output.bytes.count == output.width * output.height * output.channels
        else { throw ImageError(.cannotMake, "the picture cannot be made: \(output.channels) channels") }
        return ImagePixels(
            width: output.width, height: output.height, channels: output.channels, bytes: output.bytes)
    }
}

extension Image: CustomStringConvertible {
    /// `640×427 JPEG, 196,653 bytes`.
    public var description: String {
        "\(width)×\(height) \(format?.displayName ?? "pixels"), \(byteCount.counted("byte"))"
    }
}
