public import PropertyList

/// A persistence of a collection that other hosts change, too.
///
/// It orders the items by places of its own: positions are given to what others did when it is applied.
public protocol RemotePersistence: ItemPersistence {
    /// Whether the server answered last.
    var isConnected: Bool { get }

    /// Why nothing may be changed while the persistence is read-only, for the user.
    var readOnlyReason: String { get }

    /// Whether the other hosts may have committed something after a revision, or a commit of this host is to be sent again.
    /// Asks nobody.
    func mayHaveCommits(after revision: ItemRevision) -> Bool

    /// Sends the changes of one commit. While a commit's answer is missing the persistence is read-only, and the next call
    /// sends the same commit again, as it was.
    ///
    /// - Parameters:
    ///   - commit: readable until the call returns.
    ///   - reads: what a serializable transaction read: a commit of others since its revision that changed some of it stands
    ///     in its way, too, and not only one that changed the same items. Nil for other commits.
    /// - Returns: what became of it.
    /// - Throws: ``StoreError`` with `disconnected`, and others; the changes are not known to be kept then.
    func send(_ commit: borrowing ItemCommit, reads: ItemReads?) throws(StoreError) -> RemoteOutcome

    /// Keeps all other hosts from committing until ``release()`` or the end of the next commit: for a transaction that was
    /// overtaken again and again. The server ends it by itself when the commit takes long.
    func hold() throws(StoreError)

    /// Ends a ``hold()`` that no commit has ended.
    func release()

    /// The changes of a commit that failed were taken back: it is not sent again. If it happened, it comes from the log.
    ///
    /// - Returns: whether it may have happened.
    func abandonCommit() -> Bool

    /// Ends the use of the server, which has something that the store's items cannot be brought to. The persistence is
    /// read-only from now on.
    func stop(_ reason: StoreError)

    /// Commits after a revision, oldest first, without a gap; of this host's own, those that it does not have. At least one
    /// if there are any.
    func takeCommits(after revision: ItemRevision) throws(StoreError) -> [RemoteCommit]

    /// A change of another host with the position that it has among the items as they are now.
    ///
    /// - Parameters:
    ///   - change: of the other host.
    ///   - unranked: the rows that this host put where they are, and has not committed.
    /// - Returns: the change for this host.
    func placed(_ change: RemoteChange, among unranked: Set<UInt32>) -> ItemChange

    /// A change was applied.
    func didApply(_ change: RemoteChange)

    /// Whether the item of one row stands before that of another.
    func precedes(_ row: UInt32, _ other: UInt32) -> Bool

    // MARK: Without the server

    /// Whether commits are kept while the server does not answer.
    var keepsCommits: Bool { get }

    /// Whether commits wait for the server. While some do, new ones wait behind them.
    var hasKeptCommits: Bool { get }

    /// The commits that wait, oldest first.
    var keptCommits: [KeptCommit] { get }

    /// The commits that could not follow what others did, oldest first: somebody has to settle them.
    var conflicts: [KeptCommit] { get }

    /// Keeps a commit until the server is back.
    ///
    /// - Parameters:
    ///   - commit: readable until the call returns.
    ///   - changes: the same, with the old values and in memory of their own.
    ///   - reads: what a serializable transaction read; nil when the changes are of no such one.
    ///   - durable: whether to wait until it survives a power cut.
    /// - Throws: ``StoreError`` with `inputOutput`: it is not kept.
    func keep(
        _ commit: borrowing ItemCommit, _ changes: [ItemChange], reads: ItemReads?, durable: Bool
    ) throws(StoreError)

    /// Finds out which of the commits that wait the server has, after all: those wait no more.
    func settleDoubts() throws(StoreError)

    /// Sends the commits that wait, all of them or none, as they follow a revision.
    ///
    /// - Returns: the last one's revision; ``RemoteOutcome/behind`` when others have committed since.
    func sendKeptCommits(after revision: ItemRevision) throws(StoreError) -> RemoteOutcome

    /// A commit that waits cannot follow what others did: it is kept for somebody to settle.
    ///
    /// - Parameters:
    ///   - commit: one of ``keptCommits``.
    ///   - host: the name of the other host.
    ///   - lost: by key, the fields that items had here which others removed.
    /// - Throws: ``StoreError`` with `inputOutput`: it waits still.
    func setAside(
        _ commit: KeptCommit, host: String, lost: [String: [String: PropertyListValue]]
    ) throws(StoreError)

    /// Forgets commits that are settled.
    func endKeptCommits(_ commits: [KeptCommit]) throws(StoreError)
}

extension RemotePersistence {
    public var remote: (any RemotePersistence)? { self }
}

/// What became of a commit that was sent.
public enum RemoteOutcome: Sendable, Hashable {
    /// It is the collection's revision of this number.
    case committed(ItemRevision)
    /// Others committed since, and it is not kept: the commits since its revision have to be applied first.
    case behind
}

/// A commit of another host.
public struct RemoteCommit: Sendable {
    /// The collection's revision after the commit.
    public var revision: ItemRevision
    /// The host's name.
    public var host: String
    /// Oldest first; empty for a commit that the store has.
    public var changes: [RemoteChange]

    /// Creates a commit of another host.
    public init(revision: ItemRevision, host: String, changes: [RemoteChange]) {
        (self.revision, self.host, self.changes) = (revision, host, changes)
    }
}

/// A change of another host, and the place of its item among the others, as the persistence orders them.
public struct RemoteChange: Sendable {
    /// What changed.
    public var change: ItemChange
    /// The item's rank among the others; empty in a change that leaves it.
    public var rank: [UInt8]

    /// Creates a change with the item's rank.
    public init(_ change: ItemChange, rank: [UInt8] = []) {
        (self.change, self.rank) = (change, rank)
    }
}
