import ColumnEngine
import PropertyList

/// A shared collection: see ``RemotePersistence``.
extension ItemStore {
    /// The collection's revision: that of the last commit made or applied.
    package var revision: ItemRevision { replica.revision }

    /// Whether the collection's server responded last time; true for a store without one.
    package var isConnected: Bool { replica.remote?.isConnected ?? true }

    /// Whether commits are accepted: by the server, or for later sending.
    package var takesCommits: Bool { replica.remote.map { $0.isConnected || $0.keepsCommits } ?? true }

    /// The number of commits that wait for the server. 0 in a store without one.
    package var waitingCommits: Int { replica.pendingCount }

    /// The error for a refused change.
    var readOnlyError: StoreError { replica.readOnlyError }

    /// The most bytes of a new item's key: the server's index takes no entry of a third of a page.
    private static let keyLimit = 2_000

    /// Refuses an item whose key the server cannot have.
    func checkSharedKey(_ row: UInt32) throws(StoreError) {
        let count = columns.withKey(row) { $0.count }
        guard count > Self.keyLimit else { return }
        throw StoreError(
            .invalidValue(field: "itemKey"),
            "the itemKey \(columns.keyString(row).shortened(to: 60).quoted()) has \(count.grouped) bytes: in a shared collection "
                + "it has \(Self.keyLimit.grouped) at most")
    }

    /// Called when the connection is lost: items are read-only until ``applyRemoteCommits()`` reconnects.
    package func connectionWasLost() {
        if replica.isShared { isReadOnly = replica.isReadOnly }
    }

    /// Applies new commits of other hosts, each as one bulk change. Uncommitted changes are committed first. Does
    /// nothing in an unshared store, and within a transaction.
    ///
    /// - Throws: `StoreError`: `disconnected`, `conflict` of the commit made first.
    package func applyRemoteCommits() throws(StoreError) {
        guard replica.isShared, !isInTransaction, !replica.isSending else { return }
        defer {
            isReadOnly = replica.isReadOnly
            publishCommits()
        }
        guard replica.hasNews else { return }
        try commit(.change)
        do throws(StoreError) {
            if replica.hasPendingCommits { return try sendPendingCommits() }
            try replica.forEachPiece { (commits) throws(StoreError) in
                for commit in commits { try apply(commit) }
            }
        } catch {
            guard replica.remote?.isLogBroken ?? false else { throw error }
            try synchronizeAnew(error)
        }
    }

    /// Sends the log's changes: see ``RemoteReplica/send(reads:durable:applying:didRepeat:)``.
    func send(reads: ItemReads?) throws(StoreError) {
        try sending { () throws(StoreError) in
            try replica.send(reads: reads, durable: durability == .power) { (commit) throws(StoreError) in
                try apply(commit)
            } didRepeat: { repeated in
                if !repeated.isEmpty, !publisher.observers.isEmpty {
                    publishMany(ItemStoreChanges(.bulkChange, repeated))
                }
            }
        }
    }

    /// Applies the commits that others made meanwhile, and sends the waiting ones, some at a time. Conflicting ones are
    /// rolled back, and kept to be resolved.
    ///
    /// Others can commit until a part is ready to be sent, and wait then until it is: they cannot be ahead for ever. A commit
    /// that the server refuses for what it has is to be resolved, too.
    private func sendPendingCommits() throws(StoreError) {
        guard let remote = replica.remote else { return }
        try sending { () throws(StoreError) in
            defer { remote.release() }
            try remote.settleDoubts()
            try catchUp()
            var limit = remote.pendingCommits.count
            while remote.hasPendingCommits {
                do throws(StoreError) {
                    let prepared = try remote.preparePendingCommits(atMost: limit)
                    try remote.hold()
                    try catchUp()
                    replica.revision = try remote.sendPendingCommits(prepared, after: replica.revision)
                    limit = max(limit, prepared.count * 2)
                } catch {
                    guard case .invalidValue = error.code else { throw error }
                    remote.release()
                    // One commit must not keep back all that are behind it: fewer are sent, in the end that one alone.
                    if limit == 1 { try catchUp(with: [], denial: error.message) }
                    limit = max(limit / 2, 1)
                }
                try catchUp()
            }
            attachments?.shared?.settle()
        }
    }

    /// Applies all remote commits beneath the waiting ones.
    private func catchUp() throws(StoreError) {
        let commits = try replica.takeAllCommits()
        if !commits.isEmpty { try catchUp(with: commits) }
    }

    /// The same of given commits, or of none when the server refused the first waiting one, for people. The body is called when
    /// they are applied, and the waiting ones not yet repeated on them.
    private func catchUp(
        with commits: [RemoteCommit], denial: String? = nil, _ didApply: () -> Void = {}
    ) throws(StoreError) {
        let (found, increments) = (replica.found(with: commits, denial), replica.pendingIncrements)
        if !found.isEmpty {
            keepCommitBeforeChange()
            self.didApply(try replica.undo(found), host: found.last?.host)
        }
        for commit in commits { try apply(commit) }
        didApply()
        let again = try replica.moveAgain(itemsMovedBy: commits) + replica.incrementAgain(increments, after: commits)
        if !again.isEmpty { endApplying(again) }
    }

    /// Fetches all items from the server, whose log does not lead to them, and applies what differs as one commit of
    /// others. Waiting commits are kept: they follow it, or conflict with it.
    private func synchronizeAnew(_ reason: StoreError) throws(StoreError) {
        guard let remote = replica.remote else { throw reason }
        try sending { () throws(StoreError) in
            let other = remote.reopened()
            let latest = try ItemStore.open(other, schema: schema)
            let new = NewItems(in: columns, remote.pendingCommits, latest.columns, rank: other.rank(ofKey:))
            let commit = RemoteCommit(revision: latest.revision, host: "", changes: new.changes)
            try catchUp(with: [commit]) { remote.adopt(other, because: reason) }
        }
    }

    /// Runs a body that waits for the server; nothing can be changed here meanwhile.
    private func sending(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        replica.isSending = true
        isReadOnly = true
        defer {
            replica.isSending = false
            isReadOnly = replica.isReadOnly
        }
        try body()
    }

    /// Applies a commit of another host, unless the store has it.
    private func apply(_ commit: RemoteCommit) throws(StoreError) {
        guard commit.revision > replica.revision else { return }
        keepCommitBeforeChange()
        didApply(try replica.apply(commit), host: commit.host)
    }

    private func didApply(_ applied: [Change], host: String?) {
        if applied.isEmpty { return }
        recordCommit(.remote, applied, host: host)
        keepCommitBeforeChange()
        endApplying(applied)
    }

    /// Applies the remote commits after a failed commit was rolled back.
    ///
    /// - Returns: the error to report.
    func didTakeBack(after error: StoreError) -> StoreError {
        if error.code == .conflict { applyUnappliedCommits() }
        guard let unknown = replica.abandonCommit(after: error) else { return error }
        isReadOnly = replica.isReadOnly
        return unknown
    }

    /// Applies the commits that a failed commit deferred until its changes were rolled back.
    func applyUnappliedCommits() {
        for commit in replica.takeUnappliedCommits() {
            do throws(StoreError) { try apply(commit) } catch {
                // They are fetched again.
                return
            }
        }
    }
}
