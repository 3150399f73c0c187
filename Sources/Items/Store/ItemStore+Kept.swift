import ColumnEngine
import PropertyList

/// Commits that are kept while the collection's server does not respond, and sent when it is back.
extension ItemStore {
    /// The number of commits that wait for the server. 0 in a store without one.
    public var waitingCommits: Int { remote?.keptCommits.count ?? 0 }

    /// Keeps the log's changes as a commit, to be sent when the server is back.
    func keep(in remote: any RemotePersistence, reads: ItemReads?) throws(StoreError) {
        let commit = ItemCommit(columns, columns.changes, following: revision)
        let changes = KeptChanges(of: columns.changes, count: commit.count, in: columns, isForPeople: false)
        let count = commit.count
        try remote.keep(commit, (0..<count).map { changes[$0] }, reads: reads, durable: durability == .power)
        isMerged = false
    }

    /// Applies the commits that others made meanwhile, and sends the waiting ones. Conflicting ones are rolled back,
    /// and kept to be resolved.
    func sendKeptCommits(_ remote: any RemotePersistence) throws(StoreError) {
        (isSendingCommit, isReadOnly) = (true, true)
        defer { (isSendingCommit, isReadOnly) = (false, remote.isReadOnly) }
        try remote.settleDoubts()
        while true {
            var commits: [RemoteCommit] = []
            while remote.mayHaveCommits(after: commits.last?.revision ?? revision) {
                let more = try remote.takeCommits(after: commits.last?.revision ?? revision)
                if more.isEmpty { break }
                commits += more
            }
            try takeBack(KeptConflicts(remote.keptCommits, commits).found, remote)
            for commit in commits { try apply(commit, from: remote) }
            try moveAgain(itemsMovedBy: commits, remote)
            guard case .committed(let newest) = try remote.sendKeptCommits(after: revision) else { continue }
            revision = newest
            attachments?.shared?.settle()
            return
        }
    }

    /// An item's fields, and the digests of its attachments.
    func keptValues(of item: Item) -> PropertyListFields { keptValues(of: item.row) }

    func keptValues(of row: UInt32) -> PropertyListFields {
        columns.dictionary(of: row, keepsAttachment: true, marksAbsent: true)
    }

    /// Repeats the moves of waiting commits: if an item was moved twice, the later commit, the waiting one, wins.
    private func moveAgain(
        itemsMovedBy commits: [RemoteCommit], _ remote: any RemotePersistence
    ) throws(StoreError) {
        let moved = Set(commits.flatMap(\.changes).lazy.filter { $0.change.kind == .move }.map(\.change.itemKey))
        if moved.isEmpty { return }
        let applied = try columns.apart { () throws(StoreError) in
            for change in remote.keptCommits.lazy.flatMap(\.changes)
            where change.change.kind == .move && moved.contains(change.change.itemKey) {
                // A later change may have removed the item.
                guard item(forKey: change.change.itemKey) != nil else { continue }
                try columns.perform(remote.placed(change.forward, among: []))
                remote.didApply(change.forward)
            }
        }
        if !applied.isEmpty { endApplying(applied) }
    }

    /// Rolls back conflicting commits, newest first.
    private func takeBack(
        _ found: [KeptConflicts.Found], _ remote: any RemotePersistence
    ) throws(StoreError) {
        if found.isEmpty { return }
        for conflict in found where !conflict.isAgreement {
            var lost: [String: PropertyListFields] = [:]
            for key in conflict.removedItems { lost[key] = item(forKey: key).map(keptValues) }
            try remote.setAside(conflict.commit, host: conflict.host, lost: lost)
        }
        try remote.endKeptCommits(found.filter(\.isAgreement).map(\.commit))
        if isWatched { keepLatestCommit() }
        let applied: [Change]
        do throws(StoreError) {
            applied = try columns.apart { () throws(StoreError) in
                for conflict in found.reversed() {
                    for change in conflict.commit.changes.reversed() {
                        if change.change.kind == .move, conflict.movedLater.contains(change.change.itemKey) { continue }
                        let inverse = change.inverse
                        try columns.perform(remote.placed(inverse, among: []))
                        remote.didApply(inverse)
                    }
                }
            }
        } catch {
            let reason = StoreError(
                .inputOutput,
                "the commits that others were ahead of cannot be taken back (\(error.message)): start again; they are kept",
                cause: error)
            remote.stop(reason)
            throw reason
        }
        guard !applied.isEmpty else { return }
        noteCommit(.remote, applied, host: found.last?.host)
        if isWatched { keepLatestCommit() }
        endApplying(applied)
    }
}
