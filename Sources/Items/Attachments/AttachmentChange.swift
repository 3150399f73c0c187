import Files

/// A change to what is under a key, which the history can take back: what was there before, or, while it is taken back, after.
///
/// Its file lies out of the store and goes with the last reference to the change. So what the history forgets leaves no file
/// behind, nor does a store that is released.
final class AttachmentChange {
    let key: String
    /// The file; nil when there was none.
    private(set) var path: String?
    /// The file's size.
    private(set) var byteCount = 0
    /// Whether the last reversal failed: the next one has nothing to reverse, and the file is left to the next opening.
    var hasFailed = false
    private let files: AttachmentFiles

    init(_ key: String, _ path: String?, in files: AttachmentFiles) {
        self.key = key
        self.files = files
        moved(to: path)
    }

    deinit {
        files.forgetRemoved(key)
        if let path, !hasFailed { try? files.layer.remove(path) }
    }

    /// Notes where the file is now.
    func moved(to path: String?) {
        self.path = path
        byteCount = path.flatMap { try? files.layer.status($0) }?.size ?? 0
        files.note(self, at: path)
    }

    /// Exchanges the file and what is under the key.
    ///
    /// - Parameter isNamed: whether an item has a file of this name now.
    /// - Returns: false when nothing changed: where the file was purged, what is under the key stays.
    /// - Throws: `FileError`; both are where they were then.
    func reverse(isNamed: Bool) throws(FileError) -> Bool {
        let layer = files.layer
        let place = files.place(key)
        if let path, !layer.exists(path) { return false }
        var other: String?
        if layer.exists(place) {
            let goesAside = !isNamed && path != files.removedPlace(key)
            other = goesAside ? try files.freeRemovedPlace(key) : try files.freePlace()
        }
        if let path {
            if let other { try files.copy(place, to: other) }
            do throws(FileError) {
                try layer.rename(path, to: place)
            } catch {
                if let other { try? layer.remove(other) }
                throw error
            }
        } else if let other {
            try layer.rename(place, to: other)
        }
        moved(to: other)
        return true
    }
}
