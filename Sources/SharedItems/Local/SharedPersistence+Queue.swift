package import ColumnEngine
import ItemArchive
import PropertyList

/// Commits queued for the server.
extension SharedPersistence {
    package var hasPendingCommits: Bool { queue?.waiting.isEmpty == false }
    package var pendingCommits: [PendingCommit] { queue?.waiting.map(\.pending) ?? [] }
    package var conflicts: [PendingCommit] { queue?.conflicts.map(\.pending) ?? [] }

    func readQueue(_ report: inout ItemLoadReport) throws(StoreError) {
        guard let queue else { return }
        do throws(StoreError) { try queue.load(isReadOnly: opensReadOnly) } catch {
            guard error.code == .corruptJournal, !opensReadOnly else { throw error }
            guard let path = try queue.quarantineFile() else { return }
            report.quarantinedFiles.append(path)
            report.notices.append(
                "the commits that waited for the server cannot be read (\(error.message)): they are kept in \(path)")
        }
    }

    /// Applies queued commits to a loaded store. Those that do not fit the current items need to be settled.
    ///
    /// - Parameters:
    ///   - loader: the store's loader.
    ///   - report: receives the number of these commits.
    ///   - isSinceCache: whether the items are the cached ones, on which the commits were made.
    /// - Throws: `StoreError` with `inputOutput`.
    func applyPendingCommits(
        _ loader: ItemLoader, _ report: inout ItemLoadReport, isSinceCache: Bool
    ) throws(StoreError) {
        guard let queue else { return }
        var (replayed, doubtful): ([PendingCommit], [PendingCommit]) = ([], [])
        var doubtfulItems: NameSet = []
        for commit in queue.waiting {
            do throws(StoreError) {
                // The items may be older or newer than those it was made on: then the user decides.
                guard commit.seen <= report.revision.rawValue, isSinceCache, !commit.pending.concerns(doubtfulItems)
                else {
                    throw Self.notLoaded
                }
                replayed.append(try replay(commit.pending, loader))
            } catch {
                doubtful.append(commit.pending)
                doubtfulItems.formUnion(commit.pending.changes.lazy.map(\.change.itemKey))
            }
        }
        if !opensReadOnly { try queue.quarantine(doubtful) }
        queue.update(replayed)
        if !queue.waiting.isEmpty {
            report.notices.append(Self.counted(queue.waiting.count, "waits", "wait") + " for the server")
        }
        if !queue.conflicts.isEmpty {
            report.notices.append(
                Self.counted(queue.conflicts.count, "is", "are") + " to be settled: items:conflicts()")
        }
    }

    /// Applies a queued commit to a store that is being loaded.
    ///
    /// - Returns: the commit with its increments on the numbers that are there.
    private func replay(_ commit: PendingCommit, _ loader: ItemLoader) throws(StoreError) -> PendingCommit {
        var commit = commit
        try loader.replaying { () throws(StoreError) in
            for place in commit.changes.indices {
                try incrementAgain(&commit.changes[place].change, loader.store)
                let change = commit.changes[place].forward
                try loader.store.perform(placed(change, among: []))
                didApply(change)
            }
        }
        return commit
    }

    private func incrementAgain(_ change: inout ItemChange, _ columns: ColumnStore) throws(StoreError) {
        guard let amount = change.increment, let row = columns.row(ofKey: change.itemKey) else { return }
        let field = columns.field(named: change.field ?? "")
        change.old = columns.value(row, field)
        change.new = try columns.sum(change.old, amount, for: field)
    }

    private static func counted(_ count: Int, _ one: String, _ many: String) -> String {
        "\(count.counted("commit")) of this host \(count == 1 ? one : many)"
    }

    // MARK: Keeping

    package func keep(
        _ commit: borrowing ItemCommit, _ changes: [ItemChange], reads: ItemReads?, durable: Bool
    ) throws(StoreError) {
        guard let queue, let columns = places.columns else { throw Self.notLoaded }
        // A commit that was sent keeps its token: the server may have applied it.
        let encoded = inDoubt?.commit ?? EncodedCommit(commit, places.ranks)
        var given: NameTable<[UInt8]> = [:]
        for (row, rank) in encoded.newRanks { given[columns.keyString(row)] = rank }
        let former = formerRanks(changes, commit)
        let pending = PendingCommit(
            identifier: inDoubt?.token ?? Self.newIdentifier(), date: .now(),
            changes: changes.map { change in
                PendingCommit.Change(
                    change, rank: given[change.itemKey] ?? former[change.itemKey] ?? [],
                    formerRank: former[change.itemKey] ?? [])
            }, reads: reads)
        try queue.add(QueuedCommit(pending, encoded, seen: commit.revision.rawValue), durable: durable)
        inDoubt = nil
        for (row, rank) in encoded.newRanks { places.ranks.set(row, rank) }
    }

    /// The former ranks of moved and removed items by key.
    private func formerRanks(_ changes: [ItemChange], _ commit: borrowing ItemCommit) -> NameTable<[UInt8]> {
        var former: NameTable<[UInt8]> = [:]
        commit.forEachEntry { entry in
            guard entry.kind == .move || entry.kind == .remove else { return }
            let key = commit.key(entry)
            if former[key] == nil { former[key] = places.ranks[commit.row(entry)] }
        }
        return former
    }

    // MARK: Sending

    package func settleDoubts() throws(StoreError) {
        guard let queue, !queue.waiting.isEmpty else { return }
        let connection = try server.connected()
        let found = try server.asking { () throws(PostgresError) in
            let rows = try connection.rowsFlushed(
                of: (
                    "select token, revision, lineage, record from cubby.log where token = any($1)",
                    [.uuids(queue.waiting.map(\.token))]
                ))
            var found: [[UInt8]: LoggedCommit] = [:]
            for row in 0..<rows.rowCount {
                let made = Lineage(revision: try rows.revision(row, 1), identifier: try rows.bytes(row, 2) ?? [])
                found[try rows.bytes(row, 0) ?? []] = logged(try rows.bytes(row, 3) ?? [], made)
            }
            return found
        }
        // First from the queue: a copy of the items must not have what still waits.
        try queue.end(Array(found.keys))
        for made in found.values {
            server.statistics.settledInDoubt += 1
            server.log.localRevisions.insert(made.revision)
            cache?.add(made)
        }
    }

    package func updatePendingCommits(_ commits: [PendingCommit]) { queue?.update(commits) }

    package func preparePendingCommits(atMost limit: Int) throws(StoreError) -> [[UInt8]] {
        guard let queue, let collection = server.collection else { throw Self.notLoaded }
        let batch = Array(queue.waiting.prefix(min(QueuedBatch.count(queue.waiting), limit)))
        let pictures = pictures(of: batch)
        if !pictures.isEmpty { try sendPictures(pictures, to: collection) }
        return batch.map(\.token)
    }

    package func sendPendingCommits(
        _ prepared: [[UInt8]], after revision: ItemRevision
    ) throws(StoreError) -> ItemRevision {
        guard let queue, let columns = places.columns else { throw Self.notLoaded }
        defer { release() }
        let tokens = Set(prepared)
        let waiting = queue.waiting.prefix { tokens.contains($0.token) }
        if waiting.isEmpty { return revision }
        let batch = QueuedBatch(Array(waiting), before: queue.waiting.dropFirst(waiting.count), in: places, columns)
        let encoded = try batch.encoded()
        let (connection, collection) = try server.reached()
        var rows: [PublishedCommit?] = []
        for commit in encoded { rows.append(try publishedRows(of: commit)) }
        let all = try server.askingAsPublished(encoded) { () throws(PostgresError) in
            var commands: [(sql: String, parameters: [PostgresValue])] = []
            for (index, commit) in batch.commits.enumerated() {
                let seen = revision.rawValue + UInt64(index)
                let sent = SentCommit(
                    token: commit.token, seen: seen, reads: .byteArrays([]), commit: encoded[index])
                commands.append(try call(sent, rows[index], collection))
            }
            var all: [Lineage] = []
            for rows in try connection.runAll(commands) {
                let (status, made) = try outcome(rows)
                guard status == 0, made.revision == revision.rawValue + UInt64(all.count) + 1 else {
                    throw PostgresError(.badAnswer, "a commit that waited got the status \(status)")
                }
                all.append(made)
            }
            try setPictures(pictures(of: batch.commits), of: collection, connection)
            try server.end(connection, commits: true)
            return all
        }
        server.statistics.commits += all.count
        for made in all { server.log.record(made) }
        server.log.announce(server.log.lineage.revision)
        // First from the queue: a copy of the items must not have what still waits.
        try queue.end(batch.commits.map(\.token))
        for (commit, made) in zip(encoded, all) { cache?.add(logged(commit.record, made)) }
        return ItemRevision(rawValue: server.log.lineage.revision)
    }

    private func logged(_ record: [UInt8], _ made: Lineage) -> LoggedCommit {
        LoggedCommit(
            revision: made.revision, host: server.host, hostName: hostName, lineage: made.identifier, record: record)
    }

    /// The row of an item by its key in the encoding of records.
    static func row(ofKey key: [UInt8], in columns: ColumnStore) -> UInt32? {
        key.withUnsafeBytes { try? RecordChange.key($0) }.flatMap { columns.row(ofKey: $0) }
    }

    // MARK: Settling

    package func quarantine(_ commits: [PendingCommit]) throws(StoreError) { try queue?.quarantine(commits) }

    package func endPendingCommits(_ commits: [PendingCommit]) throws(StoreError) {
        try queue?.end(commits.map(\.identifier))
    }
}
