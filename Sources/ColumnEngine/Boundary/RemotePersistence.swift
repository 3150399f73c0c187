package import PropertyList

/// A persistence of a collection that other hosts change, too.
///
/// It orders the items by ranks: remote changes get positions when they are applied.
package protocol RemotePersistence: ItemPersistence {
    /// Whether the server answered the last request.
    var isConnected: Bool { get }

    /// Why fields cannot be declared, for the user; nil if they can.
    var declaringDenial: String? { get }

    /// Why changes are refused while the persistence is read-only, for the user.
    var readOnlyReason: String { get }

    /// Whether other hosts may have commits after a revision, or a commit of this host has to be sent again. Sends no
    /// request.
    func mayHaveCommits(after revision: ItemRevision) -> Bool

    /// The latest revision that the server is known to have. Notifications, which come all the time, do not count.
    var newestRevision: ItemRevision { get }

    /// Sends the changes of one commit. While a commit's answer is missing the persistence is read-only, and the next
    /// call sends the same commit again, unchanged.
    ///
    /// - Parameters:
    ///   - commit: readable until the call returns.
    ///   - reads: the reads of a serializable transaction: a remote commit since its revision that changed some of
    ///     them conflicts with it, and not only one that changed the same items. Nil for other commits.
    /// - Returns: the outcome.
    /// - Throws: ``StoreError`` with `disconnected`, and others; whether the changes are kept is then unknown. With
    ///   `invalidValue` the server refused what the commit has, and would refuse it again.
    func send(_ commit: borrowing ItemCommit, reads: ItemReads?) throws(StoreError) -> RemoteOutcome

    /// Locks out all other hosts' commits until ``release()`` or the end of the next commit, unless that is done: for
    /// commits that were overtaken repeatedly. The server ends the lock itself if they take long.
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

    // MARK: Synchronizing anew

    /// Whether the server's log does not lead from the items here to those there: commits are missing in it, or damaged.
    /// Then the store takes all items anew.
    var isLogBroken: Bool { get set }

    /// The same collection, read-only, to be opened for what the server has now.
    func reopened() -> any RemotePersistence

    /// The rank of an item among the others; nil if it has none.
    func rank(ofKey key: String) -> [UInt8]?

    /// Continues from what another opening of the same collection has loaded, once its items are here.
    ///
    /// - Parameters:
    ///   - other: that opening.
    ///   - reason: why the log did not do.
    func adopt(_ other: any RemotePersistence, because reason: StoreError)

    /// A change of another host with its position among the current items.
    ///
    /// - Parameters:
    ///   - change: the other host's change.
    ///   - unranked: the rows that this host inserted or moved, and has not committed.
    /// - Returns: the change for this host.
    func placed(_ change: RemoteChange, among unranked: Set<UInt32>) -> ItemChange

    /// Called after a change was applied.
    func didApply(_ change: RemoteChange)

    /// Called when the store has a commit that it has taken. Before, a copy of the items must not have it: queued commits that
    /// were made without it are judged by it first.
    func didApply(_ commit: RemoteCommit)

    /// Whether the item of one row precedes that of another.
    func precedes(_ row: UInt32, _ other: UInt32) -> Bool

    // MARK: Without the server

    /// Whether commits are queued while the server does not answer.
    var keepsCommits: Bool { get }

    /// Whether commits are queued for the server. While there are some, new ones are queued behind them.
    var hasPendingCommits: Bool { get }

    /// The queued commits, oldest first.
    var pendingCommits: [PendingCommit] { get }

    /// The commits in conflict with remote ones, oldest first: the user has to settle them.
    var conflicts: [PendingCommit] { get }

    /// Keeps a commit until the server is back.
    ///
    /// - Parameters:
    ///   - commit: readable until the call returns.
    ///   - changes: the same, with the old values and in their own memory.
    ///   - reads: the reads of a serializable transaction; nil for other changes.
    ///   - durable: whether to wait until it survives a power cut.
    /// - Throws: ``StoreError`` with `inputOutput`: the commit is not queued.
    func keep(
        _ commit: borrowing ItemCommit, _ changes: [ItemChange], reads: ItemReads?, durable: Bool
    ) throws(StoreError)

    /// Gives queued commits other values: their increments follow other numbers now.
    ///
    /// - Parameter commits: ``pendingCommits``, changed.
    func updatePendingCommits(_ commits: [PendingCommit])

    /// Finds out which of the queued commits the server has after all, and removes them from the queue.
    func settleDoubts() throws(StoreError)

    /// Prepares to send some of the queued commits, the oldest ones: their attachments are uploaded. Other hosts can
    /// commit meanwhile.
    ///
    /// - Parameter limit: the most commits.
    /// - Returns: their identifiers.
    /// - Throws: ``StoreError``; with `invalidValue` the server refused the attachments, and would refuse them again.
    func preparePendingCommits(atMost limit: Int) throws(StoreError) -> [[UInt8]]

    /// Sends prepared commits, all of them or none. It ends a ``hold()``, within which it has to be called, with all
    /// remote commits applied.
    ///
    /// - Parameters:
    ///   - prepared: the identifiers of prepared commits; those that are not queued any more are left out.
    ///   - revision: the collection's.
    /// - Returns: the last one's revision.
    /// - Throws: ``StoreError``; whether they were sent is then found out by ``settleDoubts()``. With `invalidValue` the server
    ///   refused what they have, and would refuse it again.
    func sendPendingCommits(_ prepared: [[UInt8]], after revision: ItemRevision) throws(StoreError) -> ItemRevision

    /// Moves queued commits that conflict with remote ones to ``conflicts``, for the user to settle. If it ends half-way, also
    /// with the process, the newest ones are moved: what remains queued builds on none of them.
    ///
    /// - Parameter commits: some of ``pendingCommits``, oldest first, with the name of the other host and the items lost.
    /// - Throws: ``StoreError`` with `inputOutput`: the oldest ones remain queued.
    func quarantine(_ commits: [PendingCommit]) throws(StoreError)

    /// Removes settled commits.
    func endPendingCommits(_ commits: [PendingCommit]) throws(StoreError)
}

extension StoreError {
    /// Whether the changes of a commit that failed so are rolled back: others were first, or the server cannot have them.
    package var isLoss: Bool {
        switch code {
        case .conflict, .invalidValue: true
        default: false
        }
    }
}

/// The outcome of sending a commit.
package enum RemoteOutcome: Sendable, Hashable {
    /// The commit has become this revision of the collection.
    case committed(ItemRevision)
    /// Other hosts have committed since, and it is not applied: commits since its revision have to be applied first.
    case behind
}

/// A commit of another host.
package struct RemoteCommit: Sendable {
    /// The collection's revision after the commit.
    package var revision: ItemRevision
    /// The host's name.
    package var host: String
    /// Oldest first; empty for a commit that the store already has.
    package var changes: [RemoteChange]

    /// Creates a commit of another host.
    package init(revision: ItemRevision, host: String, changes: [RemoteChange]) {
        (self.revision, self.host, self.changes) = (revision, host, changes)
    }
}

/// A change of another host, and its item's rank among the others, as ordered by the persistence.
package struct RemoteChange: Sendable {
    /// The change.
    package var change: ItemChange
    /// The item's rank among the others; empty in a change that does not affect it.
    package var rank: [UInt8]

    /// Creates a change with the item's rank.
    package init(_ change: ItemChange, rank: [UInt8] = []) {
        (self.change, self.rank) = (change, rank)
    }
}

/// A remote persistence whose server also stores the items' attachments: bytes by the item's key and their SHA-256.
///
/// An item has the digests, in order, as one field that is hidden from users, so that changes of the bytes are merged,
/// refused, sent to the other hosts and undone like those of any field. The bytes are sent with the commit that has the
/// field, and are read one by one on demand.
package protocol AttachmentPersistence: RemotePersistence {
    /// Returns the bytes of this host's own commits by their digest; called for those that the server lacks.
    var attachmentSource: ((_ digest: [UInt8]) throws(StoreError) -> [UInt8])? { get set }

    /// A folder name that is unique to this collection.
    var attachmentFolder: String { get }

    /// Reads from the server.
    var attachmentReader: any AttachmentReader { get }
}

/// Reads the items' attachments, on any thread.
package protocol AttachmentReader: Sendable {
    /// Reads an attachment of an item from the server.
    ///
    /// - Parameters:
    ///   - key: the item's key.
    ///   - digest: the bytes' SHA-256.
    ///   - limit: maximum number of bytes to read.
    /// - Returns: the bytes, not checked yet.
    /// - Throws: ``StoreError``: `disconnected`; `inputOutput` for missing bytes, and for more than the limit.
    func bytes(ofItem key: String, digest: [UInt8], limit: Int) throws(StoreError) -> [UInt8]
}

/// A commit of this host that the server does not have: it was made while the server did not answer.
package struct PendingCommit: Sendable {
    /// One change, with the data to undo it.
    package struct Change: Sendable {
        /// The change; an update and a removal have the old values.
        package var change: ItemChange
        /// The item's rank among the others, for an insertion and a move.
        package var rank: [UInt8]
        /// Its former rank, for a removal and a move.
        package var formerRank: [UInt8]

        /// Creates a change with the item's ranks after and before it.
        package init(_ change: ItemChange, rank: [UInt8] = [], formerRank: [UInt8] = []) {
            (self.change, self.rank, self.formerRank) = (change, rank, formerRank)
        }

        /// The change as sent to the other hosts.
        package var forward: RemoteChange {
            switch change.kind {
            case .insert: RemoteChange(.insert(change.values ?? [:]), rank: rank)
            case .move: RemoteChange(.move(change.itemKey, to: 0), rank: rank)
            case .update, .remove, .declare: RemoteChange(change)
            }
        }

        /// The change that undoes this one.
        package var inverse: RemoteChange {
            switch change.kind {
            case .insert: RemoteChange(.remove(change.itemKey))
            case .remove: RemoteChange(.insert(change.values ?? [:]), rank: formerRank)
            case .update: RemoteChange(.update(change.itemKey, change.field ?? "", to: change.old))
            case .move: RemoteChange(.move(change.itemKey, to: 0), rank: formerRank)
            case .declare: RemoteChange(change.declaredBefore)
            }
        }
    }

    /// Identifies the commit for the server: it cannot be applied twice.
    package let identifier: [UInt8]
    /// When the commit was made.
    package let date: PropertyListDate
    /// Oldest first.
    package var changes: [Change]
    /// Its reads, if it is of a serializable transaction.
    package let reads: ItemReads?
    /// The host whose changes conflict with it; empty for a commit that is only queued.
    package var host = ""
    /// Why the server refused it, for people; nil if it did not.
    package var denial: String?
    /// By key, the fields that this host had of items that other hosts removed.
    package var lostItems: NameTable<PropertyListFields> = [:]

    /// Creates a commit of changes in order.
    package init(identifier: [UInt8], date: PropertyListDate, changes: [Change], reads: ItemReads? = nil) {
        (self.identifier, self.date, self.changes, self.reads) = (identifier, date, changes, reads)
    }

    /// Whether it changes, or has read, one of some items.
    package func concerns(_ items: NameSet) -> Bool {
        if items.isEmpty { return false }
        if changes.contains(where: { items.contains($0.change.itemKey) }) { return true }
        return switch reads {
        case nil: false
        case .whole: true
        case .keys(let keys): keys.contains { items.contains(String(decoding: $0, as: UTF8.self)) }
        }
    }
}

/// The reads of a serializable transaction: a commit of another host that changed some of them conflicts with it.
package enum ItemReads: Sendable, Hashable {
    /// Keys, in UTF-8: those of items, and those looked up in vain.
    case keys(Set<[UInt8]>)
    /// A read that may depend on every item: the result of a query, a position.
    case whole
}
