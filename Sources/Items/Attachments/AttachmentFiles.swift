import Files

/// The folders of a store's attachments: the current ones, each named by its key, and those kept for undo. Files of
/// removed items are named by key as well, so that after a crash the next opening can restore them. Replaced files are
/// numbered.
final class AttachmentFiles {
    struct Weak {
        weak var change: AttachmentChange?
    }

    let layer: any FileLayer
    let folder: String
    let removed: String
    private let replaced: String
    private var lastNumber = 0
    /// By key, the change whose file is in the folder of removed attachments.
    private(set) var removedOnes: [String: Weak] = [:]

    init(folder: String, removed: String, replaced: String, _ layer: any FileLayer) {
        self.folder = folder
        self.removed = removed
        self.replaced = replaced
        self.layer = layer
    }

    func place(_ key: String) -> String { PathText.join(folder, key) }
    func removedPlace(_ key: String) -> String { PathText.join(removed, key) }

    /// Returns a free path for a file that is being replaced.
    func freePlace() throws(FileError) -> String {
        try layer.makeDirectories(replaced)
        lastNumber += 1
        return PathText.join(replaced, String(lastNumber))
    }

    /// Returns the path for a removed item's file. The file of an earlier item with the key moves to the replaced ones.
    func freeRemovedPlace(_ key: String) throws(FileError) -> String {
        try layer.makeDirectories(removed)
        let place = removedPlace(key)
        if let other = removedOnes[key]?.change {
            let path = try freePlace()
            try layer.rename(place, to: path)
            other.moved(to: path)
        }
        return place
    }

    /// Records the path of a change's file.
    func note(_ change: AttachmentChange, at path: String?) {
        if path == removedPlace(change.key) {
            removedOnes[change.key] = Weak(change: change)
        } else if removedOnes[change.key]?.change === change {
            removedOnes[change.key] = nil
        }
    }

    /// Removes the entry of a released change.
    func forgetRemoved(_ key: String) {
        if let entry = removedOnes[key], entry.change == nil { removedOnes[key] = nil }
    }

    /// Copies a file as a hard link, which is as good as a copy: files are never modified, only replaced by new files.
    /// File systems without hard links get a copy.
    func copy(_ place: String, to path: String) throws(FileError) {
        do throws(FileError) {
            try layer.link(place, to: path)
        } catch {
            try AtomicFile.write(layer.contents(of: place), to: path, using: layer, durable: false)
        }
    }

    /// The keys of removed items' files, including an earlier process's.
    var removedKeys: [String] { ((try? layer.list(removed)) ?? []).filter(AttachmentKey.isKey) }

    /// Deletes the replaced files of an earlier process, since its history is gone.
    func removeReplaced() {
        for name in (try? layer.list(replaced)) ?? [] { try? layer.remove(PathText.join(replaced, name)) }
    }
}
