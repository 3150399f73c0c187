import Application
import Files
import Items
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
        let file = try thumbnailFile(forKey: key, size, cornerRadius)
        if let kept = file.kept() { return kept }
        guard let picture = try image(forKey: key) else { return nil }
        let bytes = try file.bytes(of: picture)
        do throws(FileError) {
            try file.write(bytes)
        } catch {
            logger.debug("a thumbnail was not kept: \(error)")
        }
        return try Image(bytes: bytes, limits: limits)
    }

    /// Makes the thumbnails of many pictures that are not there yet, on all processors, so that asking for each is
    /// reading a small file.
    ///
    /// - Parameters:
    ///   - keys: the pictures' names.
    ///   - size: the width and the height, in pixels.
    ///   - cornerRadius: in pixels; nil is an eighth of the size.
    ///   - progress: told after each picture how many are done; what it throws ends the work.
    /// - Returns: why there is none, by key; empty when all are there.
    /// - Throws: `ImageError` when a key cannot be one, and what `progress` throws.
    public func prepareThumbnails(
        forKeys keys: [String], size: Int, cornerRadius: Double? = nil, progress: (Int) throws -> Void = { _ in }
    ) throws -> [String: ImageError] {
        let files = try keys.map { key throws(ImageError) in try thumbnailFile(forKey: key, size, cornerRadius) }
        var failures: [String: ImageError] = [:]
        try ParallelWork.forEach(files.count) { number -> ImageError? in
            ImageLibrary.besideOthers { files[number].prepare() }
        } consume: { number, failure in
            if let failure { failures[files[number].picture.key] = failure }
            try progress(number + 1)
        }
        return failures
    }

    private func thumbnailFile(forKey key: String, _ size: Int, _ radius: Double?) throws(ImageError) -> ThumbnailFile {
        // A picture that a transaction deletes is not there: opening what never is says so.
        let place = attachments.currentPath(forKey: key) ?? PathText.join(thumbnailDirectory, key)
        try checkKey(key)
        return ThumbnailFile(
            PictureFile(key: key, path: place, limits: limits, layer: layer), in: thumbnailDirectory, size: size,
            cornerRadius: radius)
    }

    func removeThumbnails(forKey key: String) {
        for size in (try? layer.list(thumbnailDirectory)) ?? [] {
            try? layer.remove(PathText.join(PathText.join(thumbnailDirectory, size), key))
        }
    }
}
