package import Application
import CPlatform
package import Files
public import Items
public import Logging

/// The pictures of an application: attachments, each a JPEG file named by its key in the documents folder, with a cache
/// in memory.
///
/// A key is a file name without extension, usually an item's `itemKey`. A returned picture stays valid independent of
/// the cache. A store is used from one isolation domain.
public final class ImageStore {
    /// The pictures' files. An `ItemStore` with these attachments changes pictures along with its items.
    public let attachments: ItemAttachments
    /// The limits of pictures' files.
    package var limits = ImageLimits() {
        didSet { attachments.byteLimit = limits.bytes }
    }
    /// The number of cache hits.
    package private(set) var cacheHits = 0
    /// The number of cache misses.
    package private(set) var cacheMisses = 0
    /// Whether the host also clears the cache on entering the background.
    package var flushesInBackground = false

    let thumbnailDirectory: String
    let logger: Logger
    var cache: ImageCache
    var layer: any FileLayer { attachments.layer }

    /// Makes a store of two folders, of which the first must exist.
    ///
    /// - Parameters:
    ///   - directory: the folder of the pictures, `Documents`.
    ///   - caches: the folder of thumbnails and of pictures kept for an undo, `Library/Caches`; its files may be
    ///     deleted at any time.
    ///   - outgoing: the folder of pictures in transit to a shared collection's server, on the same file system; beside
    ///     the pictures if nil.
    ///   - cacheLimit: the maximum size of the pictures in memory, in bytes.
    ///   - logger: receives messages about flushes and missing pictures.
    public convenience init(
        directory: String, caches: String, outgoing: String? = nil, cacheLimit: Int = 64 << 20, logger: Logger
    ) {
        self.init(
            directory: directory, caches: caches, outgoing: outgoing, cacheLimit: cacheLimit, using: PosixFileLayer(),
            logger: logger)
    }

    /// The same in a file system.
    package init(
        directory: String, caches: String, outgoing: String? = nil, cacheLimit: Int = 64 << 20,
        using layer: any FileLayer, logger: Logger
    ) {
        attachments = ItemAttachments(
            folder: directory, removed: PathText.join(caches, "Removed Images"),
            replaced: PathText.join(caches, "Replaced Images"), cache: PathText.join(caches, "Shared Images"),
            outgoing: outgoing, using: layer)
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

    /// Stores a picture, in place of the key's earlier one: as a JPEG file, atomically and durably, and in the cache.
    ///
    /// Without libvips a JPEG file is stored unchanged. Damage within a picture is logged.
    ///
    /// - Parameters:
    ///   - image: the picture.
    ///   - key: its key.
    ///   - quality: the quality of the JPEG file, 0 to 1; nil for 0.5, and for the unchanged bytes of a picture of a store.
    /// - Throws: `ImageError` for an invalid key, or when the picture cannot be decoded or written; then the earlier
    ///   picture remains.
    public func setImage(_ image: BitmapImage, forKey key: String, quality: Double? = nil) throws(ImageError) {
        try checkKey(key)
        let bytes = try jpeg(image, key, quality)
        do throws(StoreError) { try attachments.setBytes(bytes, forAnyKey: key) } catch {
            throw ImageError(.unwritable, error)
        }
        if let file = attachments.file(forKey: key) { cache.insert(image, forKey: file.name) }
    }

    private func jpeg(_ image: BitmapImage, _ key: String, _ quality: Double?) throws(ImageError) -> [UInt8] {
        let (bytes, damage) = try Self.jpeg(image, quality)
        if let damage { logger.warning("the picture stored as \(key) is damaged within: \(damage)") }
        return bytes
    }

    /// The JPEG file that a store keeps of a picture, and what the decoder says of damage; without libvips, a JPEG file's
    /// bytes. On any thread.
    package static func jpeg(
        _ image: BitmapImage, _ quality: Double? = nil
    ) throws(ImageError) -> (bytes: [UInt8], damage: String?) {
        // Another encoding would only lose quality.
        if quality == nil, image.isStored, let own = image.encodedJPEG { return (own, nil) }
        do throws(ImageError) {
            return try image.jpeg(quality ?? 0.5)
        } catch {
            guard error.code == .libraryMissing, let own = image.encodedJPEG else { throw error }
            return (own, nil)
        }
    }

    /// The picture of a key, from the cache or from its file, which is then cached.
    ///
    /// - Parameter key: its key.
    /// - Returns: the picture; nil when there is none, which is logged.
    /// - Throws: `ImageError` for an invalid key, or when the file is unreadable or no picture.
    public func image(forKey key: String) throws(ImageError) -> BitmapImage? {
        let path = try imagePath(forKey: key)
        attachments.recordRead(key)
        return try open(attachments.file(forKey: key), key, path)
    }

    /// Opens a picture, unless it is in the cache.
    func open(_ file: AttachmentFile?, _ key: String, _ path: String) throws(ImageError) -> BitmapImage? {
        if let file, let image = cache.image(forKey: file.name) {
            cacheHits += 1
            return image
        }
        cacheMisses += 1
        do throws(ImageError) {
            if let file {
                let image = try PictureFile(key: key, file: file, limits: limits, layer: layer).open()
                cache.insert(image, forKey: file.name)
                return image
            }
        } catch {
            guard error.fileError?.code == FileLayerCode.absent else { throw error }
        }
        logger.error("Error: unable to find \(path)")
        return nil
    }

    /// The files of an item's pictures, in order.
    package func pictureFiles(forKey key: String) -> [PictureFile] {
        attachments.files(forKey: key).map { PictureFile(key: key, file: $0, limits: limits, layer: layer) }
    }

    /// The same with files that the item's record lists and that are not there.
    package func listedPictureFiles(forKey key: String) -> [PictureFile] {
        attachments.listedFiles(forKey: key).map { PictureFile(key: key, file: $0, limits: limits, layer: layer) }
    }

    /// The file of a key's picture, whether or not it exists.
    func pictureFile(anywayForKey key: String) -> PictureFile? {
        attachments.file(forKey: key).map { PictureFile(key: key, file: $0, limits: limits, layer: layer) }
    }

    /// Whether a key has a picture, without reading or logging.
    ///
    /// - Parameter key: its key.
    /// - Returns: whether it exists; false for an invalid key.
    public func hasImage(forKey key: String) -> Bool {
        attachments.hasBytes(forKey: key)
    }

    /// Removes a key's picture from the cache, its file and its thumbnails. A missing picture is not an error.
    ///
    /// - Parameter key: its key.
    /// - Throws: `ImageError` for an invalid key, or when the file cannot be removed; then the picture remains.
    public func deleteImage(forKey key: String) throws(ImageError) {
        try checkKey(key)
        do throws(StoreError) { try attachments.removeBytes(forKey: key) } catch {
            throw ImageError(.unwritable, error)
        }
    }

    /// The path of a key's picture, whether or not it exists.
    ///
    /// - Parameter key: its key.
    /// - Returns: the path in the documents folder; for a shared collection's item the path of its cached copy, which
    ///   is made on first read.
    /// - Throws: `ImageError` for an invalid key.
    package func imagePath(forKey key: String) throws(ImageError) -> String {
        try checkKey(key)
        if attachments.isShared(key), let file = attachments.file(forKey: key) { return file.path }
        return PathText.join(attachments.folder, attachments.name(forKey: key) ?? key)
    }

    func checkKey(_ key: String) throws(ImageError) {
        if let reason = AttachmentKey.objection(to: key) {
            throw ImageError(.badKey, "\(key.prefix(300).debugDescription) cannot be an image's key: \(reason)")
        }
    }

    /// The keys of all pictures, in byte order: the files in the folder with the first bytes of a JPEG file.
    ///
    /// - Returns: the keys; O(n), with one read per file.
    /// - Throws: `ImageError` when the folder cannot be listed.
    public func keys() throws(ImageError) -> [String] {
        do throws(StoreError) { return try attachments.keys().filter(isPicture) } catch {
            throw ImageError(.unreadable, error)
        }
    }

    private func isPicture(_ key: String) -> Bool {
        // Only pictures are stored there, and reading the first bytes would fetch them.
        if attachments.isShared(key) { return true }
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

    /// The number of pictures in the cache.
    package var cacheCount: Int { cache.count }

    /// The size of the pictures in the cache, in bytes.
    package var cacheCost: Int { cache.cost }

    /// Maximum size of the cache in bytes, beyond which it removes the least recently used pictures.
    package var cacheLimit: Int {
        get { cache.limit }
        set { cache.limit = newValue }
    }

    /// Removes all pictures from memory, logs their number, and returns the memory to the system. Their files stay. For
    /// memory warnings.
    package func clearCache() {
        logger.info("flushing \(cacheCount) images out of the cache")
        cache.removeAll()
        // The C library keeps freed blocks between others, so that the system would not get them back.
        cubby_trim_memory()
    }
}

/// Several pictures of an item, in order.
extension ImageStore {
    /// The pictures of an item, in order: the first is the one under its key. A missing file is left out.
    ///
    /// - Parameter key: the item's key.
    /// - Returns: the pictures; empty when there are none.
    /// - Throws: `ImageError` for an invalid key, or when a file is unreadable or no picture.
    public func images(forKey key: String) throws(ImageError) -> [BitmapImage] {
        try checkKey(key)
        attachments.recordRead(key)
        var images: [BitmapImage] = []
        for file in attachments.listedFiles(forKey: key) {
            if let image = try open(file, key, file.path) { images.append(image) }
        }
        return images
    }

    /// Sets the pictures of an item, in order. A picture that it has keeps its file; others are stored as by
    /// ``setImage(_:forKey:quality:)``. A new order writes no picture.
    ///
    /// - Parameters:
    ///   - images: the pictures; at most one for a key of no item.
    ///   - key: the item's key.
    ///   - quality: as for a single picture.
    /// - Throws: `ImageError` as ``setImage(_:forKey:quality:)`` does; then all pictures remain unchanged.
    public func setImages(_ images: [BitmapImage], forKey key: String, quality: Double? = nil) throws(ImageError) {
        try checkKey(key)
        // The cache may have the picture from before its encoding.
        let present = attachments.files(forKey: key).map(\.name)
        let missing = attachments.listedFiles(forKey: key).map(\.name).filter { !present.contains($0) }
        var contents: [AttachmentContent] = []
        for image in images {
            if let name = present.first(where: { cache.peek($0) === image }) {
                contents.append(.existing(name))
            } else {
                contents.append(.bytes(try jpeg(image, key, quality)))
            }
        }
        do throws(StoreError) { try attachments.set(contents, forKey: key) } catch {
            throw ImageError(.unwritable, error)
        }
        for name in missing { logger.warning("\(key) no longer names the picture \(name), which is not there") }
        let files = attachments.files(forKey: key)
        // A file whose presence is unknown would shift the others.
        guard files.count == images.count else { return }
        for (image, file) in zip(images, files) where cache.peek(file.name) !== image {
            cache.insert(image, forKey: file.name)
        }
    }
}

/// A picture's file in the store, for work on many pictures on any thread without the cache.
package struct PictureFile: Sendable {
    package let key: String
    let file: AttachmentFile
    let limits: ImageLimits
    let layer: any FileLayer

    package var path: String { file.path }

    /// Whether the file is local; a shared collection's may exist only on its server.
    package var isAtHand: Bool { layer.exists(path) }

    /// Opens the picture; fetches it if only a shared collection's server has it.
    package func open() throws(ImageError) -> BitmapImage {
        do throws(StoreError) { try file.prepare() } catch { throw ImageError(.unreadable, error) }
        return try BitmapImage.open(path, limits: limits, using: layer, isStored: true)
    }
}

/// A cache of pictures by key, which removes the least recently used ones beyond its limit. Each operation is O(1).
struct ImageCache {
    private struct Node {
        var key: String
        var image: BitmapImage
        var newer: Int?
        var older: Int?
    }

    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var places: NameTable<Int> = [:]
    private var newest: Int?
    private var oldest: Int?

    /// The number of pictures.
    var count: Int { places.count }

    /// Their size in bytes.
    private(set) var cost = 0

    /// Maximum size in bytes.
    var limit: Int {
        didSet { trim() }
    }

    init(limit: Int) {
        self.limit = limit
    }

    /// Returns the picture of a key and marks it as the most recently used.
    mutating func image(forKey key: String) -> BitmapImage? {
        guard let place = places[key], let node = nodes[place] else { return nil }
        unlink(place)
        linkAsNewest(place)
        return node.image
    }

    /// Returns the picture of a key without marking it.
    func peek(_ key: String) -> BitmapImage? { places[key].flatMap { nodes[$0]?.image } }

    /// Stores a picture as the most recently used one, unless it is larger than the limit.
    mutating func insert(_ image: BitmapImage, forKey key: String) {
        remove(key)
        let node = Node(key: key, image: image)
        let place: Int
        if let unused = free.popLast() {
            place = unused
            nodes[place] = node
        } else {
            place = nodes.count
            nodes.append(node)
        }
        places[key] = place
        cost += image.byteCount
        linkAsNewest(place)
        trim()
    }

    mutating func remove(_ key: String) {
        guard let place = places.removeValue(forKey: key), let node = nodes[place] else { return }
        cost -= node.image.byteCount
        unlink(place)
        nodes[place] = nil
        free.append(place)
    }

    mutating func removeAll() {
        self = ImageCache(limit: limit)
    }

    private mutating func trim() {
        while cost > limit, let place = oldest, let node = nodes[place] { remove(node.key) }
    }

    private mutating func unlink(_ place: Int) {
        guard let node = nodes[place] else { return }
        if let newer = node.newer { nodes[newer]?.older = node.older } else { newest = node.older }
        if let older = node.older { nodes[older]?.newer = node.newer } else { oldest = node.newer }
        nodes[place]?.newer = nil
        nodes[place]?.older = nil
    }

    private mutating func linkAsNewest(_ place: Int) {
        nodes[place]?.older = newest
        if let newest { nodes[newest]?.newer = place } else { oldest = place }
        newest = place
    }
}

extension ItemSchema {
    /// The fields of a container's items: those of a household, or none but their key, for a container with declared
    /// fields alone (`cubby fields --only`).
    ///
    /// - Parameter container: a container, which need not exist.
    /// - Throws: `FileError` when its format cannot be read.
    package init(of container: ApplicationContainer) throws(FileError) {
        self = try ContainerFormat.hasOwnFields(container) ? ItemSchema() : .household
    }
}
