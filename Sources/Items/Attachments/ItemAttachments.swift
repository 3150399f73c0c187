import ColumnEngine
public import Files

/// Bytes that go with items: a file for each key, an item's `itemKey` as a rule, in one folder.
///
/// Assigned to ``ItemStore/attachments``, they are part of the store's transactions and of its history: a removed item's
/// leave with it, and come back with it. An item may have several, in order: under its key is the first then, the others lie
/// under keys that begin with it (``setAllBytes(_:forKey:)``). Under a key that is no item's they are files and nothing else. In a store whose
/// collection a server keeps, the items' bytes are the server's, and files here are copies. The store's thread owns them.
public final class ItemAttachments {
    /// Told what failed where no error can be thrown.
    public var onProblem: ((AttachmentProblem) -> Void)?
    /// Told each key whose bytes are others now.
    package var onChange: ((_ key: String) -> Void)?

    let files: AttachmentFiles
    /// The store whose items they go with.
    private var store: ItemStoreReference?
    /// What the open transactions have done so far, innermost last; see `ItemAttachments+Transactions.swift`.
    var transactions: [AttachmentTransaction] = []
    /// The most bytes that go with an item of a shared collection.
    package var byteLimit = 512 << 20
    /// The folders of copies, and of what is on its way to the server.
    private let sharedFolders: (cache: String, outgoing: String)
    /// What goes with the store's items, when a server keeps it.
    private(set) var shared: SharedAttachments?
    /// Whether files came or went without a sync of their folder.
    var isUnsynced = false
    /// The names of further files that were made since the last commit.
    var freshNames: Set<String> = []

    /// Attachments in a folder that exists; it may be the store's own. One store at a time may have it.
    ///
    /// - Parameters:
    ///   - folder: where they are.
    ///   - removed: where those of removed items are kept for an undo, under their keys; on the same file system. It is made
    ///     when it is needed, and nothing is in it that another needs. If nil, the folder's name and `.removed`.
    ///   - replaced: the same for what others replaced. If nil, the folder's name and `.replaced`.
    ///   - cache: where copies are of what the server of a shared collection keeps; it may be emptied at any time. If nil,
    ///     the folder's name and `.cache`.
    ///   - outgoing: where it waits for the commit that sends it; on the same file system as the cache. If nil, the folder's
    ///     name and `.outgoing`.
    ///   - layer: the file system.
    public init(
        folder: String, removed: String? = nil, replaced: String? = nil, cache: String? = nil, outgoing: String? = nil,
        using layer: any FileLayer = PosixFileLayer()
    ) {
        sharedFolders = (cache ?? folder + ".cache", outgoing ?? folder + ".outgoing")
        files = AttachmentFiles(
            folder: folder, removed: removed ?? folder + ".removed", replaced: replaced ?? folder + ".replaced", layer)
    }

    /// Where they are.
    public var folder: String { files.folder }
    package var layer: any FileLayer { files.layer }
    /// Where those of removed items are.
    package var removedFolder: String { files.removed }
    /// The keys of those, an earlier process's among them.
    package var removedKeys: [String] { files.removedKeys }

    // MARK: Bytes by key

    /// Keeps bytes under a key, in place of those that were there, atomically and durably; in a transaction, at its end.
    ///
    /// - Throws: `StoreError`: `invalidValue` for what cannot be a key, `readOnly`, `inputOutput`; what was there before is
    ///   there still.
    public func setBytes(_ bytes: [UInt8], forKey key: String) throws(StoreError) {
        try checkChange(key)
        if let shared, let item = item(key) { return try setShared(bytes, item, in: shared) }
        // An item whose list is empty.
        guard let name = name(forKey: key) else { return try set([.bytes(bytes)], forKey: key) }
        do throws(FileError) { try write(bytes, name) } catch { throw StoreError(attachment: error) }
        shared?.looseKeys.insert(key)
        onChange?(name)
    }

    /// Writes a file in its place; in a transaction, beside it.
    func write(_ bytes: [UInt8], _ name: String) throws(FileError) {
        guard transactions.isEmpty else { return try stage(bytes, name) }
        let change = keepCopy(name, isKept: isNamed(name))
        try AtomicFile.write(bytes, to: files.place(name), using: layer)
        note(change)
    }

    /// The bytes under a key, those of the open transaction included; nil when there are none.
    ///
    /// - Throws: `StoreError`: `invalidValue` for what cannot be a key, `inputOutput`, also for what is no regular file;
    ///   `disconnected` where only the server has them, which does not answer.
    public func bytes(forKey key: String) throws(StoreError) -> [UInt8]? {
        try checkKey(key)
        return try file(forKey: key).flatMap(bytes)
    }

    func bytes(of file: AttachmentFile) throws(StoreError) -> [UInt8]? {
        try file.prepare()
        let path = file.path
        do throws(FileError) {
            guard let status = try layer.status(path) else { return nil }
            // Opening a pipe would wait for its other end.
            guard status.kind == .regular else {
                throw FileError(.read, path, code: FileLayerCode.inputOutput, reason: "it is no regular file")
            }
            return try layer.contents(of: path)
        } catch {
            throw StoreError(attachment: error)
        }
    }

    /// Removes the bytes under a key; that there are none is no error.
    ///
    /// - Throws: `StoreError`: `invalidValue` for what cannot be a key, `readOnly`, `inputOutput`; they are there then.
    public func removeBytes(forKey key: String) throws(StoreError) {
        try checkChange(key)
        if let shared, let item = item(key) {
            try shared.set(Array(shared.digests(of: item).dropFirst()), of: item)
        } else if let (item, names) = list(naming: key) {
            try setNames(names, of: item)
        } else if transactions.isEmpty {
            do throws(FileError) { note(try remove(key, isKept: isNamed(key))) } catch {
                throw StoreError(attachment: error)
            }
        } else {
            note(.removed, key)
        }
        onChange?(key)
    }

    /// Whether there are bytes under a key, without reading them; false, too, for what cannot be a key.
    public func hasBytes(forKey key: String) -> Bool {
        if let shared, let item = item(key) { return !shared.digests(of: item).isEmpty }
        return AttachmentKey.isKey(key) && currentPath(forKey: key).map(layer.exists) ?? false
    }

    /// The keys under which there are bytes, in byte order. O(n), with a look at each file's kind.
    ///
    /// - Throws: `StoreError` with `inputOutput` when the folder cannot be listed.
    public func keys() throws(StoreError) -> [String] {
        store?.store?.columns.noteWholeRead()
        do throws(FileError) {
            let deeds = deedsUnderWay
            let kept = try layer.list(folder).filter { name in
                guard deeds[name] == nil, AttachmentKey.isKey(name), shared == nil || !isItem(name) else {
                    return false
                }
                return (try? layer.status(files.place(name)))?.kind == .regular
            }
            let staged = deeds.compactMap { $0.value == .removed ? nil : $0.key }
            var keys = Set(kept + staged + (shared?.keys ?? []))
            for key in listingKeys {
                let names = presentNames(forKey: key)
                if names.isEmpty { keys.remove(key) }
                // The first is known by its item's key, unless another has that as its name.
                if let first = names.first, !names.contains(key) {
                    keys.remove(first)
                    keys.insert(key)
                }
            }
            return keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        } catch {
            throw StoreError(attachment: error)
        }
    }

    /// Which of many files are there. A few are looked up one by one; for many the folder is listed once.
    package func keys(among names: Set<String>) -> Set<String> {
        guard names.count >= 1000, let known = try? layer.list(folder) else {
            return names.filter { AttachmentKey.isKey($0) && layer.exists(files.place($0)) }
        }
        return names.intersection(known).filter(AttachmentKey.isKey)
    }

    func checkKey(_ key: String) throws(StoreError) {
        if let reason = AttachmentKey.objection(to: key) {
            throw StoreError(
                .invalidValue(field: "itemKey"),
                "\(key.prefix(300).debugDescription) cannot be an attachment's key: \(reason)")
        }
    }

    func checkChange(_ key: String) throws(StoreError) {
        try checkKey(key)
        if let store = store?.store, store.isReadOnly { throw store.readOnlyError }
    }

    // MARK: The store

    /// Becomes a store's: what an earlier process left for its undo goes, or returns to its item.
    func join(_ store: ItemStore) {
        self.store = store.zeroingReference
        transactions = Array(repeating: AttachmentTransaction(), count: store.columns.depth)
        if let persistence = store.remote as? any AttachmentPersistence {
            let (cache, outgoing) = sharedFolders
            shared = SharedAttachments(store, persistence, cache: cache, outgoing: outgoing, layer)
        } else if !store.isReadOnly {
            settleRemoved()
        }
    }

    func leaveStore() {
        store = nil
        shared = nil
        transactions = []
    }

    func item(_ key: String) -> Item? { store?.store?.item(forKey: key) }
    func isItem(_ key: String) -> Bool { item(key) != nil }
    /// The store's rows; nil without a store.
    var columns: ColumnStore? { store?.store?.columns }
    /// Whether an item has a file of this name, there or not.
    func isNamed(_ name: String) -> Bool { columns?.namesAttachment(name) ?? false }

    /// A transaction that reads what goes with an item has read the item.
    package func noteRead(_ key: String) {
        guard !transactions.isEmpty, let columns = store?.store?.columns else { return }
        var key = key
        _ = key.withUTF8 { columns.row(forKey: $0) }
    }

    private func note(_ change: AttachmentChange?) {
        if let change { store?.store?.attachmentStep.note(change) }
    }

    func report(_ step: AttachmentProblem.Step, _ key: String?, _ error: FileError) {
        onProblem?(AttachmentProblem(step: step, key: key, error: error))
    }
}

extension StoreError {
    init(attachment error: FileError) {
        self.init(.inputOutput, error.message, path: error.path, cause: error)
    }
}
