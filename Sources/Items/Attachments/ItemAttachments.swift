import ColumnEngine
public import Files
import ItemArchive

/// Attachments of items: one file per key in a single folder. The key usually is an item's `itemKey`.
///
/// Assign them to ``ItemStore/attachments`` to include them in the store's transactions and history: a removed item's
/// attachments are removed and restored with it. An item may have several, in order: the first has the item's key, the
/// others have keys with it as their prefix (``setAllBytes(_:forKey:)``). Under a key without an item they are mere
/// files. In a shared collection the server stores the bytes, and files here are copies. The store's thread owns them.
public final class ItemAttachments {
    /// Called with failures where no error can be thrown.
    public var onProblem: ((AttachmentProblem) -> Void)?
    /// Called with each key whose bytes changed.
    package var onChange: ((_ key: String) -> Void)?

    let files: AttachmentFiles
    /// The store that has the items.
    private var store: ItemStoreReference?
    /// The changes of open transactions, innermost last; see `AttachmentTransactions.swift`.
    var transactions: [AttachmentTransaction] = []
    /// Maximum number of bytes of an attachment in a shared collection.
    package var byteLimit = 512 << 20
    /// The folders of copies, and of bytes waiting to be sent to the server.
    private let sharedFolders: (cache: String, outgoing: String)
    /// The attachments of a shared collection.
    private(set) var shared: SharedAttachments?
    /// Whether files were added or removed since the last sync of their folder.
    var isUnsynced = false
    /// What is in the folder with files of a commit that wait for the journal.
    var waiting = Waiting.none

    enum Waiting {
        /// There is no folder.
        case none
        /// A plan that names the commit of the journal.
        case plan
        /// A plan that is the commit: the journal has nothing of it.
        case commit
    }

    /// The names of further attachments' files made since the last commit.
    var freshNames: NameSet = []

    /// Creates attachments in an existing folder, which may be the store's own. Only one store at a time may use it.
    ///
    /// - Parameters:
    ///   - folder: the folder.
    ///   - removed: the folder for removed items' files, named by key and kept for undo, on the same file system.
    ///     Created on demand; it must contain nothing else. If nil, the folder's name and `.removed`.
    ///   - replaced: the same for replaced files. If nil, the folder's name and `.replaced`.
    ///   - cache: the folder for copies of a shared collection's attachments; it may be emptied at any time. If nil,
    ///     the folder's name and `.cache`.
    ///   - outgoing: the folder for bytes that wait for the commit that sends them, on the same file system as the
    ///     cache. If nil, the folder's name and `.outgoing`.
    public convenience init(
        folder: String, removed: String? = nil, replaced: String? = nil, cache: String? = nil, outgoing: String? = nil
    ) {
        self.init(
            folder: folder, removed: removed, replaced: replaced, cache: cache, outgoing: outgoing,
            using: PosixFileLayer())
    }

    /// The same in a file system.
    package init(
        folder: String, removed: String? = nil, replaced: String? = nil, cache: String? = nil, outgoing: String? = nil,
        using layer: any FileLayer
    ) {
        sharedFolders = (cache ?? folder + ".cache", outgoing ?? folder + ".outgoing")
        files = AttachmentFiles(
            folder: folder, removed: removed ?? folder + ".removed", replaced: replaced ?? folder + ".replaced", layer)
    }
}

extension ItemAttachments {
    /// The attachments' folder.
    package var folder: String { files.folder }
    package var layer: any FileLayer { files.layer }
    /// The folder of removed items' attachments.
    package var removedFolder: String { files.removed }
    /// The keys in ``removedFolder``, including an earlier process's.
    package var removedKeys: [String] { files.removedKeys }

    // MARK: Bytes by key

    /// Stores bytes under a key, replacing existing ones, atomically and durably; within a transaction, at its end.
    ///
    /// - Throws: `StoreError`: `itemRemoved` for a key that no item of the store has, `invalidValue` for an invalid key,
    ///   `readOnly`, `inputOutput`; the previous bytes are then unchanged.
    public func setBytes(_ bytes: [UInt8], forKey key: String) throws(StoreError) {
        try checkChange(key)
        try checkItem(key)
        try setBytes(bytes, forAnyKey: key)
    }

    /// Refuses a key that no item of the store has. Without a store there are only keys.
    func checkItem(_ key: String) throws(StoreError) {
        guard store?.store != nil, !isItem(key) else { return }
        throw StoreError(
            .itemRemoved, "no item has the itemKey \(key) to have attachments: create the item before its attachments")
    }

    /// The same for a key that needs not be an item's.
    package func setBytes(_ bytes: [UInt8], forAnyKey key: String) throws(StoreError) {
        try checkChange(key)
        if let shared, let item = item(key) { return try setShared(bytes, item, in: shared) }
        // The item's list is empty.
        guard let name = name(forKey: key) else { return try set([.bytes(bytes)], forKey: key) }
        try attempt { () throws(FileError) in try write(bytes, name) }
        shared?.looseKeys.insert(key)
        onChange?(name)
    }

    /// Writes a file at its path; within a transaction, beside it.
    func write(_ bytes: [UInt8], _ name: String) throws(FileError) {
        guard transactions.isEmpty else { return try stage(bytes, name) }
        let change = keepCopy(name, isRetained: isNamed(name))
        try AtomicFile.write(bytes, to: files.place(name), using: layer)
        record(change)
    }

    /// The bytes under a key, including the open transaction's; nil when there are none.
    ///
    /// - Throws: `StoreError`: `invalidValue` for an invalid key, `inputOutput`, also if it is not a regular file;
    ///   `disconnected` if only the server has them and it does not respond.
    public func bytes(forKey key: String) throws(StoreError) -> [UInt8]? {
        try checkKey(key)
        return try file(forKey: key).flatMap(bytes)
    }

    func bytes(of file: AttachmentFile) throws(StoreError) -> [UInt8]? {
        try file.prepare()
        let path = file.path
        return try attempt { () throws(FileError) -> [UInt8]? in
            guard let status = try layer.status(path) else { return nil }
            // Opening a pipe would block until its other end is opened.
            guard status.kind == .regular else {
                throw FileError(.read, path, code: FileLayerCode.inputOutput, reason: "it is not a regular file")
            }
            return try layer.contents(of: path)
        }
    }

    /// Removes the bytes under a key; missing bytes are not an error.
    ///
    /// - Throws: `StoreError`: `invalidValue` for an invalid key, `readOnly`, `inputOutput`; they are then unchanged.
    public func removeBytes(forKey key: String) throws(StoreError) {
        try checkChange(key)
        if let shared, let item = item(key) {
            try shared.set(Array(shared.digests(of: item).dropFirst()), of: item)
        } else if let (item, names) = list(naming: key) {
            try setNames(names, of: item)
        } else if transactions.isEmpty {
            record(try attempt { () throws(FileError) in try remove(key, isRetained: isNamed(key)) })
        } else {
            record(.removed, key)
        }
        onChange?(key)
    }

    /// Whether a key has bytes, without reading them; also false for an invalid key.
    public func hasBytes(forKey key: String) -> Bool {
        if let shared, let item = item(key) { return !shared.digests(of: item).isEmpty }
        return AttachmentKey.isKey(key) && currentPath(forKey: key).map(layer.exists) ?? false
    }

    /// The keys that have bytes, in byte order. O(n); reads the type of each file.
    ///
    /// - Throws: `StoreError` with `inputOutput` if the folder cannot be listed.
    package func keys() throws(StoreError) -> [String] {
        store?.store?.columns.recordWholeRead()
        return try attempt { () throws(FileError) in
            let actions = pendingActions
            let stored = try layer.list(folder).filter { name in
                guard actions[name] == nil, AttachmentKey.isKey(name), shared == nil || !isItem(name) else {
                    return false
                }
                return (try? layer.status(files.place(name)))?.kind == .regular
            }
            let staged = actions.compactMap { $0.value == .removed ? nil : $0.key }
            var keys = NameSet(stored + staged + (shared?.keys ?? []))
            for key in listingKeys {
                let names = presentNames(forKey: key)
                if names.isEmpty { keys.remove(key) }
                // The first file is reported by its item's key, unless another file has that name.
                if let first = names.first, !names.contains(key) {
                    keys.remove(first)
                    keys.insert(key)
                }
            }
            return keys.sorted()
        }
    }

    /// The existing files among the names. Checks a few one by one; for many, lists the folder once.
    package func keys(among names: NameSet) -> [String] {
        guard names.count >= 1000, let known = try? layer.list(folder) else {
            return names.filter { AttachmentKey.isKey($0) && layer.exists(files.place($0)) }
        }
        return known.filter { names.contains($0) && AttachmentKey.isKey($0) }
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
        // The items of a dry run change in memory; a change of pictures would be lost without a word.
        if let layer = layer as? BeneathFileLayer, layer.isReadOnly { throw .storeIsReadOnly }
    }

    // MARK: The store

    /// Attaches to a store. Files kept for undo by an earlier process are deleted, or restored to their items.
    func join(_ store: ItemStore) {
        self.store = store.zeroingReference
        transactions = Array(repeating: AttachmentTransaction(), count: store.columns.depth)
        if let persistence = store.replica.remote as? any AttachmentPersistence {
            let (cache, outgoing) = sharedFolders
            shared = SharedAttachments(store, persistence, cache: cache, outgoing: outgoing, layer)
        } else if !store.isReadOnly {
            completeCommit()
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
    /// The revision of the store's last commit.
    var revision: UInt64? { store?.store?.revision.rawValue }
    /// The store's rows; nil without a store.
    var columns: ColumnStore? { store?.store?.columns }
    /// Whether an item has a file of this name, whether or not the file exists.
    func isNamed(_ name: String) -> Bool { columns?.namesAttachment(name) ?? false }

    /// Counts reading an attachment as reading its item in the transaction.
    package func recordRead(_ key: String) {
        guard !transactions.isEmpty, let columns = store?.store?.columns else { return }
        var key = key
        _ = key.withUTF8 { columns.row(forKey: $0) }
    }

    private func record(_ change: AttachmentChange?) {
        if let change { store?.store?.changeHistory.record(change) }
    }

    func report(_ step: AttachmentProblem.Step, _ key: String?, _ error: FileError) {
        onProblem?(AttachmentProblem(step: step, key: key, error: error))
    }
}

/// A failure with an attachment where no error can be thrown: after a commit, in an undo, or while keeping the previous
/// content for undo.
public struct AttachmentProblem: Sendable, CustomStringConvertible {
    /// The operation that failed.
    package enum Step: Sendable {
        /// Removing it at the end of a transaction; it still exists.
        case removal
        /// Writing it at the end of a transaction; the previous content is unchanged.
        case writing
        /// Keeping the previous content: an undo will not restore it.
        case keeping
        /// Restoring it in an undo, or removing it again.
        case reversal
        /// Syncing the folder to the disk.
        case sync
    }

    /// The operation that failed.
    package let step: Step
    /// The attachment's key; nil for the folder.
    public let key: String?
    /// The error of the file system.
    public let error: FileError

    public var description: String { message() }

    /// Describes the problem.
    ///
    /// - Parameter noun: the word for an attachment.
    /// - Returns: a sentence without a full stop.
    package func message(of noun: String = "attachment") -> String {
        let subject = "the \(noun) \(key ?? "")"
        return switch step {
        case .removal: "\(subject) could not be removed: \(error.message)"
        case .writing: "\(subject) could not be written: \(error.message)"
        case .keeping: "an undo will not bring \(subject) back: \(error.message)"
        case .reversal: "\(subject) could not be brought back: \(error.message)"
        case .sync: error.message
        }
    }
}
