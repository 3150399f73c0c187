/// The storage of a store's items: the boundary between a store and its persistent data.
///
/// The store passes each commit's changes and the revision that they are based on; the persistence returns the
/// collection's next revision. A persistence that is more than a log of changes also conforms to
/// ``DocumentPersistence`` or ``RemotePersistence``. It is called on one thread, the store's.
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

    /// The persistence itself, if it keeps a document; nil by default.
    var document: (any DocumentPersistence)? { get }
    /// The persistence itself, if other hosts change its collection, too; nil by default.
    var remote: (any RemotePersistence)? { get }
    /// The absolute paths of its files in the container, which scripts can neither read nor write; none by default.
    /// They need not exist yet.
    var closedPaths: [String] { get }
}

extension ItemPersistence {
    public var document: (any DocumentPersistence)? { nil }
    public var remote: (any RemotePersistence)? { nil }
    public var closedPaths: [String] { [] }
}
