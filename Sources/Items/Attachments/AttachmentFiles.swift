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
    func record(_ change: AttachmentChange, at path: String?) {
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

/// The file of an attachment. Usable on any thread.
package struct AttachmentFile: Sendable {
    /// Its path, even before it is fetched.
    package let path: String
    /// A cache key for results that are computed from the bytes.
    package let name: String
    /// Whether the name always refers to the same bytes; else the file's content may be replaced.
    package let isImmutable: Bool
    private let fetch: (@Sendable () throws(StoreError) -> Void)?

    package init(_ path: String, name: String) {
        (self.path, self.name, isImmutable, fetch) = (path, name, false, nil)
    }

    init(_ path: String, immutable name: String, fetch: (@Sendable () throws(StoreError) -> Void)? = nil) {
        (self.path, self.name, isImmutable, self.fetch) = (path, name, true, fetch)
    }

    /// Fetches the bytes from the collection's server if they are not stored locally.
    ///
    /// - Throws: ``StoreError`` with `disconnected` or `inputOutput`.
    package func prepare() throws(StoreError) { try fetch?() }
}

/// One element of the new list of an item's attachments.
package enum AttachmentContent {
    /// The existing attachment with this ``AttachmentFile/name``.
    case existing(String)
    /// These bytes; not written again if the item already has an equal attachment.
    case bytes([UInt8])
}

/// Validates keys as names of attachment files.
package enum AttachmentKey {
    private static let limit = 255

    /// The item store's files in the same folder; names of their temporary files have these prefixes.
    private static let reserved = ["items.archive", "items.journal"]

    /// Makes a unique file name for one of several attachments of an item.
    static func further(of key: String) -> String {
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        return "\(key).\(String(repeating: "0", count: 16 - number.count))\(number)"
    }

    /// The item's key in a name made by ``further(of:)``; nil for another name.
    static func owner(of name: String) -> String? { name.lastIndex(of: ".").map { String(name[..<$0]) } }

    /// Whether a file name is valid for an attachment.
    package static func isKey(_ name: String) -> Bool { objection(to: name) == nil }

    /// Why a key is not a valid name of an attachment file; nil if it is one.
    package static func objection(to key: String) -> String? {
        if key.isEmpty { return "it is empty" }
        if key.utf8.count > limit { return "it is longer than \(limit) bytes" }
        if key.utf8.contains(UInt8(ascii: "/")) { return "it holds a slash" }
        if key.utf8.contains(0) { return "it holds a NUL" }
        if key == "." || key == ".." { return "it names a folder" }
        if reserved.contains(where: { key.hasPrefix($0) }) { return "it names a file of the item store" }
        if key == ".lock" { return "it names the store's lock" }
        if TemporaryName.matches(key) { return "it names a temporary file" }
        return nil
    }
}
