import Application
import Files
import Items
import Logging

extension ImageStore {
    /// The picture of a key as a small square (aspect fill) with rounded corners. It is made once and cached in the
    /// caches folder until the picture changes.
    ///
    /// - Parameters:
    ///   - key: the picture's key.
    ///   - size: the width and the height, in pixels.
    ///   - cornerRadius: in pixels; by default an eighth of the size, 5 of 40.
    /// - Returns: a PNG picture with transparent corners; a JPEG picture when the radius is 0; nil when there is no
    ///   picture, which is logged.
    /// - Throws: `ImageError` for an invalid key or an unreadable picture. A failure to cache the thumbnail is no
    ///   error.
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

    /// Makes missing thumbnails of many pictures on all processors, so that each later access only reads a small file.
    ///
    /// - Parameters:
    ///   - keys: the pictures' keys.
    ///   - size: the width and the height, in pixels.
    ///   - cornerRadius: in pixels; by default an eighth of the size.
    ///   - progress: called after each picture with the number of finished ones; an error from it ends the work.
    /// - Returns: the failures by key; empty when all thumbnails exist.
    /// - Throws: `ImageError` for an invalid key, and errors of `progress`.
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
        try checkKey(key)
        // A picture deleted in the transaction has a path without a file, whose opening fails.
        let picture =
            pictureFile(anywayForKey: key)
            ?? PictureFile(
                key: key, file: AttachmentFile(PathText.join(thumbnailDirectory, key), name: key), limits: limits,
                layer: layer)
        return ThumbnailFile(picture, in: thumbnailDirectory, size: size, cornerRadius: radius)
    }

    func removeThumbnails(forKey key: String) {
        for size in (try? layer.list(thumbnailDirectory)) ?? [] {
            try? layer.remove(PathText.join(PathText.join(thumbnailDirectory, size), key))
        }
    }
}
