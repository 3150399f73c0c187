import ColumnEngine
import Files
import ItemArchive
import PropertyList

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
    private(set) var removedOnes: NameTable<Weak> = [:]

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

/// The attachments of a shared collection. Each item has the SHA-256 digests of its attachments, in order; the files
/// are named by digest.
///
/// New bytes wait in one folder for the commit that sends them. After that, and when fetched, they are in the cache,
/// which may be emptied at any time.
final class SharedAttachments {
    private let store: ItemStoreReference
    private let reader: any AttachmentReader
    private let layer: any FileLayer
    private let cache: String
    private let outgoing: String
    /// The digests of files for the next commit.
    private var staged: Set<[UInt8]> = []
    /// The digests of files for commits that wait for the server or are in conflict.
    private var waiting: Set<[UInt8]> = []
    /// Keys whose bytes were set before their items existed.
    var looseKeys: NameSet = []

    init(
        _ store: ItemStore, _ persistence: any AttachmentPersistence, cache: String, outgoing: String,
        _ layer: any FileLayer
    ) {
        self.store = store.zeroingReference
        self.cache = cache
        // Keep the files that wait in the container for another collection.
        self.outgoing = PathText.join(outgoing, persistence.attachmentFolder)
        self.layer = layer
        reader = persistence.attachmentReader
        persistence.attachmentSource = { [weak self] (digest) throws(StoreError) in
            guard let self else { throw Self.lost }
            return try bytesToSend(digest)
        }
        takeLeftovers(persistence, isReadOnly: store.isReadOnly)
    }

    /// Takes over an earlier process's files: keeps those of waiting commits, and deletes those of uncommitted changes.
    private func takeLeftovers(_ persistence: any AttachmentPersistence, isReadOnly: Bool) {
        let isWanted = persistence.hasPendingCommits || !persistence.conflicts.isEmpty
        for name in (try? layer.list(outgoing)) ?? [] {
            if isWanted, let digest = [UInt8](hexadecimal: name, count: SHA256.byteCount) {
                waiting.insert(digest)
            } else if !isReadOnly {
                try? layer.remove(PathText.join(outgoing, name))
            }
        }
    }

    /// The digests of an item's attachments, in order.
    func digests(of item: Item) -> [[UInt8]] { item.store.columns.digests(item.row) }

    /// The keys of all items with attachments. O(items).
    var keys: [String] {
        guard let columns = store.store?.columns, columns.attachmentField != nil else { return [] }
        return (0..<columns.count).lazy.map(columns.row(at:)).filter { !columns.digests($0).isEmpty }.map(
            columns.keyString)
    }

    /// Sets all attachments of an item. Existing ones are not written again, except a single one: its file may be lost.
    ///
    /// - Throws: ``StoreError``: `inputOutput`, `readOnly`.
    func set(_ contents: [AttachmentContent], of item: Item, limit: Int) throws(StoreError) {
        let old = digests(of: item)
        var digests: [[UInt8]] = []
        var new: Set<[UInt8]> = []
        do throws(StoreError) {
            for content in contents {
                switch content {
                case .existing(let name): digests += old.filter { $0.hexadecimal == name }.prefix(1)
                case .bytes(let bytes):
                    try Self.checkCount(bytes.count, limit)
                    let digest = SHA256.digest(bytes)
                    digests.append(digest)
                    if contents.count > 1, old.contains(digest) { continue }
                    if !staged.contains(digest) { new.insert(digest) }
                    try Self.write(bytes, to: outgoingPath(digest), in: outgoing, using: layer)
                }
            }
            try set(digests, of: item)
        } catch {
            for digest in new.subtracting(waiting) { try? layer.remove(outgoingPath(digest)) }
            throw error
        }
        staged.formUnion(new)
    }

    private static func write(
        _ bytes: [UInt8], to path: String, in folder: String, using layer: any FileLayer
    ) throws(StoreError) {
        try attempt { () throws(FileError) in
            try layer.makeDirectories(folder)
            try AtomicFile.write(bytes, to: path, using: layer, durable: false)
        }
    }

    /// Stores an item's digests: a single one as a value, several as an array.
    func set(_ digests: [[UInt8]], of item: Item) throws(StoreError) {
        let values = digests.map { PropertyListValue.data($0) }
        try item.store.setAttachments(values.count > 1 ? .array(values) : values.first, of: item)
    }

    /// The files of an item's attachments, in order.
    func files(of item: Item, limit: Int) -> [AttachmentFile] {
        guard let key = try? item.itemKey else { return [] }
        return digests(of: item).map { file($0, key, limit) }
    }

    private func file(_ digest: [UInt8], _ key: String, _ limit: Int) -> AttachmentFile {
        let name = digest.hexadecimal
        if staged.contains(digest) || waiting.contains(digest) {
            return AttachmentFile(outgoingPath(digest), immutable: name)
        }
        let (path, cache, layer, reader) = (cachePath(digest), cache, layer, reader)
        return AttachmentFile(path, immutable: name) { () throws(StoreError) in
            if layer.exists(path) { return }
            let bytes = try reader.bytes(ofItem: key, digest: digest, limit: limit)
            try Self.checkCount(bytes.count, limit)
            guard SHA256.digest(bytes) == digest else {
                throw StoreError(
                    .inputOutput,
                    "what goes with the item \(key) is damaged on the server, and was not taken: set it again, or have the "
                        + "owner restore it from a backup")
            }
            try Self.write(bytes, to: path, in: cache, using: layer)
        }
    }

    // MARK: Commits

    /// Called after a commit: the server has it, or it waits.
    func didCommit() {
        waiting.formUnion(staged)
        staged = []
        settle()
    }

    /// Moves the files to the cache as copies once no commit waits: the server has the bytes then.
    func settle() {
        guard !waiting.isEmpty, let remote = store.store?.replica.remote, !remote.hasPendingCommits,
            remote.conflicts.isEmpty
        else {
            return
        }
        for digest in waiting {
            try? layer.makeDirectories(cache)
            do throws(FileError) { try layer.rename(outgoingPath(digest), to: cachePath(digest)) } catch {
                try? layer.remove(outgoingPath(digest))
            }
        }
        waiting = []
    }

    /// Deletes the files set since the last commit.
    func didRollBack() {
        for digest in staged.subtracting(waiting) { try? layer.remove(outgoingPath(digest)) }
        staged = []
    }

    private func bytesToSend(_ digest: [UInt8]) throws(StoreError) -> [UInt8] {
        for path in [outgoingPath(digest), cachePath(digest)] {
            if let bytes = try? layer.contents(of: path), SHA256.digest(bytes) == digest { return bytes }
        }
        throw Self.lost
    }

    private static let lost = StoreError(
        .inputOutput,
        "what goes with an item is neither here nor on the server any more (it keeps a day what items no longer have): "
            + "the changes are not committed")

    private static func checkCount(_ count: Int, _ limit: Int) throws(StoreError) {
        guard count > limit else { return }
        throw StoreError(.inputOutput, "what goes with an item has \(count) bytes, more than the limit of \(limit)")
    }

    private func cachePath(_ digest: [UInt8]) -> String { PathText.join(cache, digest.hexadecimal) }
    private func outgoingPath(_ digest: [UInt8]) -> String { PathText.join(outgoing, digest.hexadecimal) }
}

/// Attachments of items in a shared collection.
extension ItemAttachments {
    /// The file for a key, whether or not it exists; nil if an item or the open transaction has none there.
    package func file(forKey key: String) -> AttachmentFile? {
        if let shared, let item = item(key) { return shared.files(of: item, limit: byteLimit).first }
        guard let name = name(forKey: key) else { return nil }
        return path(ofFile: name).map { AttachmentFile($0, name: name) }
    }

    /// Whether a key is that of an item in a shared collection.
    package func isShared(_ key: String) -> Bool { shared != nil && isItem(key) }

    func setShared(_ bytes: [UInt8], _ item: Item, in shared: SharedAttachments) throws(StoreError) {
        let rest = shared.digests(of: item).dropFirst().map { AttachmentContent.existing($0.hexadecimal) }
        try shared.set([.bytes(bytes)] + rest, of: item, limit: byteLimit)
        onChange?(try item.itemKey)
    }

    /// Gives new items the bytes that were set under their keys earlier, before their commit is sent.
    func adoptLooseBytes() throws(StoreError) {
        guard let shared, !shared.looseKeys.isEmpty else { return }
        for key in shared.looseKeys {
            guard let item = item(key) else { continue }
            shared.looseKeys.remove(key)
            guard shared.digests(of: item).isEmpty, let path = currentPath(forKey: key), layer.exists(path) else {
                continue
            }
            let bytes = try attempt { () throws(FileError) in try layer.contents(of: path, limit: byteLimit) }
            try setShared(bytes, item, in: shared)
        }
    }
}
