import CPlatform
public import Files
public import Items
public import Logging

/// The pictures of an application: attachments, each a JPEG file under its key in the documents folder, with a cache before
/// them.
///
/// A key is a file name without extension, an item's `itemKey` as a rule. A picture that is handed out stays valid
/// whatever the cache does. Used from one isolation domain.
public final class ImageStore {
    /// The pictures' files. An `ItemStore` that has them as its own takes pictures along with its items.
    public let attachments: ItemAttachments
    /// The folder with the pictures.
    public var directory: String { attachments.folder }
    /// What is refused of pictures' files.
    public var limits = ImageLimits()
    /// How often a picture that was asked for was in the cache.
    package private(set) var cacheHits = 0
    /// How often it was not.
    package private(set) var cacheMisses = 0
    /// Whether the cache is flushed when the application enters the background, too. The host does it.
    package var flushesInBackground = false

    let thumbnailDirectory: String
    let logger: Logger
    private var cache: ImageCache
    var layer: any FileLayer { attachments.layer }

    /// A store over two folders, of which the first must exist.
    ///
    /// - Parameters:
    ///   - directory: where the pictures are: `Documents`.
    ///   - caches: where thumbnails, and pictures that an undo brings back, are kept, and may vanish at any time:
    ///     `Library/Caches`.
    ///   - cacheLimit: the most bytes that the pictures in memory take.
    ///   - layer: the file system.
    ///   - logger: hears of flushes, and of pictures that are not there.
    public init(
        directory: String, caches: String, cacheLimit: Int = 64 << 20, using layer: any FileLayer = PosixFileLayer(),
        logger: Logger
    ) {
        attachments = ItemAttachments(
            folder: directory, removed: PathText.join(caches, "Removed Images"),
            replaced: PathText.join(caches, "Replaced Images"), using: layer)
        thumbnailDirectory = PathText.join(caches, "Thumbnails")
        cache = ImageCache(limit: cacheLimit)
        self.logger = logger
        attachments.onChange = { [weak self] key in
            self?.cache.remove(key)
            self?.removeThumbnails(forKey: key)
        }
        attachments.onProblem = { [logger] problem in
            switch problem.step {
            case .removal: logger.error("Error removing the image from disk: \(problem.error.message)")
            case .writing: logger.error("\(problem.message(of: "picture"))")
            case .keeping, .reversal, .sync: logger.warning("\(problem.message(of: "picture"))")
            }
        }
    }

    // MARK: - Pictures

    /// Keeps a picture under a key, in place of the one that was there: as a JPEG file, atomically and durably, and in
    /// the cache.
    ///
    /// Without libvips a JPEG file is kept as it is.
    ///
    /// - Parameters:
    ///   - image: the picture.
    ///   - key: its name.
    ///   - quality: of the JPEG file, 0 to 1.
    /// - Throws: `ImageError` when the key cannot be one, or the picture cannot be decoded or written; what was there
    ///   before is there still.
    public func setImage(_ image: Image, forKey key: String, quality: Double = 0.5) throws(ImageError) {
        try checkKey(key)
        let bytes: [UInt8]
        do throws(ImageError) {
            bytes = try image.jpegData(quality: quality)
        } catch {
            guard error.code == .libraryMissing, let own = image.encodedJPEG else { throw error }
            bytes = own
        }
        do throws(StoreError) { try attachments.setBytes(bytes, forKey: key) } catch {
            throw ImageError(.unwritable, error)
        }
        cache.insert(image, forKey: key)
    }

    /// The picture under a key: from the cache, else from its file, which then is in the cache.
    ///
    /// - Parameter key: its name.
    /// - Returns: nil when there is none, which is logged.
    /// - Throws: `ImageError` when the key cannot be one, or the file cannot be read or is no picture.
    public func image(forKey key: String) throws(ImageError) -> Image? {
        let path = try imagePath(forKey: key)
        if let image = cache.image(forKey: key) {
            cacheHits += 1
            return image
        }
        cacheMisses += 1
        do throws(ImageError) {
            guard let file = attachments.currentPath(forKey: key) else {
                logger.error("Error: unable to find \(path)")
                return nil
            }
            let image = try Image.open(file, limits: limits, using: layer)
            cache.insert(image, forKey: key)
            return image
        } catch {
            guard error.fileError?.code == FileLayerCode.absent else { throw error }
            logger.error("Error: unable to find \(path)")
            return nil
        }
    }

    /// The file of the picture under a key; nil when there is none.
    package func pictureFile(forKey key: String) -> PictureFile? {
        guard hasImage(forKey: key), let path = attachments.currentPath(forKey: key) else { return nil }
        return PictureFile(key: key, path: path, limits: limits, layer: layer)
    }

    /// Whether there is a picture under a key, without reading or logging.
    ///
    /// - Parameter key: its name.
    /// - Returns: false, too, for what cannot be a key.
    public func hasImage(forKey key: String) -> Bool {
        attachments.hasBytes(forKey: key)
    }

    /// Which of many keys have a picture, without reading or logging.
    ///
    /// - Parameter keys: names, some of which may be no keys.
    /// - Returns: those with a picture. A few are looked up one by one; for many the folder is listed once.
    package func keysOfImages(among keys: Set<String>) -> Set<String> {
        attachments.keys(among: keys)
    }

    /// Removes the picture under a key from the cache, its file and its thumbnails. That there is none is no error.
    ///
    /// - Parameter key: its name.
    /// - Throws: `ImageError` when the key cannot be one, or the file cannot be removed; the picture is there then.
    public func deleteImage(forKey key: String) throws(ImageError) {
        try checkKey(key)
        do throws(StoreError) { try attachments.removeBytes(forKey: key) } catch {
            throw ImageError(.unwritable, error)
        }
    }

    /// Where the picture under a key is, or would be.
    ///
    /// - Parameter key: its name.
    /// - Returns: the path in the documents folder.
    /// - Throws: `ImageError` when the key cannot be one.
    public func imagePath(forKey key: String) throws(ImageError) -> String {
        try checkKey(key)
        return PathText.join(attachments.folder, key)
    }

    func checkKey(_ key: String) throws(ImageError) {
        if let reason = AttachmentKey.objection(to: key) {
            throw ImageError(.badKey, "\(key.prefix(300).debugDescription) cannot be an image's key: \(reason)")
        }
    }

    /// The keys of all pictures, in byte order: the files in the folder that begin as a JPEG file does.
    ///
    /// - Returns: the keys; O(n), with a look into each file.
    /// - Throws: `ImageError` when the folder cannot be listed.
    public func keys() throws(ImageError) -> [String] {
        do throws(StoreError) { return try attachments.keys().filter(isPicture) } catch {
            throw ImageError(.unreadable, error)
        }
    }

    private func isPicture(_ key: String) -> Bool {
        guard let path = attachments.currentPath(forKey: key), let file = try? layer.open(path, .read) else {
            return false
        }
        defer { layer.close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) { buffer in
            guard let count = try? layer.read(file, into: buffer) else { return false }
            return ImageFormat(firstBytes: buffer.prefix(count)) == .jpeg
        }
    }

    // MARK: - The cache

    /// How many pictures the cache holds.
    package var cacheCount: Int { cache.count }

    /// The bytes that the pictures in the cache take.
    package var cacheCost: Int { cache.cost }

    /// The most bytes that they may take; beyond it the least recently used go.
    public var cacheLimit: Int {
        get { cache.limit }
        set { cache.limit = newValue }
    }

    /// Lets go of all pictures in memory, after saying how many, and gives the memory back to the system; their files
    /// stay. For memory warnings.
    public func clearCache() {
        logger.info("flushing \(cacheCount) images out of the cache")
        cache.removeAll()
        // The C library keeps what is freed between things that are not, and the system would see no difference.
        cubby_trim_memory()
    }
}
