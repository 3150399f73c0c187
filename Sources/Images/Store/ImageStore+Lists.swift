import Items

/// Several pictures of an item, in order.
extension ImageStore {
    /// The pictures of an item, in order: the first is the one under its key. A missing file is left out.
    ///
    /// - Parameter key: the item's key.
    /// - Returns: the pictures; empty when there are none.
    /// - Throws: `ImageError` for an invalid key, or when a file is unreadable or no picture.
    public func images(forKey key: String) throws(ImageError) -> [Image] {
        try checkKey(key)
        attachments.noteRead(key)
        var images: [Image] = []
        for file in attachments.files(forKey: key) {
            if let image = try open(file, key, file.path) { images.append(image) }
        }
        return images
    }

    /// Sets the pictures of an item, in order. A picture that it has or that a store returned keeps its bytes; others
    /// are stored as by ``setImage(_:forKey:quality:)``. A new order writes no picture.
    ///
    /// - Parameters:
    ///   - images: the pictures; at most one for a key of no item.
    ///   - key: the item's key.
    ///   - quality: the quality of the JPEG files of new pictures, 0 to 1.
    /// - Throws: `ImageError` as ``setImage(_:forKey:quality:)`` does; then all pictures remain unchanged.
    public func setImages(_ images: [Image], forKey key: String, quality: Double = 0.5) throws(ImageError) {
        try checkKey(key)
        // The cache may have the picture from before its encoding.
        let present = attachments.files(forKey: key).map(\.name)
        var contents: [AttachmentContent] = []
        for image in images {
            if let name = present.first(where: { cache.peek($0) === image }) {
                contents.append(.kept(name))
            } else if image.isStored, let bytes = image.encodedJPEG {
                contents.append(.bytes(bytes))
            } else {
                contents.append(.bytes(try jpeg(image, quality)))
            }
        }
        do throws(StoreError) { try attachments.set(contents, forKey: key) } catch {
            throw ImageError(.unwritable, error)
        }
        let files = attachments.files(forKey: key)
        // A file whose presence is unknown would shift the others.
        guard files.count == images.count else { return }
        for (image, file) in zip(images, files) where cache.peek(file.name) !== image {
            cache.insert(image, forKey: file.name)
        }
    }
}
