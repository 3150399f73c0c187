/// The storage of a store's items: the boundary between a store and its persistent data.
///
/// The store passes each commit's changes and the revision that they are based on; the persistence returns the
/// collection's next revision. It is called on one thread, the store's.
public protocol ItemPersistence: AnyObject {
    /// Whether appending and replacing are refused.
    var isReadOnly: Bool { get }

    /// Passes the stored data to the loader: items, then the changes since. Called once, on an empty store.
    ///
    /// - Throws: ``StoreError``, above all `inUse`, `inputOutput`, `corruptArchive`.
    func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport

    /// Stores the changes of one commit: all of them or, if it throws, none.
    ///
    /// - Parameters:
    ///   - commit: readable until the call returns.
    ///   - durable: whether to wait until the changes survive a power cut.
    /// - Returns: the collection's revision including the commit.
    /// - Throws: ``StoreError``: `conflict` when the collection has changes that the store has not received by
    ///   `ItemStore.apply(_:cause:revision:)`; the store then rolls the commit back. After any other error the next
    ///   commit tries again.
    func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision

    /// Ensures that the appended changes survive a power cut.
    func synchronize() throws(StoreError)

    /// The absolute paths of its files in the container, which scripts cannot write; none by default.
    /// They need not exist yet.
    var closedPaths: [String] { get }
}

extension ItemPersistence {
    public var closedPaths: [String] { [] }

    /// The persistence itself, if it keeps a document.
    package var document: (any DocumentPersistence)? {
        (self as? any DocumentPersistence).flatMap { $0.keepsDocument ? $0 : nil }
    }
    /// The persistence itself, if other hosts change its collection, too.
    package var remote: (any RemotePersistence)? { self as? any RemotePersistence }
}

/// A persistence that folds its changes into a document from time to time: a file of all items, replaced as a whole.
package protocol DocumentPersistence: ItemPersistence {
    /// Whether it keeps one; true by default.
    var keepsDocument: Bool { get }
    /// Whether the document exists.
    var hasArchive: Bool { get }
    /// The document's path, if it has one.
    var archivePath: String? { get }
    /// Those of the closed paths that scripts may read; none by default.
    var readablePaths: [String] { get }
    /// Whether so many changes were appended since the document was written that it should be rewritten.
    var isJournalLong: Bool { get }
    /// Whether the document holds item data beyond the fields, so that a copy has to remember its source.
    var holdsMoreThanFields: Bool { get }

    /// Whether the document can be replaced now.
    var canReplace: Bool { get }

    /// Prepares to write a snapshot as the new document. Commits may follow before it is finished.
    ///
    /// - Parameters:
    ///   - snapshot: all items.
    ///   - revision: the collection's revision of the snapshot.
    /// - Returns: the replacement, which writes it.
    /// - Throws: ``StoreError`` with `readOnly`, `inputOutput`.
    func beginReplacement(_ snapshot: ItemSnapshot, at revision: ItemRevision) throws(StoreError) -> any ItemReplacement

    /// Durably replaces the document with a written replacement, which has all changes appended before its snapshot.
    func finish(_ replacement: any ItemReplacement) throws(StoreError)

    /// Discards a replacement that could not be written.
    func abandon(_ replacement: any ItemReplacement)
}

extension DocumentPersistence {
    package var isJournalLong: Bool { false }
    package var holdsMoreThanFields: Bool { false }
    package var keepsDocument: Bool { true }
    package var readablePaths: [String] { [] }
    package var canReplace: Bool { true }
}

/// A new document being written.
package protocol ItemReplacement: AnyObject, Sendable {
    /// Writes it, on any thread, to a temporary place.
    func write() throws(StoreError)
}

/// A read-only view of a persistence whose owner, another process, continues to commit.
package protocol FollowingPersistence: ItemPersistence {
    /// The owner's commits since the opening or the last call, oldest first. It takes microseconds if there are none.
    ///
    /// - Returns: nil if they are no longer available one by one: then all items have to be read again.
    /// - Throws: ``StoreError`` with `inputOutput`, `corruptJournal`.
    func takeOwnersCommits() throws(StoreError) -> [OwnersCommit]?

    /// The same persistence, to be opened again.
    func reopened() -> any FollowingPersistence

    /// Continues from the state that another opening of the same persistence has reached.
    func resume(from other: any FollowingPersistence)
}

/// A commit of the owner.
package struct OwnersCommit: Sendable {
    package var revision: ItemRevision
    package var changes: [ItemChange]

    package init(revision: ItemRevision, changes: [ItemChange]) {
        (self.revision, self.changes) = (revision, changes)
    }
}

/// The failures that a commit survives.
public enum CommitDurability: String, Sendable, CaseIterable {
    /// Each commit survives the end of the process: the kernel has it.
    case process
    /// Each commit survives a power cut: the disk has it.
    case power
}

/// A persistence in this process's memory: for temporary stores, and for tests.
public final class MemoryPersistence: ItemPersistence {
    /// The changes of each commit, oldest first, if they are kept.
    package private(set) var commits: [[ItemChange]] = []
    /// Set to make every append and synchronization fail with this error.
    package var failure: StoreError?
    public let isReadOnly: Bool

    private let keepsCommits: Bool
    private var revision: ItemRevision

    /// - Parameters:
    ///   - keepsCommits: whether another store can be loaded from this persistence.
    ///   - isReadOnly: whether the store refuses changes.
    ///   - commits: the initial commits.
    public init(keepsCommits: Bool = false, isReadOnly: Bool = false, commits: [[ItemChange]] = []) {
        self.keepsCommits = keepsCommits
        self.isReadOnly = isReadOnly
        self.commits = commits
        revision = ItemRevision(rawValue: UInt64(commits.count))
    }

    public func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport {
        var report = ItemLoadReport()
        for changes in commits { try loader.replay(changes) }
        report.replayedRecords = commits.count
        report.revision = revision
        return report
    }

    public func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision {
        if isReadOnly { throw .storeIsReadOnly }
        if let failure { throw failure }
        try commit.checkFollows(revision)
        if keepsCommits {
            var changes: [ItemChange] = []
            changes.reserveCapacity(commit.count)
            commit.forEach { changes.append(commit.change($0)) }
            commits.append(changes)
        }
        revision = revision.next
        return revision
    }

    public func synchronize() throws(StoreError) {
        if let failure { throw failure }
    }
}
