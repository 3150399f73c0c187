/// When a commit is safe.
public enum Durability: String, Sendable, CaseIterable {
    /// Each commit survives the process: it is with the kernel.
    case process
    /// Each commit survives a power cut: it is on the disk.
    case power
}

/// Where a store's items are kept: a document of all items, and the changes since.
///
/// One thread calls it, the store's. What it appends it gives back, in order, when it loads; a replacement makes what
/// was appended before its snapshot part of the document.
public protocol ItemPersistence: AnyObject {
    /// Whether nothing may be appended or replaced.
    var isReadOnly: Bool { get }
    /// Whether the document exists.
    var hasArchive: Bool { get }
    /// The document's path, where it has one.
    var archivePath: String? { get }
    /// Whether so much was appended since the document was written that it should be written anew.
    var isJournalLong: Bool { get }

    /// Gives the loader the document's items, then the changes since. Called once, on an empty store.
    func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport

    /// Keeps the changes of one commit: all of them or, if it throws, none. With `durable` it waits until they survive
    /// a power cut. The room in front of the changes may be written to.
    func append(_ commit: inout CommitBytes, durable: Bool) throws(StoreError)

    /// Makes sure that what was appended survives a power cut.
    func synchronize() throws(StoreError)

    /// Prepares to write a snapshot as the new document.
    func beginReplacement(_ snapshot: ItemSnapshot) throws(StoreError) -> any ItemReplacement

    /// Puts a written replacement in the document's place, durably.
    func finish(_ replacement: any ItemReplacement) throws(StoreError)

    /// Gives up a replacement that could not be written.
    func abandon(_ replacement: any ItemReplacement)
}

extension ItemPersistence {
    public var isJournalLong: Bool { false }
}

/// A new document in the making.
public protocol ItemReplacement: AnyObject, Sendable {
    /// Writes it, on any thread, in a place of its own.
    func write() throws(StoreError)
}

/// What opening a store found.
public struct ItemLoadReport: Sendable, Hashable {
    /// Items in the archive.
    public var archivedItems = 0
    /// Commits that were in the journal and not in the archive.
    public var replayedRecords = 0
    /// Whether the archive is damaged, and only a part of it was read.
    public var isSalvaged = false
    /// What was not as it should be, in words for the user; what could not be used was kept aside.
    public var notices: [String] = []
    /// Files that damaged parts were moved to.
    public var keptAside: [String] = []

    public init() {}
}
