import Application

/// Pictures that are out of the store and may come back: those of items whose removal can be undone.
extension ImageStore {
    /// Moves a picture's file into a folder of the same file system, which is made if need be; its thumbnails go.
    ///
    /// - Parameters:
    ///   - key: its name; that there is none is no error.
    ///   - folder: where it is kept under the same name.
    /// - Returns: whether there was one.
    /// - Throws: `ImageError` when the key cannot be one, or the file cannot be moved; it is where it was then.
    @discardableResult
    public func setAside(forKey key: String, in folder: String) throws(ImageError) -> Bool {
        let path = try imagePath(forKey: key)
        guard layer.exists(path) else { return false }
        do throws(FileError) {
            try layer.makeDirectories(folder)
            try layer.rename(path, to: PathText.join(folder, key))
        } catch {
            throw ImageError(.unwritable, error)
        }
        cache.remove(key)
        removeThumbnails(forKey: key)
        return true
    }

    /// Moves a picture's file back. A picture that is under the key by now stays, and the other is dropped.
    ///
    /// - Throws: `ImageError` when the key cannot be one, or the file cannot be moved.
    public func bringBack(forKey key: String, from folder: String) throws(ImageError) {
        let path = try imagePath(forKey: key)
        let aside = PathText.join(folder, key)
        do throws(FileError) {
            if layer.exists(path) { try layer.remove(aside) } else { try layer.rename(aside, to: path) }
        } catch {
            throw ImageError(.unwritable, error)
        }
    }
}
