import Files

/// The folders of a store's attachments: those that are in their places, each under its key, and those that an undo brings
/// back. Of these the removed items' are under their keys as well: after a crash the next opening knows by that where each
/// belongs. What was replaced is under numbers.
final class AttachmentFiles {
    struct Weak {
        weak var change: AttachmentChange?
    }

    let layer: any FileLayer
    let folder: String
    let removed: String
    private let replaced: String
    private var lastNumber = 0
    /// By key, the change whose file is in the folder of the removed ones.
    private(set) var removedOnes: [String: Weak] = [:]

    init(folder: String, removed: String, replaced: String, _ layer: any FileLayer) {
        self.folder = folder
        self.removed = removed
        self.replaced = replaced
        self.layer = layer
    }

    func place(_ key: String) -> String { PathText.join(folder, key) }
    func removedPlace(_ key: String) -> String { PathText.join(removed, key) }

    /// A place for a file that another replaces.
    func freePlace() throws(FileError) -> String {
        try layer.makeDirectories(replaced)
        lastNumber += 1
        return PathText.join(replaced, String(lastNumber))
    }

    /// The place for a file whose item is gone. One that is there, of an earlier item with the key, moves to the replaced ones.
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

    /// Notes where a change's file is.
    func note(_ change: AttachmentChange, at path: String?) {
        if path == removedPlace(change.key) {
            removedOnes[change.key] = Weak(change: change)
        } else if removedOnes[change.key]?.change === change {
            removedOnes[change.key] = nil
        }
    }

    /// Forgets a change that is gone.
    func forgetRemoved(_ key: String) {
        if let entry = removedOnes[key], entry.change == nil { removedOnes[key] = nil }
    }

    /// A second name for a file costs nothing, and is as good as a copy: the file itself never changes, for what replaces it is
    /// another one under its name. A file system without such names gets a copy.
    func copy(_ place: String, to path: String) throws(FileError) {
        do throws(FileError) {
            try layer.link(place, to: path)
        } catch {
            try AtomicFile.write(layer.contents(of: place), to: path, using: layer, durable: false)
        }
    }

    /// The keys of the files whose items are gone, an earlier process's among them.
    var removedKeys: [String] { ((try? layer.list(removed)) ?? []).filter(AttachmentKey.isKey) }

    /// Removes what an earlier process kept of replaced files: its history went with it.
    func removeReplaced() {
        for name in (try? layer.list(replaced)) ?? [] { try? layer.remove(PathText.join(replaced, name)) }
    }
}
