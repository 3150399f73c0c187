import Files

/// A reversible change to a key's attachment. Holds the previous content or, while the change is undone, the new one.
///
/// Its file is outside of the store's folder and is deleted with the last reference to the change. So neither pruned
/// history nor a released store leaves a file behind.
final class AttachmentChange {
    let key: String
    /// The file; nil when there was none.
    private(set) var path: String?
    /// The file's size.
    private(set) var byteCount = 0
    /// Whether the last reversal failed: the next one has nothing to reverse, and the next opening deals with the file.
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

    /// Records the file's current path.
    func moved(to path: String?) {
        self.path = path
        byteCount = path.flatMap { try? files.layer.status($0) }?.size ?? 0
        files.note(self, at: path)
    }

    /// Swaps the change's file and the key's file.
    ///
    /// - Parameter isNamed: whether an item currently has a file of this name.
    /// - Returns: false if nothing changed: the file was purged, and the key's file stays.
    /// - Throws: `FileError`; both files are then unchanged.
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
