package import ColumnEngine
import ItemArchive
package import PropertyList

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
        for commit in queue.waiting {
            do throws(StoreError) {
                // The items may be older or newer than those it was made on: then the user decides.
                guard commit.seen <= report.revision.rawValue, isSinceCache else { throw Self.notLoaded }
                try replay(commit.pending.changes.lazy.map(\.forward), loader)
            } catch {
                if opensReadOnly { continue }
                try queue.quarantine(commit.token, host: "", lost: [:])
            }
        }
        if !queue.waiting.isEmpty {
            report.notices.append(Self.counted(queue.waiting.count, "waits", "wait") + " for the server")
        }
        if !queue.conflicts.isEmpty {
            report.notices.append(
                Self.counted(queue.conflicts.count, "is", "are") + " to be settled: items:conflicts()")
        }
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
        commit.forEach { entry in
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
            let rows = try connection.run(
                "select token, revision, lineage from cubby.log where token = any($1)",
                [.uuids(queue.waiting.map(\.token))])
            var found: [[UInt8]: Lineage] = [:]
            for row in 0..<rows.rowCount {
                found[try rows.bytes(row, 0) ?? []] = Lineage(
                    revision: try rows.revision(row, 1), identifier: try rows.bytes(row, 2) ?? [])
            }
            return found
        }
        for commit in queue.waiting {
            guard let made = found[commit.token] else { continue }
            server.statistics.settledInDoubt += 1
            server.log.localRevisions.insert(made.revision)
            cache?.add(logged(commit, made))
        }
        try queue.end(Array(found.keys))
    }

    package func sendPendingCommits(after revision: ItemRevision) throws(StoreError) -> RemoteOutcome {
        guard let queue, let columns = places.columns else { throw Self.notLoaded }
        let waiting = queue.waiting
        guard !waiting.isEmpty else { return .committed(revision) }
        let pictures = pictures(of: waiting)
        defer { release() }
        // Uploaded before the collection is locked: pictures may take long.
        if !pictures.isEmpty, let collection = server.collection { try sendPictures(pictures, to: collection) }
        try hold()
        guard server.log.latest == revision.rawValue else { return .behind }
        let (connection, collection) = try server.reached()
        // Each item is sent with the last commit that changes it: all of them are one transaction of the server.
        var last: [[UInt8]: Int] = [:]
        for (index, commit) in waiting.enumerated() { for key in commit.keys { last[key] = index } }
        var all: [Lineage] = []
        try server.asking { () throws(PostgresError) in
            for (index, commit) in waiting.enumerated() {
                var encoded = EncodedCommit(removed: commit.removed, record: commit.record)
                encoded.claims = UniqueClaim.all(commit.pending.changes, columns)
                if let last = commit.pending.changes.last(where: { $0.change.kind == .declare }) {
                    let declared = try? FieldDeclarations(record: last.change.new)
                    encoded.declarations = EncodedCommit.record(of: declared ?? FieldDeclarations())
                }
                for key in commit.keys where last[key] == index {
                    guard let row = Self.row(ofKey: key, in: columns), let rank = places.ranks[row] else { continue }
                    var record = JournalEncoder(columns)
                    record.insertion(row, at: nil)
                    encoded.keys.append(key)
                    encoded.ranks.append(rank)
                    encoded.records.append(RecordChecksum.sealed(record.bytes, rank: rank))
                }
                let seen = revision.rawValue + UInt64(index)
                let sent = SentCommit(token: commit.token, seen: seen, reads: .byteArrays([]), commit: encoded)
                let (status, made) = try send(sent, collection, connection)
                guard status == 0, made.revision == seen + 1 else {
                    throw PostgresError(.badAnswer, "a commit that waited got the status \(status)")
                }
                all.append(made)
            }
            try setPictures(pictures, of: collection, connection)
            try server.end(connection, commits: true)
        }
        server.statistics.commits += waiting.count
        for (commit, made) in zip(waiting, all) {
            server.log.record(made)
            cache?.add(logged(commit, made))
        }
        server.log.announce(server.log.lineage.revision)
        try queue.end(waiting.map(\.token))
        return .committed(ItemRevision(rawValue: server.log.lineage.revision))
    }

    private func logged(_ commit: QueuedCommit, _ made: Lineage) -> LoggedCommit {
        LoggedCommit(
            revision: made.revision, host: server.host, hostName: hostName, lineage: made.identifier,
            record: commit.record)
    }

    /// The row of an item by its key in the encoding of records.
    static func row(ofKey key: [UInt8], in columns: ColumnStore) -> UInt32? {
        guard var text = key.withUnsafeBytes({ try? RecordChange.key($0) }) else { return nil }
        return text.withUTF8 { columns.row(forKey: $0) }
    }

    // MARK: Settling

    package func quarantine(
        _ commit: PendingCommit, host: String, lost: [String: PropertyListFields]
    ) throws(StoreError) {
        try queue?.quarantine(commit.identifier, host: host, lost: lost)
    }

    package func endPendingCommits(_ commits: [PendingCommit]) throws(StoreError) {
        try queue?.end(commits.map(\.identifier))
    }
}
