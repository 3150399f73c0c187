import CPlatform
public import Files
public import Logging

/// The pictures of an application: each a JPEG file under its key in the documents folder, with a cache before them.
///
/// A key is a file name without extension, an item's `itemKey` as a rule. A picture that is handed out stays valid
/// whatever the cache does. Used from one isolation domain.
public final class ImageStore {
    /// The folder with the pictures.
    public let directory: String
    /// What is refused of pictures' files.
    public var limits = ImageLimits()
    /// How often a picture that was asked for was in the cache.
    public private(set) var cacheHits = 0
    /// How often it was not.
    public private(set) var cacheMisses = 0
    /// Whether the cache is flushed when the application enters the background, too. The host does it.
    public var flushesInBackground = false

    /// Whether what was under a key before is kept, so that it can come back: an item's picture. Nothing is if nil.
    public var keepsReplaced: ((_ key: String) -> Bool)?
    /// Told the number of each change outside of transactions that ``reverseChange(_:)`` takes back.
    public var onChange: ((_ number: UInt32) -> Void)?

    let thumbnailDirectory: String
    let layer: any FileLayer
    let logger: Logger
    var cache: ImageCache
    /// What the open transactions have done so far, innermost last; see `ImageStore+Transactions.swift`.
    var transactions: [ImageTransaction] = []
    /// What was there before each change that can be taken back, by its number; see `ImageStore+History.swift`.
    var replaced: [UInt32: ReplacedImage] = [:]
    var lastChange: UInt32 = 0
    /// By key, the first change of the step under way.
    var firstChanges: [String: UInt32] = [:]
    /// By key, the change whose picture is in the folder of those aside.
    var changesAside: [String: UInt32] = [:]
    /// Whether pictures came or went without a sync of their folder.
    var isUnsynced = false

    /// A store over two folders, of which the first must exist.
    ///
    /// - Parameters:
    ///   - directory: where the pictures are: `Documents`.
    ///   - caches: where thumbnails are kept, and may vanish at any time: `Library/Caches`.
    ///   - cacheLimit: the most bytes that the pictures in memory take.
    ///   - layer: the file system.
    ///   - logger: hears of flushes, and of pictures that are not there.
    public init(
        directory: String, caches: String, cacheLimit: Int = 64 << 20, using layer: any FileLayer = PosixFileLayer(),
        logger: Logger
    ) {
        self.directory = directory
        thumbnailDirectory = PathText.join(caches, "Thumbnails")
        cache = ImageCache(limit: cacheLimit)
        self.layer = layer
        self.logger = logger
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
        let path = try imagePath(forKey: key)
        let bytes: [UInt8]
        do throws(ImageError) {
            bytes = try image.jpegData(quality: quality)
        } catch {
            guard error.code == .libraryMissing, let own = image.encodedJPEG else { throw error }
            bytes = own
        }
        do throws(FileError) {
            if transactions.isEmpty {
                let change = keepCopy(forKey: key, isKept: keepsReplaced?(key) == true)
                do throws(FileError) {
                    try AtomicFile.write(bytes, to: path, using: layer)
                } catch {
                    if let change { forgetChange(change) }
                    throw error
                }
                if let change { onChange?(change) }
            } else {
                try stage(bytes, key)
            }
        } catch {
            throw ImageError(.unwritable, error)
        }
        cache.insert(image, forKey: key)
        removeThumbnails(forKey: key)
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
            guard let file = currentPath(forKey: key) else {
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
        guard ImageKey.isKey(key), let path = currentPath(forKey: key), layer.exists(path) else { return nil }
        return PictureFile(key: key, path: path, limits: limits, layer: layer)
    }

    /// Whether there is a picture under a key, without reading or logging.
    ///
    /// - Parameter key: its name.
    /// - Returns: false, too, for what cannot be a key.
    public func hasImage(forKey key: String) -> Bool {
        ImageKey.isKey(key) && currentPath(forKey: key).map(layer.exists) ?? false
    }

    /// Which of many keys have a picture, without reading or logging.
    ///
    /// - Parameter keys: names, some of which may be no keys.
    /// - Returns: those with a picture. A few are looked up one by one; for many the folder is listed once.
    public func keysOfImages(among keys: Set<String>) -> Set<String> {
        guard keys.count >= 1000, transactions.isEmpty, let names = try? layer.list(directory) else {
            return keys.filter(hasImage)
        }
        return keys.intersection(names).filter(ImageKey.isKey)
    }

    /// Removes the picture under a key from the cache, its file and its thumbnails. That there is none is no error.
    ///
    /// - Parameter key: its name.
    /// - Throws: `ImageError` when the key cannot be one, or the file cannot be removed; the picture is there then.
    public func deleteImage(forKey key: String) throws(ImageError) {
        try ImageKey.check(key)
        if !transactions.isEmpty {
            note(.deleted, key)
        } else if let change = try removeKeeping(forKey: key, isKept: keepsReplaced?(key) == true) {
            onChange?(change)
        }
        cache.remove(key)
        removeThumbnails(forKey: key)
    }

    func removeFile(_ path: String) {
        do throws(FileError) {
            try layer.remove(path)
            isUnsynced = true
        } catch  where error.code != FileLayerCode.absent {
            logger.error("Error removing the image from disk: \(error)")
        } catch {
            return
        }
    }

    /// Where the picture under a key is, or would be.
    ///
    /// - Parameter key: its name.
    /// - Returns: the path in the documents folder.
    /// - Throws: `ImageError` when the key cannot be one.
    public func imagePath(forKey key: String) throws(ImageError) -> String {
        try ImageKey.check(key)
        return PathText.join(directory, key)
    }

    /// The keys of all pictures, in byte order: the files in the folder that begin as a JPEG file does.
    ///
    /// - Returns: the keys; O(n), with a look into each file.
    /// - Throws: `ImageError` when the folder cannot be listed.
    public func keys() throws(ImageError) -> [String] {
        do throws(FileError) {
            let kept = try layer.list(directory).filter { ImageKey.isKey($0) && isPicture($0) }
            let changed = changesUnderWay
            if changed.isEmpty { return kept }
            let staged = changed.compactMap { $0.value == .deleted ? nil : $0.key }
            return (kept.filter { changed[$0] == nil } + staged).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        } catch {
            throw ImageError(.unreadable, error)
        }
    }

    private func isPicture(_ name: String) -> Bool {
        let path = PathText.join(directory, name)
        // Opening a pipe would wait for its other end.
        guard let status = try? layer.status(path), status.kind == .regular, let file = try? layer.open(path, .read)
        else { return false }
        defer { layer.close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) { buffer in
            guard let count = try? layer.read(file, into: buffer) else { return false }
            return ImageFormat(firstBytes: buffer.prefix(count)) == .jpeg
        }
    }

    // MARK: - The cache

    /// How many pictures the cache holds.
    public var cacheCount: Int { cache.count }

    /// The bytes that the pictures in the cache take.
    public var cacheCost: Int { cache.cost }

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
