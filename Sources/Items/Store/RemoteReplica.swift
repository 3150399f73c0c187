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
    /// Whether a commit is being sent: handlers that run while waiting for the server must not change items, or their
    /// changes would become part of the commit.
    var isSending = false

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
    /// Why nothing is changed in a store that could be; nil for none.
    var denial: StoreError?
    var isReadOnly: Bool { denial != nil || (remote?.isReadOnly ?? persistence.isReadOnly) }
    /// Whether the reads of a transaction are recorded, so that remote changes to them conflict with it.
    var recordsReads: Bool { isShared && isolation == .serializable }

    /// The error for a refused change.
    var readOnlyError: StoreError {
        if isSending {
            return StoreError(
                .readOnly, "a commit is on its way to the server: items can be changed when it has answered")
        }
        if let denial { return denial }
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

    /// Sends the log's changes, or keeps them until the server is back. Remote commits to the same items, but not
    /// the same fields, are applied first. When others were ahead twice, they wait for the third attempt.
    ///
    /// - Parameters:
    ///   - reads: the reads of a serializable transaction; nil for other changes.
    ///   - durable: whether to wait until a commit that is kept survives a power cut.
    ///   - apply: applies a commit of another host.
    ///   - didRepeat: called with the former values of numbers that were incremented once more, after another host's
    ///     commit.
    /// - Throws: ``StoreError`` with `conflict`: the log must then be rolled back, and the remote commits applied.
    func send(
        reads: ItemReads?, durable: Bool, applying apply: (RemoteCommit) throws(StoreError) -> Void,
        didRepeat: ([Change]) -> Void
    ) throws(StoreError) {
        guard let remote else { return }
        // Queue it behind other waiting commits.
        if remote.keepsCommits, !remote.isConnected || remote.hasPendingCommits {
            return try keep(in: remote, reads: reads, durable: durable)
        }
        func catchUp() throws(StoreError) -> Bool {
            let commits = try remote.takeCommits(after: revision)
            if !commits.isEmpty { didRepeat(try merge(commits, reads, apply)) }
            return !commits.isEmpty
        }
        var meetings = 0
        defer { if meetings >= Self.meetingsBeforeHolding { remote.release() } }
        do throws(StoreError) {
            while meetings < Self.meetingLimit {
                if meetings >= Self.meetingsBeforeHolding {
                    try remote.hold()
                    while remote.mayHaveCommits(after: revision), try catchUp() {}
                }
                let sent = try remote.send(ItemCommit(columns, columns.changes, following: revision), reads: reads)
                if case .committed(let newest) = sent {
                    // After a gap, the revision is only reached when the commits in between are applied.
                    if newest == revision.next { revision = newest }
                    isMerged = false
                    return
                }
                meetings += 1
                _ = try catchUp()
            }
        } catch {
            let isLater = error.code == .disconnected || remote.isLogBroken
            if isLater, remote.keepsCommits { return try keep(in: remote, reads: reads, durable: durable) }
            guard remote.isLogBroken else { throw error }
            throw StoreError(
                .conflict,
                "\(error.message): these changes were rolled back, and all items are fetched anew; then make them again",
                cause: error)
        }
        throw StoreError(
            .conflict,
            "other hosts' commits were ahead \(meetings) times: these changes were rolled back; try again later")
    }

    /// When others were ahead as many times, they wait for the next attempt.
    private static let meetingsBeforeHolding = 2
    /// The server refuses attempts that keep others out only if it rolls them back by itself.
    private static let meetingLimit = 12

    /// Applies remote commits beneath the log's changes.
    ///
    /// - Returns: the former values of numbers that were incremented once more, as changes.
    /// - Throws: ``StoreError`` with `conflict` if they concern what the log's changes do, or if these no longer hold
    ///   what is declared.
    private func merge(
        _ commits: [RemoteCommit], _ reads: ItemReads?, _ apply: (RemoteCommit) throws(StoreError) -> Void
    ) throws(StoreError) -> [Change] {
        let conflict =
            reads == nil ? LocalChanges(columns).conflict(with: commits, columns) : Self.overtaken(by: commits)
        if let conflict {
            unappliedCommits += commits
            throw conflict
        }
        for commit in commits { try apply(commit) }
        isMerged = true
        let repeated = try repeatIncrements(after: commits)
        // The log's changes were checked against the items and declarations before these commits.
        let declares = commits.contains { $0.changes.contains { $0.change.kind == .declare } }
        if let violation = columns.violation(of: columns.changes, checksFit: declares) {
            throw Self.conflict(with: commits, violation)
        }
        return repeated
    }

    private static func conflict(with commits: [RemoteCommit], _ violation: StoreError) -> StoreError {
        StoreError(
            .conflict,
            "\(hosts(of: commits)) was first, and these changes were rolled back: \(violation.message)",
            cause: violation)
    }

    /// Makes the log's increments once more, of numbers that remote commits have set.
    private func repeatIncrements(after commits: [RemoteCommit]) throws(StoreError) -> [Change] {
        guard columns.changes.contains(where: { columns.increment(of: $0) != nil }) else { return [] }
        var changed: Set<ChangedField> = []
        for change in commits.lazy.flatMap(\.changes).map(\.change) where change.kind == .update {
            guard let row = columns.row(ofKey: change.itemKey),
                let field = columns.existingField(named: change.field ?? "")
            else { continue }
            changed.insert(ChangedField(row: row, field: field.rawValue))
        }
        do throws(StoreError) {
            return try columns.repeatIncrements { changed.contains(ChangedField(row: $0, field: $1)) }
        } catch {
            throw Self.conflict(with: commits, error)
        }
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

    /// Calls a body with the remote commits, oldest first, piece by piece, up to the latest one that the server had at the
    /// first: hosts that commit all the time must not keep this one from its own work.
    func forEachPiece(_ body: ([RemoteCommit]) throws(StoreError) -> Void) throws(StoreError) {
        guard let remote, remote.mayHaveCommits(after: revision) else { return }
        var last = revision
        var end: ItemRevision?
        repeat {
            let commits = try remote.takeCommits(after: last)
            guard let newest = commits.last?.revision else { return }
            end = end ?? remote.newestRevision
            try body(commits)
            last = newest
        } while end.map { last < $0 } ?? false
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
            remote?.isLogBroken = true
            throw StoreError(
                .corruptJournal,
                "revision \(commit.revision.rawValue) of the collection, by \(commit.host), does not fit the items that "
                    + "are here: \(error.message)", cause: error)
        }
        revision = commit.revision
        remote?.didApply(commit)
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
    private func stop(_ message: String, _ cause: StoreError) -> StoreError {
        let reason = StoreError(.inputOutput, message, cause: cause)
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

    /// All remote commits after the revision.
    func takeAllCommits() throws(StoreError) -> [RemoteCommit] {
        var commits: [RemoteCommit] = []
        try forEachPiece { commits += $0 }
        return commits
    }

    /// The waiting commits that conflict or agree with remote ones, or of which the server refused the first.
    func found(with commits: [RemoteCommit], _ denial: String?) -> [PendingConflicts.Found] {
        PendingConflicts(remote?.pendingCommits ?? [], commits, columns, denial: denial).found
    }

    /// The numbers that waiting commits increment.
    var pendingIncrements: PendingIncrements { PendingIncrements(remote?.pendingCommits ?? []) }

    /// Removes the found commits from those that wait, keeps the conflicting ones to be resolved, and undoes all of
    /// them, newest first.
    ///
    /// - Returns: the changes of rows, oldest first.
    func undo(_ found: [PendingConflicts.Found]) throws(StoreError) -> [Change] {
        let conflicts = found.filter { !$0.isAgreement }.map { conflict in
            var commit = conflict.commit
            commit.host = conflict.host
            for key in conflict.removedItems {
                commit.lostItems[key] = columns.row(ofKey: key).map(columns.storedValues(of:))
            }
            return commit
        }
        try remote?.quarantine(conflicts)
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

    /// Makes the increments of waiting commits again.
    ///
    /// - Parameters:
    ///   - increments: those before the remote commits.
    ///   - commits: the remote commits that were applied.
    /// - Returns: the changes of rows, oldest first.
    /// - Throws: `StoreError` if a number is not possible any more, which ``found(with:)`` should have found: the log must
    ///   not get other numbers than the items.
    func incrementAgain(_ increments: PendingIncrements, after commits: [RemoteCommit]) throws(StoreError) -> [Change] {
        guard let remote, !increments.isEmpty else { return [] }
        do throws(StoreError) {
            let (pending, updates) = try increments.repeated(remote.pendingCommits, after: commits, in: columns)
            let changes = try perform(updates)
            remote.updatePendingCommits(pending)
            return changes
        } catch {
            throw stop(
                "the increments that wait cannot follow other hosts' commits (\(error.message)): start again; they are kept",
                error)
        }
    }
}

extension ColumnStore {
    /// An item's fields, and the digests of its attachments.
    func storedValues(of row: UInt32) -> PropertyListFields {
        dictionary(of: row, keepsAttachment: true, marksAbsent: true)
    }
}

extension ItemChange {
    /// The updates that give an item other fields.
    static func updates(
        _ key: String, from old: PropertyListFields, to new: PropertyListFields
    ) -> [ItemChange] {
        old.merging(new) { $1 }.keys.sorted().filter { old[$0] != new[$0] }.map { .update(key, $0, to: new[$0]) }
    }
}

/// What turns a replica's items into those that were fetched anew from the server: one commit, as if another host had made
/// all the differences.
///
/// The items' own state is that without the waiting commits, which follow it again or conflict with it as with any other.
struct NewItems {
    private let columns: ColumnStore
    private let latest: ColumnStore
    private let rank: (_ key: String) -> [UInt8]?
    /// By key, the fields that an item had before the waiting commits; nil for one that was not there.
    private var bases: NameTable<PropertyListFields?> = [:]
    private var declarations: FieldDeclarations
    private var removals: [RemoteChange] = []
    private var rest: [RemoteChange] = []

    /// - Parameters:
    ///   - columns: the items here, with the waiting commits.
    ///   - pending: these commits.
    ///   - latest: the items of the server.
    ///   - rank: the rank of one of them.
    init(
        in columns: ColumnStore, _ pending: [PendingCommit], _ latest: ColumnStore,
        rank: @escaping (_ key: String) -> [UInt8]?
    ) {
        (self.columns, self.latest, self.rank) = (columns, latest, rank)
        declarations = columns.declarations
        for change in pending.reversed().flatMap({ $0.changes.reversed() }).map(\.change) { takeBack(change) }
        if declarations != latest.declarations { rest.append(RemoteChange(.declare(latest.declarations))) }
        for position in 0..<columns.count {
            let row = columns.row(at: position)
            let key = columns.keyString(row)
            if bases[key] == nil { compare(key, columns.storedValues(of: row)) }
        }
        for (key, base) in bases { compare(key, base) }
        for position in 0..<latest.count {
            let key = latest.keyString(latest.row(at: position))
            if columns.row(ofKey: key) == nil, bases[key] == nil { compare(key, nil) }
        }
    }

    /// The changes, removals first: a unique value may be another item's now.
    var changes: [RemoteChange] { removals + rest }

    private mutating func takeBack(_ change: ItemChange) {
        if change.kind == .declare {
            declarations = (try? FieldDeclarations(record: change.old)) ?? FieldDeclarations()
            return
        }
        let key = change.itemKey
        var base = bases[key] ?? columns.row(ofKey: key).map(columns.storedValues(of:))
        switch change.kind {
        case .insert: base = nil
        case .remove: base = change.values
        case .update: base?[change.field ?? ""] = change.old
        case .move, .declare: break
        }
        bases.updateValue(base, forKey: key)
    }

    private mutating func compare(_ key: String, _ base: PropertyListFields?) {
        let theirs = latest.row(ofKey: key).map(latest.storedValues(of:))
        switch (base, theirs) {
        case (nil, nil): return
        case (_?, nil): removals.append(RemoteChange(.remove(key)))
        case (nil, let values?): rest.append(RemoteChange(.insert(values), rank: rank(key) ?? []))
        case (let base?, let values?):
            rest += ItemChange.updates(key, from: base, to: values).map { RemoteChange($0) }
        }
    }
}
