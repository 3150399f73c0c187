/// Where a store's items are kept: the boundary between a store and what outlives it.
///
/// The store hands over each commit's changes and the revision that they follow; the persistence gives back the
/// collection's next revision. A persistence that is more than a log of changes adopts ``DocumentPersistence`` or
/// ``RemotePersistence`` as well. One thread calls it, the store's.
public protocol ItemPersistence: AnyObject {
    /// Whether nothing may be appended or replaced.
    var isReadOnly: Bool { get }

    /// Gives the loader what is kept: items, then the changes since. Called once, on an empty store.
    ///
    /// - Throws: ``StoreError``, above all `inUse`, `inputOutput`, `corruptArchive`.
    func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport

    /// Keeps the changes of one commit: all of them or, if it throws, none.
    ///
    /// - Parameters:
    ///   - commit: readable until the call returns.
    ///   - durable: whether to wait until the changes survive a power cut.
    /// - Returns: the collection's revision with the commit.
    /// - Throws: ``StoreError``: `conflict` when the collection has changes that the store has not been given by
    ///   `ItemStore.apply(_:cause:revision:)`, which has the store roll the commit back; after any other error the next
    ///   commit tries again.
    func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision

    /// Makes sure that what was appended survives a power cut.
    func synchronize() throws(StoreError)

    /// The persistence itself, where it keeps a document; none by default.
    var document: (any DocumentPersistence)? { get }
    /// The persistence itself, where other hosts change its collection, too; none by default.
    var remote: (any RemotePersistence)? { get }
    /// The absolute paths of its files in the container, which scripts neither read nor write; none by default. They need
    /// not exist yet.
    var closedPaths: [String] { get }
}

extension ItemPersistence {
    public var document: (any DocumentPersistence)? { nil }
    public var remote: (any RemotePersistence)? { nil }
    public var closedPaths: [String] { [] }
}
