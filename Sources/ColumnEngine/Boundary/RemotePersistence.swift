public import PropertyList

/// A persistence of a collection that other hosts change, too.
///
/// It orders the items by ranks: changes of others get positions when they are applied.
public protocol RemotePersistence: ItemPersistence {
    /// Whether the server answered the last request.
    var isConnected: Bool { get }

    /// Why changes are refused while the persistence is read-only, for the user.
    var readOnlyReason: String { get }

    /// Whether other hosts may have commits after a revision, or a commit of this host has to be sent again. Sends no
    /// request.
    func mayHaveCommits(after revision: ItemRevision) -> Bool

    /// Sends the changes of one commit. While a commit's answer is missing the persistence is read-only, and the next
    /// call sends the same commit again, unchanged.
    ///
    /// - Parameters:
    ///   - commit: readable until the call returns.
    ///   - reads: the reads of a serializable transaction: a commit of others since its revision that changed some of
    ///     them conflicts with it, and not only one that changed the same items. Nil for other commits.
    /// - Returns: the outcome.
    /// - Throws: ``StoreError`` with `disconnected`, and others; whether the changes are kept is then unknown.
    func send(_ commit: borrowing ItemCommit, reads: ItemReads?) throws(StoreError) -> RemoteOutcome

    /// Locks out all other hosts' commits until ``release()`` or the end of the next commit: for a transaction that was
    /// overtaken repeatedly. The server ends the lock itself if the commit takes long.
    func hold() throws(StoreError)

    /// Ends a ``hold()`` that was not ended by a commit.
    func release()

    /// Called when a failed commit was rolled back: it is not sent again. If the server applied it, the log has it.
    ///
    /// - Returns: whether the server may have applied it.
    func abandonCommit() -> Bool

    /// Ends the use of the server, which has changes that the store cannot apply. The persistence is read-only from now
    /// on.
    func stop(_ reason: StoreError)

    /// Commits after a revision, oldest first, without a gap; of this host's own, those that it does not have. At least
    /// one if there are any.
    func takeCommits(after revision: ItemRevision) throws(StoreError) -> [RemoteCommit]

    /// A change of another host with its position among the current items.
    ///
    /// - Parameters:
    ///   - change: the other host's change.
    ///   - unranked: the rows that this host inserted or moved, and has not committed.
    /// - Returns: the change for this host.
    func placed(_ change: RemoteChange, among unranked: Set<UInt32>) -> ItemChange

    /// Called after a change was applied.
    func didApply(_ change: RemoteChange)

    /// Whether the item of one row precedes that of another.
    func precedes(_ row: UInt32, _ other: UInt32) -> Bool

    // MARK: Without the server

    /// Whether commits are kept while the server does not answer.
    var keepsCommits: Bool { get }

    /// Whether commits are queued for the server. While there are some, new ones are queued behind them.
    var hasKeptCommits: Bool { get }

    /// The queued commits, oldest first.
    var keptCommits: [KeptCommit] { get }

    /// The commits in conflict with those of others, oldest first: the user has to settle them.
    var conflicts: [KeptCommit] { get }

    /// Keeps a commit until the server is back.
    ///
    /// - Parameters:
    ///   - commit: readable until the call returns.
    ///   - changes: the same, with the old values and in their own memory.
    ///   - reads: the reads of a serializable transaction; nil for other changes.
    ///   - durable: whether to wait until it survives a power cut.
    /// - Throws: ``StoreError`` with `inputOutput`: the commit is not kept.
    func keep(
        _ commit: borrowing ItemCommit, _ changes: [ItemChange], reads: ItemReads?, durable: Bool
    ) throws(StoreError)

    /// Finds out which of the queued commits the server has after all, and removes them from the queue.
    func settleDoubts() throws(StoreError)

    /// Sends the queued commits, all of them or none, based on a revision.
    ///
    /// - Returns: the last one's revision; ``RemoteOutcome/behind`` if others have committed since.
    func sendKeptCommits(after revision: ItemRevision) throws(StoreError) -> RemoteOutcome

    /// Moves a queued commit that conflicts with those of others to ``conflicts``, for the user to settle.
    ///
    /// - Parameters:
    ///   - commit: one of ``keptCommits``.
    ///   - host: the name of the other host.
    ///   - lost: by key, the fields that this host had of items that others removed.
    /// - Throws: ``StoreError`` with `inputOutput`: it remains queued.
    func setAside(
        _ commit: KeptCommit, host: String, lost: [String: PropertyListFields]
    ) throws(StoreError)

    /// Removes settled commits.
    func endKeptCommits(_ commits: [KeptCommit]) throws(StoreError)
}

extension RemotePersistence {
    public var remote: (any RemotePersistence)? { self }
}

/// The outcome of sending a commit.
public enum RemoteOutcome: Sendable, Hashable {
    /// The commit has become this revision of the collection.
    case committed(ItemRevision)
    /// Others have committed since, and it is not kept: the commits since its revision have to be applied first.
    case behind
}

/// A commit of another host.
public struct RemoteCommit: Sendable {
    /// The collection's revision after the commit.
    public var revision: ItemRevision
    /// The host's name.
    public var host: String
    /// Oldest first; empty for a commit that the store already has.
    public var changes: [RemoteChange]

    /// Creates a commit of another host.
    public init(revision: ItemRevision, host: String, changes: [RemoteChange]) {
        (self.revision, self.host, self.changes) = (revision, host, changes)
    }
}

/// A change of another host, and its item's rank among the others, as ordered by the persistence.
public struct RemoteChange: Sendable {
    /// The change.
    public var change: ItemChange
    /// The item's rank among the others; empty in a change that does not affect it.
    public var rank: [UInt8]

    /// Creates a change with the item's rank.
    public init(_ change: ItemChange, rank: [UInt8] = []) {
        (self.change, self.rank) = (change, rank)
    }
}
