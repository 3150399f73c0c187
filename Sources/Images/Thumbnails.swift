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
    public func thumbnail(forKey key: String, size: Int, cornerRadius: Double? = nil) throws(ImageError) -> BitmapImage?
    {
        let file = try thumbnailFile(forKey: key, size, cornerRadius)
        if let cached = file.cached() { return cached }
        guard let picture = try image(forKey: key) else { return nil }
        let bytes = try file.bytes(of: picture)
        do throws(FileError) {
            try file.write(bytes)
        } catch {
            logger.debug("a thumbnail was not kept: \(error)")
        }
        return try BitmapImage(bytes: bytes, limits: limits)
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
    package func prepareThumbnails(
        forKeys keys: [String], size: Int, cornerRadius: Double? = nil, progress: (Int) throws -> Void = { _ in }
    ) throws -> NameTable<ImageError> {
        let files = try keys.map { key throws(ImageError) in try thumbnailFile(forKey: key, size, cornerRadius) }
        var failures: NameTable<ImageError> = [:]
        try ParallelWork.forEach(files.count) { number -> ImageError? in
            ImageLibrary.concurrently { files[number].prepare() }
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
    func cached() -> BitmapImage? {
        let layer = picture.layer
        if !picture.file.isImmutable {
            guard let source = (try? layer.status(picture.path)) ?? nil, let cached = (try? layer.status(path)) ?? nil,
                cached.modified >= source.modified
            else { return nil }
        }
        return try? BitmapImage.open(path, limits: picture.limits, using: layer)
    }

    /// Makes the thumbnail without writing it.
    func bytes(of image: BitmapImage) throws(ImageError) -> [UInt8] {
        let sizing = ImageSizing(width: size, height: size, mode: .fill)
        if radius == 0 { return try image.jpegData(quality: 0.8, sizing: sizing) }
        return try BitmapImage(pixels: try image.pixels(sizing: sizing).rounded(radius)).pngData()
    }

    /// Makes and caches the thumbnail unless it exists. Returns the error if it fails.
    func prepare() -> ImageError? {
        if cached() != nil { return nil }
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
