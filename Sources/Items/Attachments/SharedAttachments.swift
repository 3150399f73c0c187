import ColumnEngine
import Files

/// What goes with the items of a collection that a server keeps: each item has the bytes' SHA-256, and files of that name have
/// the bytes.
///
/// New bytes wait in one folder for the commit that sends them. Then, and when they were fetched, they are in the cache,
/// which may be emptied at any time.
final class SharedAttachments {
    private let store: ItemStoreReference
    private let reader: any AttachmentReader
    private let layer: any FileLayer
    private let cache: String
    private let outgoing: String
    /// The digests of what is there for the next commit.
    private var staged: Set<[UInt8]> = []
    /// The digests of what is there for commits that wait for the server, or are to be settled.
    private var waiting: Set<[UInt8]> = []
    /// Keys whose bytes were set before there was an item.
    var looseKeys: Set<String> = []

    init(
        _ store: ItemStore, _ persistence: any AttachmentPersistence, cache: String, outgoing: String,
        _ layer: any FileLayer
    ) {
        self.store = store.zeroingReference
        self.cache = cache
        // What waits in the container for another collection stays.
        self.outgoing = PathText.join(outgoing, persistence.attachmentFolder)
        self.layer = layer
        reader = persistence.attachmentReader
        persistence.attachmentSource = { [weak self] (digest) throws(StoreError) in
            guard let self else { throw Self.lost }
            return try bytesToSend(digest)
        }
        takeLeftovers(persistence, isReadOnly: store.isReadOnly)
    }

    /// What an earlier process left: the bytes of commits that wait, or those of one that was not made.
    private func takeLeftovers(_ persistence: any AttachmentPersistence, isReadOnly: Bool) {
        let isWanted = persistence.hasKeptCommits || !persistence.conflicts.isEmpty
        for name in (try? layer.list(outgoing)) ?? [] {
            if isWanted, let digest = SHA256.digest(ofText: name) {
                waiting.insert(digest)
            } else if !isReadOnly {
                try? layer.remove(PathText.join(outgoing, name))
            }
        }
    }

    /// The digest of an item's bytes; nil for none.
    func digest(of item: Item) -> [UInt8]? { item.store.columns.attachment(item.row) }

    /// The keys of all items that have bytes. O(items).
    var keys: [String] {
        guard let columns = store.store?.columns, columns.attachmentField != nil else { return [] }
        return (0..<columns.count).lazy.map(columns.row(at:)).filter { columns.attachment($0) != nil }.map(
            columns.keyString)
    }

    /// - Throws: ``StoreError``: `inputOutput`, `readOnly`.
    func set(_ bytes: [UInt8], of item: Item, limit: Int) throws(StoreError) {
        try Self.checkCount(bytes.count, limit)
        let digest = SHA256.digest(bytes)
        do throws(FileError) {
            try layer.makeDirectories(outgoing)
            try AtomicFile.write(bytes, to: outgoingPath(digest), using: layer, durable: false)
        } catch {
            throw StoreError(attachment: error)
        }
        staged.insert(digest)
        try item.store.setAttachment(digest, of: item)
    }

    /// The file of an item's bytes; nil for none.
    func file(of item: Item, limit: Int) -> AttachmentFile? {
        guard let digest = digest(of: item), let key = try? item.itemKey else { return nil }
        let name = SHA256.text(digest)
        if staged.contains(digest) || waiting.contains(digest) {
            return AttachmentFile(outgoingPath(digest), contentName: name)
        }
        let (path, cache, layer, reader) = (cachePath(digest), cache, layer, reader)
        return AttachmentFile(path, contentName: name) { () throws(StoreError) in
            if layer.exists(path) { return }
            let bytes = try reader.bytes(ofItem: key, digest: digest, limit: limit)
            try Self.checkCount(bytes.count, limit)
            guard SHA256.digest(bytes) == digest else {
                throw StoreError(
                    .inputOutput,
                    "what goes with the item \(key) is damaged on the server, and was not taken: set it again, or have the "
                        + "owner restore it from a backup")
            }
            do throws(FileError) {
                try layer.makeDirectories(cache)
                try AtomicFile.write(bytes, to: path, using: layer, durable: false)
            } catch {
                throw StoreError(attachment: error)
            }
        }
    }

    // MARK: Commits

    /// A commit was made: the server has it, or it waits.
    func didCommit() {
        waiting.formUnion(staged)
        staged = []
        settle()
    }

    /// Once no commit waits any more, the bytes are the server's, and kept here as copies.
    func settle() {
        guard !waiting.isEmpty, let remote = store.store?.remote, !remote.hasKeptCommits, remote.conflicts.isEmpty
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

    /// What was set since the last commit has not happened.
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

    private func cachePath(_ digest: [UInt8]) -> String { PathText.join(cache, SHA256.text(digest)) }
    private func outgoingPath(_ digest: [UInt8]) -> String { PathText.join(outgoing, SHA256.text(digest)) }
}
