import Files
import Logging

/// Pictures that are out of the store and may come back: those of items that are gone, and return when their removal is
/// undone. They are among the caches, which no backup has, as long as the history reaches to them, and until the next launch
/// at most. Each is under its key: a launch after a crash knows by that to which item it belongs.
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
            try layer.rename(path, to: try freePlaceAside(forKey: key))
            isUnsynced = true
        } catch {
            throw ImageError(.unwritable, error)
        }
        cache.remove(key)
        removeThumbnails(forKey: key)
        return true
    }

    /// The place of a picture that goes aside. One that is there, of an earlier item of this key, moves to those that are known
    /// by their numbers.
    func freePlaceAside(forKey key: String) throws(FileError) -> String {
        try layer.makeDirectories(asideDirectory)
        let place = PathText.join(asideDirectory, key)
        if let other = changesAside.removeValue(forKey: key) {
            try layer.makeDirectories(replacedDirectory)
            let path = PathText.join(replacedDirectory, "\(other)-aside")
            try layer.rename(place, to: path)
            replaced[other]?.path = path
        }
        return place
    }

    public func removeContents(ofItems keys: Set<String>) -> [UInt32] {
        keysOfImages(among: keys).sorted().compactMap { key -> UInt32? in
            if keepsReplaced?(key) == true { return nil }
            do throws(ImageError) {
                return try setAside(forKey: key) ? number(key, PathText.join(asideDirectory, key)) : nil
            } catch {
                logger.warning("\(error.message)")
                return nil
            }
        }
    }

    /// Moves a picture's file back. A picture that is under the key by now stays, and the other is dropped.
    private func bringBack(forKey key: String) throws(ImageError) {
        let path = try imagePath(forKey: key)
        let aside = PathText.join(asideDirectory, key)
        do throws(FileError) {
            if layer.exists(path) { try layer.remove(aside) } else { try layer.rename(aside, to: path) }
            isUnsynced = true
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
                    try? layer.remove(PathText.join(asideDirectory, key))
                }
            } catch {
                logger.warning("\(error.message)")
            }
        }
        synchronize()
    }
}
