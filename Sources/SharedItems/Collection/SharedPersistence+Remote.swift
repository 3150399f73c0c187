public import ColumnEngine
import ItemArchive
import PropertyList

/// Commits of the other hosts.
extension SharedPersistence {
    public func mayHaveCommits(after revision: ItemRevision) -> Bool {
        stopped == nil
            && (latest > revision.rawValue || inDoubt != nil || (isLoaded && !isConnected && !keepsCommits))
    }

    /// Receives the server's notifications. Call it when the socket is readable; it does nothing while an answer is
    /// pending.
    ///
    /// - Throws: `StoreError` with `disconnected`.
    public func receive() throws(StoreError) {
        guard let connection, !isAsking else { return }
        let texts = try asking { () throws(PostgresError) in try connection.takeNotifications() }
        for text in texts { latest = max(latest, announcements.note(text) ?? 0) }
    }

    /// Queries the server for its latest revision: a notification can be lost. Does nothing while an answer is pending.
    ///
    /// - Throws: `StoreError` with `disconnected`.
    public func poll() throws(StoreError) {
        if isAsking { return }
        let connection = try connected()
        guard let collection else { throw Self.notLoaded }
        let head = try asking { () throws(PostgresError) in
            try connection.run(
                "select head from cubby.collection where id = $1", [.int4(collection.number)], isPrepared: true
            ).revision(0, 0)
        }
        latest = max(latest, head)
    }

    public func takeCommits(after revision: ItemRevision) throws(StoreError) -> [RemoteCommit] {
        ownRevisions = ownRevisions.filter { $0 > revision.rawValue }
        var logged = isConnected ? announcements.take(after: revision.rawValue, upTo: latest) : nil
        let isAnnounced = logged?.allSatisfy { hostNames[$0.host] != nil } == true
        if !isAnnounced { logged = try askLog(after: revision.rawValue) }
        var commits: [RemoteCommit] = []
        for commit in logged ?? [] {
            var changes: [RemoteChange] = []
            if !ownRevisions.contains(commit.revision) {
                do throws(StoreError) {
                    changes = try commit.record.withBytes { (bytes) throws(StoreError) in
                        try Self.remoteChanges(try RecordChange.changes(of: try RecordChecksum.opened(bytes)))
                    }
                } catch {
                    // The commits before it are intact, and are applied first.
                    if !commits.isEmpty { break }
                    throw damaged(commit.revision, error)
                }
                statistics.remoteCommits += 1
                if isAnnounced { statistics.announcedCommits += 1 }
            }
            cache?.add(commit)
            note(Lineage(revision: commit.revision, identifier: commit.lineage))
            commits.append(
                RemoteCommit(
                    revision: ItemRevision(rawValue: commit.revision), host: hostNames[commit.host] ?? "",
                    changes: changes))
        }
        return commits
    }

    /// The next commits of the log.
    private func askLog(after revision: UInt64) throws(StoreError) -> [LoggedCommit] {
        let connection = try connected()
        guard let collection else { throw Self.notLoaded }
        let commits = try asking { () throws(PostgresError) in
            let rows = try connection.run(
                "select l.revision, l.record, l.host, coalesce(h.name, ''), l.lineage from cubby.log l "
                    + "left join cubby.host h on h.collection = l.collection and h.id = l.host "
                    + "where l.collection = $1 and l.revision > $2 order by l.revision limit 1000",
                [.int4(collection.number), .int8(Int64(clamping: revision))], isPrepared: true)
            var commits: [LoggedCommit] = []
            for row in 0..<rows.rowCount {
                let host = try rows.bytes(row, 2) ?? []
                guard host.count == 16 else { throw PostgresResult.badAnswer("a host without an identifier") }
                hostNames[host] = try rows.text(row, 3)
                commits.append(
                    LoggedCommit(
                        revision: try rows.revision(row, 0), host: host, hostName: hostNames[host] ?? "",
                        lineage: try rows.bytes(row, 4) ?? [],
                        record: try rows.bytes(row, 1) ?? []))
            }
            return commits
        }
        for (number, commit) in zip((revision + 1)..., commits) where number != commit.revision {
            throw missing(number)
        }
        if commits.isEmpty, latest > revision { throw missing(revision + 1) }
        return commits
    }

    private func missing(_ revision: UInt64) -> StoreError {
        let reason = StoreError(
            .inputOutput,
            "revision \(revision) is missing in the collection's log: start again to synchronise anew")
        stop(reason)
        return reason
    }

    private func damaged(_ revision: UInt64, _ error: StoreError) -> StoreError {
        let reason = StoreError(
            .corruptJournal,
            "revision \(revision) of the collection's log is damaged (\(error.message)): start again to synchronise anew",
            cause: error)
        stop(reason)
        return reason
    }

    /// The changes in the form for stores; a new item's rank is part of its insertion.
    static func remoteChanges(_ changes: [RecordChange]) throws(StoreError) -> [RemoteChange] {
        var ranks: NameTable<[UInt8]> = [:]
        for case .rank(let key, let rank) in changes { ranks[key] = rank }
        var inserted: NameSet = []
        var result: [RemoteChange] = []
        for change in changes {
            switch change {
            case .insert(let key, let values, _):
                inserted.insert(key)
                guard let rank = ranks[key] else {
                    throw StoreError(.corruptJournal, "the item \(key) came without a rank")
                }
                result.append(RemoteChange(.insert(values), rank: rank))
            case .remove(let key): result.append(RemoteChange(.remove(key)))
            case .set(let key, let field, let value): result.append(RemoteChange(.update(key, field, to: value)))
            case .rank(let key, let rank):
                if !inserted.contains(key) { result.append(RemoteChange(.move(key, to: 0), rank: rank)) }
            // The log has ranks instead of positions.
            case .move: continue
            }
        }
        return result
    }

    // MARK: Places

    public func placed(_ change: RemoteChange, among unranked: Set<UInt32>) -> ItemChange {
        guard let columns, change.change.kind == .insert || change.change.kind == .move else { return change.change }
        var placed = change.change
        var position = position(of: change.rank, placed.itemKey, in: columns, unranked)
        if placed.kind == .move {
            var key = placed.itemKey
            if let row = key.withUTF8({ columns.row(forKey: $0) }), columns.position(of: row) < position {
                position -= 1
            }
        }
        placed.position = position
        return placed
    }

    public func didApply(_ change: RemoteChange) {
        guard let columns, change.change.kind == .insert || change.change.kind == .move else { return }
        var key = change.change.itemKey
        if let row = key.withUTF8({ columns.row(forKey: $0) }) { ranks.set(row, change.rank) }
    }

    public func precedes(_ row: UInt32, _ other: UInt32) -> Bool {
        guard let columns, let rank = ranks[other] else { return true }
        let order = ranks.compare(row, rank)
        return order != 0 ? order < 0 : columns.keyString(row) < columns.keyString(other)
    }

    /// The number of items before a rank. O(log n).
    private func position(
        of rank: [UInt8], _ key: String, in columns: ColumnStore, _ unranked: Set<UInt32>
    ) -> Int {
        var (low, high) = (0, columns.count)
        while low < high {
            let middle = (low + high) / 2
            var probe = middle
            while !unranked.isEmpty, probe < high, unranked.contains(columns.row(at: probe)) { probe += 1 }
            guard probe < high else {
                high = middle
                continue
            }
            let row = columns.row(at: probe)
            let order = ranks.compare(row, rank)
            if order < 0 || (order == 0 && columns.keyString(row) < key) { low = probe + 1 } else { high = middle }
        }
        return low
    }
}
