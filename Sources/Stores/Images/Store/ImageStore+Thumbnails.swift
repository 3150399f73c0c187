import Application
import Logging

extension ImageStore {
    /// The picture under a key in a small square (aspect fill), made once and kept as long as the caches folder and the
    /// picture stay as they are.
    ///
    /// - Parameters:
    ///   - key: the picture's name.
    ///   - size: the width and the height, in pixels.
    /// - Returns: nil when there is no picture, which is logged.
    /// - Throws: `ImageError` when the key cannot be one, or the picture cannot be read. A thumbnail that cannot be kept is
    ///   no error.
    public func thumbnail(forKey key: String, size: Int) throws(ImageError) -> Image? {
        let picturePath = try imagePath(forKey: key)
        let folder = PathText.join(thumbnailDirectory, String(size))
        let path = PathText.join(folder, key)
        let picture = (try? layer.status(picturePath)) ?? nil
        if let picture, let kept = (try? layer.status(path)) ?? nil, kept.modified >= picture.modified,
            let image = try? Image.open(path, limits: limits, using: layer)
        {
            return image
        }
        guard let image = try image(forKey: key) else { return nil }
        let bytes = try image.jpegData(
            quality: 0.8, sizing: ImageSizing(width: size, height: size, mode: .fill))
        do throws(FileError) {
            try layer.makeDirectories(folder)
            try AtomicFile.write(bytes, to: path, using: layer, durable: false)
        } catch {
            logger.debug("a thumbnail was not kept: \(error)")
        }
        return try Image(bytes: bytes, limits: limits)
    }

    func removeThumbnails(forKey key: String) {
        for size in (try? layer.list(thumbnailDirectory)) ?? [] {
            try? layer.remove(PathText.join(PathText.join(thumbnailDirectory, size), key))
        }
    }
}
