import ColumnEngine
import PropertyList

/// A shared collection: see ``RemotePersistence``.
extension ItemStore {
    /// Applies new commits of other hosts, each as one bulk change. Uncommitted changes are committed first. Does
    /// nothing in an unshared store, and within a transaction.
    ///
    /// - Throws: `StoreError`: `disconnected`, `conflict` of the commit made first.
    public func applyRemoteCommits() throws(StoreError) {
        guard let remote, !isInTransaction, !isSendingCommit else { return }
        defer {
            isReadOnly = remote.isReadOnly
            tellCommits()
        }
        guard remote.mayHaveCommits(after: revision) || remote.isConnected && remote.hasKeptCommits else { return }
        try commit(.change)
        if remote.hasKeptCommits { return try sendKeptCommits(remote) }
        while remote.mayHaveCommits(after: revision) {
            let commits = try remote.takeCommits(after: revision)
            for commit in commits { try apply(commit, from: remote) }
            if commits.isEmpty { return }
        }
    }

    /// Called when the connection is lost: items are read-only until ``applyRemoteCommits()`` reconnects.
    public func connectionWasLost() {
        if let remote { isReadOnly = remote.isReadOnly }
    }

    /// Sends the log's changes. Commits of others to the same items, but not the same fields, are applied first.
    ///
    /// - Parameters:
    ///   - remote: the receiver.
    ///   - reads: the reads of a serializable transaction; nil for other changes.
    /// - Throws: ``StoreError`` with `conflict`: the log must then be rolled back, and the others' commits applied.
    func send(to remote: any RemotePersistence, reads: ItemReads?) throws(StoreError) {
        // Handlers may run while waiting for the server: their changes would become part of this commit.
        (isSendingCommit, isReadOnly) = (true, true)
        defer { (isSendingCommit, isReadOnly) = (false, remote.isReadOnly) }
        // Queue it behind other waiting commits.
        if remote.keepsCommits, !remote.isConnected || remote.hasKeptCommits {
            return try keep(in: remote, reads: reads)
        }
        while true {
            let sent: RemoteOutcome
            do throws(StoreError) {
                sent = try remote.send(
                    ItemCommit(columns, columns.changes, following: revision), reads: reads)
            } catch {
                guard error.code == .disconnected, remote.keepsCommits else { throw error }
                return try keep(in: remote, reads: reads)
            }
            if case .committed(let newest) = sent {
                // After a gap, the revision is only reached when the commits in between are applied.
                if newest == revision.next { revision = newest }
                isMerged = false
                return
            }
            let commits = try remote.takeCommits(after: revision)
            if reads != nil { throw overtaken(by: commits, remote) }
            let own = OwnChanges(columns)
            for commit in commits {
                guard let conflict = own.conflict(with: commit, columns) else { continue }
                unappliedCommits += commits
                throw conflict
            }
            for commit in commits { try apply(commit, from: remote) }
            isMerged = true
        }
    }

    /// Applies the others' commits after a failed commit was rolled back.
    ///
    /// - Returns: the error to report.
    func didTakeBack(after error: StoreError) -> StoreError {
        if error.code == .conflict { applyUnappliedCommits() }
        guard let remote, remote.abandonCommit() else { return error }
        isReadOnly = remote.isReadOnly
        return StoreError(
            .disconnected,
            "the changes were rolled back here, and may have been committed: the server's answer was lost "
                + "(\(error.message)); look at the items when the server is back, before making the changes again",
            cause: error)
    }

    /// Restores the order that all hosts have, after rolling back changes whose positions others had shifted.
    func restoreOrder() {
        guard isMerged, let remote else { return }
        isMerged = false
        columns.reorder { remote.precedes($0, $1) }
    }

    /// The error of a transaction that read outdated data.
    private func overtaken(by commits: [RemoteCommit], _ remote: any RemotePersistence) -> StoreError {
        unappliedCommits += commits
        let hosts = Set(commits.lazy.filter { !$0.changes.isEmpty }.map(\.host)).sorted().joined(separator: ", ")
        return StoreError(
            .conflict,
            "the transaction was rolled back: \(hosts.isEmpty ? "another host" : hosts) changed the collection meanwhile"
        )
    }

    /// Applies the commits that a failed commit deferred until its changes were rolled back.
    func applyUnappliedCommits() {
        guard let remote, !unappliedCommits.isEmpty, !columns.hasChanges else { return }
        let commits = unappliedCommits
        unappliedCommits = []
        for commit in commits {
            do throws(StoreError) { try apply(commit, from: remote) } catch {
                // They are fetched again.
                return
            }
        }
    }

    /// Applies a commit beneath the uncommitted changes, which concern other fields.
    func apply(_ commit: RemoteCommit, from remote: any RemotePersistence) throws(StoreError) {
        guard commit.revision > revision else { return }
        keepCommitBeforeChange()
        let unranked = Self.unrankedRows(columns.changes)
        let applied: [Change]
        do throws(StoreError) {
            applied = try columns.apart { () throws(StoreError) in
                for change in commit.changes {
                    try columns.perform(remote.placed(change, among: unranked))
                    remote.didApply(change)
                }
            }
        } catch {
            let reason = StoreError(
                .corruptJournal,
                "revision \(commit.revision.rawValue) of the collection, by \(commit.host), does not fit the items that "
                    + "are here: \(error.message); start again to synchronise anew",
                cause: error)
            remote.stop(reason)
            throw reason
        }
        revision = commit.revision
        guard !applied.isEmpty else { return }
        noteCommit(.remote, applied, host: commit.host)
        keepCommitBeforeChange()
        endApplying(applied)
    }

    /// The rows that changes inserted or moved.
    private static func unrankedRows(_ changes: [Change]) -> Set<UInt32> {
        var rows: Set<UInt32> = []
        for change in changes {
            switch change.kind {
            case .append: rows.formUnion(change.row..<change.row + UInt32(change.count))
            case .insert, .move: rows.insert(change.row)
            case .remove, .set: break
            }
        }
        return rows
    }
}

/// The subjects of the uncommitted changes.
private struct OwnChanges {
    /// By key, the changed fields; nil for an inserted or removed item.
    private var fields: NameTable<NameSet?> = [:]

    init(_ columns: ColumnStore) {
        for change in columns.changes {
            switch change.kind {
            case .append:
                for row in change.row..<change.row + UInt32(change.count) {
                    fields[columns.keyString(row)] = .some(nil)
                }
            case .insert, .remove: fields[columns.keyString(change.row)] = .some(nil)
            case .set:
                let key = columns.keyString(change.row)
                // Insertion and removal affect all fields.
                guard let known = fields[key, default: []] else { continue }
                fields[key] = known.union([columns.name(of: ItemField(rawValue: change.field))])
            case .move:
                if fields[columns.keyString(change.row)] == nil { fields[columns.keyString(change.row)] = .some([]) }
            }
        }
    }

    /// Returns an error if these changes conflict with a commit of another host.
    func conflict(with commit: RemoteCommit, _ columns: ColumnStore) -> StoreError? {
        for change in commit.changes.lazy.map(\.change) {
            guard let own = fields[change.itemKey] else { continue }
            let name = Self.name(change.itemKey, columns)
            guard let own else {
                return Self.conflict("\(name) was changed by \(commit.host), and came or left here")
            }
            switch change.kind {
            case .insert, .remove: return Self.conflict("\(name) was removed by \(commit.host)")
            // Of two moves, the later one wins.
            case .move: continue
            case .update:
                guard let field = change.field, own.contains(field) else { continue }
                var key = change.itemKey
                let row = key.withUTF8 { columns.row(forKey: $0) }
                if field == FieldTable.attachmentName {
                    if row.flatMap(columns.attachments) == change.new { continue }
                    return Self.conflict("the image of \(name) was changed by \(commit.host), and here")
                }
                let mine = row.flatMap { row in columns.existingField(named: field).flatMap { columns.value(row, $0) } }
                if mine == change.new { continue }
                return Self.conflict(
                    "\(field) of \(name) was set to \(Self.text(change.new)) by \(commit.host), and to \(Self.text(mine)) here"
                )
            }
        }
        return nil
    }

    private static func name(_ key: String, _ columns: ColumnStore) -> String {
        var bytes = key
        guard let row = bytes.withUTF8({ columns.row(forKey: $0) }),
            case .string(let name)? = columns.value(row, .name),
            !name.isEmpty
        else { return "the item \(key)" }
        return "the item \(key), \(name),"
    }

    private static func text(_ value: PropertyListValue?) -> String {
        value == nil ? "nothing" : FieldValidation.describe(value)
    }

    private static func conflict(_ what: String) -> StoreError {
        StoreError(.conflict, "\(what): these changes were rolled back; make them again on the items as they are now")
    }
}
