import Application
import Logging

extension ImageStore {
    /// The picture under a key in a small square (aspect fill) with rounded corners, made once and kept as long as the
    /// caches folder and the picture stay as they are.
    ///
    /// - Parameters:
    ///   - key: the picture's name.
    ///   - size: the width and the height, in pixels.
    ///   - cornerRadius: in pixels; nil is an eighth of the size, 5 of 40.
    /// - Returns: a PNG picture, clear beyond the corners; a JPEG picture without corners when the radius is 0; nil when
    ///   there is no picture, which is logged.
    /// - Throws: `ImageError` when the key cannot be one, or the picture cannot be read. A thumbnail that cannot be kept is
    ///   no error.
    public func thumbnail(forKey key: String, size: Int, cornerRadius: Double? = nil) throws(ImageError) -> Image? {
        let picturePath = try imagePath(forKey: key)
        let radius = min(max(cornerRadius ?? Double(size) / 8, 0), Double(size) / 2)
        let folder = PathText.join(thumbnailDirectory, "\(size)-\(Self.text(radius))")
        let path = PathText.join(folder, key)
        let picture = (try? layer.status(currentPath(forKey: key) ?? picturePath)) ?? nil
        if let picture, let kept = (try? layer.status(path)) ?? nil, kept.modified >= picture.modified,
            let image = try? Image.open(path, limits: limits, using: layer)
        {
            return image
        }
        guard let image = try image(forKey: key) else { return nil }
        let sizing = ImageSizing(width: size, height: size, mode: .fill)
        let bytes =
            radius == 0
            ? try image.jpegData(quality: 0.8, sizing: sizing)
            : try Image(pixels: try image.pixels(sizing: sizing).rounded(radius)).pngData()
        do throws(FileError) {
            try layer.makeDirectories(folder)
            try AtomicFile.write(bytes, to: path, using: layer, durable: false)
        } catch {
            logger.debug("a thumbnail was not kept: \(error)")
        }
        return try Image(bytes: bytes, limits: limits)
    }

    private static func text(_ radius: Double) -> String {
        Int(exactly: radius).map(String.init) ?? String(radius)
    }

    func removeThumbnails(forKey key: String) {
        for size in (try? layer.list(thumbnailDirectory)) ?? [] {
            try? layer.remove(PathText.join(PathText.join(thumbnailDirectory, size), key))
        }
    }
}
