import Items

/// Several pictures of an item, in order.
extension ImageStore {
    /// The pictures of an item, in order: the first is the one under its key. A missing file is left out.
    ///
    /// - Parameter key: the item's.
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

    /// Sets the pictures of an item, in order. One that it has, and one that a store gave out, keeps its bytes; the others are
    /// stored as by ``setImage(_:forKey:quality:)``. Another order writes no picture.
    ///
    /// - Parameters:
    ///   - images: the pictures; at most one for a key that is no item's.
    ///   - key: the item's.
    ///   - quality: the quality of the JPEG files of new pictures, 0 to 1.
    /// - Throws: `ImageError` as of ``setImage(_:forKey:quality:)``; all pictures remain as they were then.
    public func setImages(_ images: [Image], forKey key: String, quality: Double = 0.5) throws(ImageError) {
        try checkKey(key)
        // What is in the cache may be the picture as it was before it was encoded.
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
        // A file whose presence cannot be known would shift the others.
        guard files.count == images.count else { return }
        for (image, file) in zip(images, files) where cache.peek(file.name) !== image {
            cache.insert(image, forKey: file.name)
        }
    }
}
