import Files
import Items

/// A thumbnail's file and its picture's file. Usable on any thread.
struct ThumbnailFile: Sendable {
    let picture: PictureFile
    let folder: String
    let size: Int
    let radius: Double

    /// - Parameters:
    ///   - picture: the picture.
    ///   - thumbnails: the folder of all sizes.
    ///   - size: the width and the height, in pixels.
    ///   - cornerRadius: in pixels; by default an eighth of the size.
    init(_ picture: PictureFile, in thumbnails: String, size: Int, cornerRadius: Double?) {
        self.picture = picture
        self.size = size
        radius = min(max(cornerRadius ?? Double(size) / 8, 0), Double(size) / 2)
        let corners = Int(exactly: radius).map(String.init) ?? String(radius)
        folder = PathText.join(thumbnails, "\(size)-\(corners)")
    }

    var path: String { PathText.join(folder, picture.file.name) }

    /// The cached thumbnail, unless the picture is newer or there is none.
    func kept() -> Image? {
        let layer = picture.layer
        if !picture.file.isImmutable {
            guard let source = (try? layer.status(picture.path)) ?? nil, let kept = (try? layer.status(path)) ?? nil,
                kept.modified >= source.modified
            else { return nil }
        }
        return try? Image.open(path, limits: picture.limits, using: layer)
    }

    /// Makes the thumbnail without writing it.
    func bytes(of image: Image) throws(ImageError) -> [UInt8] {
        let sizing = ImageSizing(width: size, height: size, mode: .fill)
        if radius == 0 { return try image.jpegData(quality: 0.8, sizing: sizing) }
        return try Image(pixels: try image.pixels(sizing: sizing).rounded(radius)).pngData()
    }

    /// Makes and caches the thumbnail unless it exists. Returns the error if it fails.
    func prepare() -> ImageError? {
        if kept() != nil { return nil }
        do throws(ImageError) {
            let bytes = try bytes(of: try picture.open())
            do throws(FileError) { try write(bytes) } catch { throw ImageError(.unwritable, error) }
            return nil
        } catch {
            return error
        }
    }

    /// Writes the thumbnail atomically but not durably, since it can be made again.
    func write(_ bytes: [UInt8]) throws(FileError) {
        let layer = picture.layer
        do throws(FileError) {
            try AtomicFile.write(bytes, to: path, using: layer, durable: false)
        } catch {
            guard error.code == FileLayerCode.absent else { throw error }
            try layer.makeDirectories(folder)
            try AtomicFile.write(bytes, to: path, using: layer, durable: false)
        }
    }
}
