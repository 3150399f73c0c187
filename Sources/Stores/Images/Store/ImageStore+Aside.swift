import Files
import Logging

/// Pictures that are out of the store and may come back: those of items whose removal can be undone. They are among the
/// caches, which no backup has, until the next launch.
extension ImageStore {
    /// Where they are.
    public var asideDirectory: String { PathText.join(PathText.parent(of: thumbnailDirectory), "Removed Images") }

    /// Moves a picture's file aside, within the file system; its thumbnails go.
    ///
    /// - Parameter key: its name; that there is none is no error.
    /// - Returns: whether there was one.
    /// - Throws: `ImageError` when the key cannot be one, or the file cannot be moved; it is where it was then.
    @discardableResult
    public func setAside(forKey key: String) throws(ImageError) -> Bool {
        let path = try imagePath(forKey: key)
        guard layer.exists(path) else { return false }
        do throws(FileError) {
            try layer.makeDirectories(asideDirectory)
            try layer.rename(path, to: PathText.join(asideDirectory, key))
        } catch {
            throw ImageError(.unwritable, error)
        }
        cache.remove(key)
        removeThumbnails(forKey: key)
        return true
    }

    /// Moves a picture's file back. A picture that is under the key by now stays, and the other is dropped.
    ///
    /// - Parameter key: its name.
    /// - Throws: `ImageError` when the key cannot be one, or the file cannot be moved.
    public func bringBack(forKey key: String) throws(ImageError) {
        let path = try imagePath(forKey: key)
        let aside = PathText.join(asideDirectory, key)
        do throws(FileError) {
            if layer.exists(path) { try layer.remove(aside) } else { try layer.rename(aside, to: path) }
        } catch {
            throw ImageError(.unwritable, error)
        }
    }

    /// The keys of the pictures that are aside, an earlier process's among them.
    public var keysAside: [String] { ((try? layer.list(asideDirectory)) ?? []).filter(ImageKey.isKey) }

    /// At launch: nothing can be undone any more, so what is aside goes; but a process that ended between an undo and its
    /// picture's return has left a picture whose item is there, and it returns now.
    ///
    /// - Parameter isItem: whether a key is an item's.
    public func settleAside(isItem: (String) -> Bool) {
        removeReplaced()
        for key in keysAside {
            do throws(ImageError) {
                if isItem(key), !hasImage(forKey: key) {
                    try bringBack(forKey: key)
                } else {
                    removeFile(PathText.join(asideDirectory, key))
                }
            } catch {
                logger.warning("\(error.message)")
            }
        }
    }
}
