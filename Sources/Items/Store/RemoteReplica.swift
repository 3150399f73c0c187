import ColumnEngine
import PropertyList

/// The store as a replica of what its persistence has: the revision that it follows and, of a collection shared with
/// other hosts, what is being sent, what has yet to be applied, and the conflicts.
///
/// It changes rows, and notifies nobody: the store does, and decides when.
final class RemoteReplica {
    let persistence: any ItemPersistence
    /// The persistence, if the collection is shared with other hosts.
    let remote: (any RemotePersistence)?
    /// The collection's revision: that of the last commit made or applied.
    var revision = ItemRevision.initial
    /// Which remote commits conflict with the current transaction.
    var isolation = ItemStore.Isolation.serializable
    /// Whether a commit is being sent.
    private(set) var isSending = false

    private let columns: ColumnStore
    /// The heap's bytes of text at the last commit.
    private var committedTextBytes = 0
    /// Whether remote commits were applied beneath the commit being sent.
    private var isMerged = false
    /// Remote commits, to be applied after a failed commit is rolled back.
    private var unappliedCommits: [RemoteCommit] = []

    init(_ persistence: any ItemPersistence, of columns: ColumnStore) {
        (self.persistence, self.columns) = (persistence, columns)
        remote = persistence.remote
    }

    var isShared: Bool { remote != nil }
    var isReadOnly: Bool { remote?.isReadOnly ?? persistence.isReadOnly }
    /// Whether the reads of a transaction are recorded, so that remote changes to them conflict with it.
    var recordsReads: Bool { isShared && isolation == .serializable }

    /// The error for a refused change.
    var readOnlyError: StoreError {
        if isSending {
            return StoreError(
                .readOnly, "a commit is on its way to the server: items can be changed when it has answered")
        }
        guard let remote else { return .storeIsReadOnly }
        return StoreError(.readOnly, remote.readOnlyReason)
    }

    /// Records the result of opening.
    func wasLoaded(_ report: ItemLoadReport) {
        revision = report.revision
        committedTextBytes = columns.textBytes
    }

    // MARK: Commits of this host

    /// The log's changes, for a persistence without other hosts.
    func nextCommit() -> ItemCommit {
        let textBytes = max(columns.textBytes - committedTextBytes, 0)
        committedTextBytes = columns.textBytes
        return ItemCommit(columns, columns.changes, following: revision, textBytes: textBytes)
    }

    /// Begins to send: handlers that run while waiting for the server must not change items, or their changes would
    /// become part of the commit.
    func beginSending() { isSending = true }

    func endSending() { isSending = false }

    /// Sends the log's changes, or keeps them until the server is back. Remote commits to the same items, but not
    /// the same fields, are applied first.
    ///
    /// - Parameters:
    ///   - reads: the reads of a serializable transaction; nil for other changes.
    ///   - durable: whether to wait until a commit that is kept survives a power cut.
    ///   - apply: applies a commit of another host.
    /// - Throws: ``StoreError`` with `conflict`: the log must then be rolled back, and the remote commits applied.
    func send(
        reads: ItemReads?, durable: Bool, applying apply: (RemoteCommit) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let remote else { return }
        // Queue it behind other waiting commits.
        if remote.keepsCommits, !remote.isConnected || remote.hasPendingCommits {
            return try keep(in: remote, reads: reads, durable: durable)
        }
        var attempts = 0
        defer { if attempts > Self.attemptsBeforeHolding { remote.release() } }
        while true {
            attempts += 1
            // A declaration reads all items: commits of busy hosts could precede each attempt.
            if attempts == Self.attemptsBeforeHolding + 1, columns.changes.contains(where: { $0.kind == .declare }) {
                try remote.hold()
                if remote.mayHaveCommits(after: revision) {
                    try merge(remote.takeCommits(after: revision), reads, apply)
                }
            }
            let sent: RemoteOutcome
            do throws(StoreError) {
                sent = try remote.send(ItemCommit(columns, columns.changes, following: revision), reads: reads)
            } catch {
                guard error.code == .disconnected, remote.keepsCommits else { throw error }
                return try keep(in: remote, reads: reads, durable: durable)
            }
            if case .committed(let newest) = sent {
                // After a gap, the revision is only reached when the commits in between are applied.
                if newest == revision.next { revision = newest }
                isMerged = false
                return
            }
            try merge(remote.takeCommits(after: revision), reads, apply)
        }
    }

    /// After as many attempts, the next one keeps others out.
    private static let attemptsBeforeHolding = 3

    /// Applies remote commits beneath the log's changes.
    ///
    /// - Throws: ``StoreError`` with `conflict` if they concern what the log's changes do, or if these no longer hold
    ///   what is declared.
    private func merge(
        _ commits: [RemoteCommit], _ reads: ItemReads?, _ apply: (RemoteCommit) throws(StoreError) -> Void
    ) throws(StoreError) {
        if let conflict = reads == nil ? conflict(with: commits) : Self.overtaken(by: commits) {
            unappliedCommits += commits
            throw conflict
        }
        for commit in commits { try apply(commit) }
        isMerged = true
        // The log's changes were checked against the items and declarations before these commits.
        let declares = commits.contains { $0.changes.contains { $0.change.kind == .declare } }
        guard let violation = columns.violation(of: columns.changes, checksFit: declares) else { return }
        throw StoreError(
            .conflict,
            "\(Self.hosts(of: commits)) was first, and these changes were rolled back: \(violation.message)",
            cause: violation)
    }

    private static func hosts(of commits: [RemoteCommit]) -> String {
        let hosts = Set(commits.lazy.filter { !$0.changes.isEmpty }.map(\.host)).sorted().joined(separator: ", ")
        return hosts.isEmpty ? "another host" : hosts
    }

    /// Keeps the log's changes as a commit, to be sent when the server is back.
    private func keep(
        in remote: any RemotePersistence, reads: ItemReads?, durable: Bool
    ) throws(StoreError) {
        let commit = ItemCommit(columns, columns.changes, following: revision)
        let changes = RetainedChanges(of: columns.changes, count: commit.count, in: columns, isForPeople: false)
        let count = commit.count
        try remote.keep(commit, (0..<count).map { changes[$0] }, reads: reads, durable: durable)
        isMerged = false
    }

    /// Returns an error if remote commits concern the fields of the log's changes.
    private func conflict(with commits: [RemoteCommit]) -> StoreError? {
        let own = LocalChanges(columns)
        for commit in commits {
            if let conflict = own.conflict(with: commit, columns) { return conflict }
        }
        return nil
    }

    /// The error of a transaction that read outdated data.
    private static func overtaken(by commits: [RemoteCommit]) -> StoreError {
        StoreError(
            .conflict, "the transaction was rolled back: \(hosts(of: commits)) changed the collection meanwhile")
    }

    /// Called when a failed commit was rolled back.
    ///
    /// - Returns: the error to report instead if the server may have applied it.
    func abandonCommit(after error: StoreError) -> StoreError? {
        guard remote?.abandonCommit() == true else { return nil }
        return StoreError(
            .disconnected,
            "the changes were rolled back here, and may have been committed: the server's answer was lost "
                + "(\(error.message)); look at the items when the server is back, before making the changes again",
            cause: error)
    }

    /// Restores the order that all hosts have, after rolling back changes whose positions remote ones had shifted.
    func restoreOrder() {
        guard isMerged, let remote else { return }
        isMerged = false
        columns.reorder { remote.precedes($0, $1) }
    }

    // MARK: Remote commits

    /// Whether there may be remote commits to apply, or waiting ones to send.
    var hasNews: Bool {
        guard let remote else { return false }
        return remote.mayHaveCommits(after: revision) || remote.isConnected && remote.hasPendingCommits
    }

    /// The next remote commits, oldest first; nil if there are none.
    func nextCommits() throws(StoreError) -> [RemoteCommit]? {
        guard let remote, remote.mayHaveCommits(after: revision) else { return nil }
        let commits = try remote.takeCommits(after: revision)
        return commits.isEmpty ? nil : commits
    }

    /// Removes and returns the commits that a failed commit deferred until its changes were rolled back.
    func takeUnappliedCommits() -> [RemoteCommit] {
        if columns.hasChanges { return [] }
        defer { unappliedCommits = [] }
        return unappliedCommits
    }

    /// Applies a commit beneath the uncommitted changes, which concern other fields.
    ///
    /// - Returns: the changes of rows, oldest first.
    func apply(_ commit: RemoteCommit) throws(StoreError) -> [Change] {
        let applied: [Change]
        do throws(StoreError) {
            // This host inserted or moved them, and has not committed that: they have no ranks.
            let unranked = RetainedChanges.insertedRows(columns.changes, orMoved: true)
            applied = try perform(commit.changes, among: unranked)
        } catch {
            throw stop(
                .corruptJournal,
                "revision \(commit.revision.rawValue) of the collection, by \(commit.host), does not fit the items that "
                    + "are here: \(error.message); start again to synchronise anew", error)
        }
        revision = commit.revision
        return applied
    }

    /// Makes changes of the collection, apart from those since the last commit.
    ///
    /// - Parameters:
    ///   - changes: with ranks.
    ///   - unranked: the rows that this host inserted or moved, and has not committed.
    /// - Returns: the changes of rows, oldest first.
    /// - Throws: `StoreError` if they do not fit the items, which are then as before.
    private func perform(
        _ changes: some Sequence<RemoteChange>, among unranked: Set<UInt32> = []
    ) throws(StoreError) -> [Change] {
        guard let remote else { return [] }
        return try columns.apart { () throws(StoreError) in
            for change in changes {
                try columns.perform(remote.placed(change, among: unranked))
                remote.didApply(change)
            }
        }
    }

    /// Ends the use of the server, whose changes do not fit the items.
    private func stop(_ code: StoreError.Code, _ message: String, _ cause: StoreError) -> StoreError {
        let reason = StoreError(code, message, cause: cause)
        remote?.stop(reason)
        return reason
    }

    // MARK: Commits that wait for the server

    var hasPendingCommits: Bool { remote?.hasPendingCommits == true }
    /// The number of commits that wait.
    var pendingCount: Int { remote?.pendingCommits.count ?? 0 }
    /// The commits in conflict with remote ones, oldest first.
    var conflicts: [PendingCommit] { remote?.conflicts ?? [] }

    /// Removes a commit whose conflict is resolved.
    func end(_ conflict: PendingCommit) throws(StoreError) { try remote?.endPendingCommits([conflict]) }

    /// All remote commits after the revision, and the waiting ones that conflict or agree with them.
    func takeAllCommits() throws(StoreError) -> (commits: [RemoteCommit], found: [PendingConflicts.Found]) {
        guard let remote else { return ([], []) }
        var commits: [RemoteCommit] = []
        while remote.mayHaveCommits(after: commits.last?.revision ?? revision) {
            let more = try remote.takeCommits(after: commits.last?.revision ?? revision)
            if more.isEmpty { break }
            commits += more
        }
        return (commits, PendingConflicts(remote.pendingCommits, commits, columns).found)
    }

    /// Removes the found commits from those that wait, keeps the conflicting ones to be resolved, and undoes all of
    /// them, newest first.
    ///
    /// - Returns: the changes of rows, oldest first.
    func undo(_ found: [PendingConflicts.Found]) throws(StoreError) -> [Change] {
        for conflict in found where !conflict.isAgreement {
            var lost: [String: PropertyListFields] = [:]
            for key in conflict.removedItems { lost[key] = columns.row(ofKey: key).map(columns.storedValues(of:)) }
            try remote?.quarantine(conflict.commit, host: conflict.host, lost: lost)
        }
        try remote?.endPendingCommits(found.filter(\.isAgreement).map(\.commit))
        let inverse = found.reversed().flatMap { conflict in
            conflict.commit.changes.reversed().lazy.filter {
                $0.change.kind != .move || !conflict.movedLater.contains($0.change.itemKey)
            }.map(\.inverse)
        }
        do throws(StoreError) {
            return try perform(inverse)
        } catch {
            throw stop(
                .inputOutput,
                "the commits that others were ahead of cannot be taken back (\(error.message)): start again; they are kept",
                error)
        }
    }

    /// Repeats the moves of waiting commits: if an item was moved twice, the later commit, the waiting one, wins.
    ///
    /// - Returns: the changes of rows, oldest first.
    func moveAgain(itemsMovedBy commits: [RemoteCommit]) throws(StoreError) -> [Change] {
        let moved = Set(commits.flatMap(\.changes).lazy.filter { $0.change.kind == .move }.map(\.change.itemKey))
        guard let remote, !moved.isEmpty else { return [] }
        let again = remote.pendingCommits.flatMap(\.changes).filter {
            // A later change may have removed the item.
            $0.change.kind == .move && moved.contains($0.change.itemKey) && columns.row(ofKey: $0.change.itemKey) != nil
        }
        return try perform(again.map(\.forward))
    }

    /// Finds out which of the waiting commits the server has after all.
    func settleDoubts() throws(StoreError) { try remote?.settleDoubts() }

    /// Sends the waiting commits, all or none.
    ///
    /// - Returns: false if other hosts have committed since: their commits have to be applied first.
    func sendPendingCommits() throws(StoreError) -> Bool {
        guard case .committed(let newest)? = try remote?.sendPendingCommits(after: revision) else { return false }
        revision = newest
        return true
    }
}

extension ColumnStore {
    /// An item's fields, and the digests of its attachments.
    func storedValues(of row: UInt32) -> PropertyListFields {
        dictionary(of: row, keepsAttachment: true, marksAbsent: true)
    }
}

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
        if replica.hasPendingCommits { return try sendPendingCommits() }
        while let commits = try replica.nextCommits() {
            for commit in commits { try apply(commit) }
        }
    }

    /// Sends the log's changes: see ``RemoteReplica/send(reads:durable:applying:)``.
    func send(reads: ItemReads?) throws(StoreError) {
        try sending { () throws(StoreError) in
            try replica.send(reads: reads, durable: durability == .power) { (commit) throws(StoreError) in
                try apply(commit)
            }
        }
    }

    /// Applies the commits that others made meanwhile, and sends the waiting ones. Conflicting ones are rolled back,
    /// and kept to be resolved.
    private func sendPendingCommits() throws(StoreError) {
        try sending { () throws(StoreError) in
            try replica.settleDoubts()
            repeat {
                let (commits, found) = try replica.takeAllCommits()
                if !found.isEmpty {
                    keepCommitBeforeChange()
                    didApply(try replica.undo(found), host: found.last?.host)
                }
                for commit in commits { try apply(commit) }
                let moved = try replica.moveAgain(itemsMovedBy: commits)
                if !moved.isEmpty { endApplying(moved) }
            } while try !replica.sendPendingCommits()
            attachments?.shared?.settle()
        }
    }

    /// Runs a body that waits for the server; nothing can be changed here meanwhile.
    private func sending(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        replica.beginSending()
        isReadOnly = true
        defer {
            replica.endSending()
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
