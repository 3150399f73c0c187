public import ColumnEngine
import ItemArchive
import PropertyList

/// The commits of the other hosts.
extension SharedPersistence {
    public func mayHaveCommits(after revision: ItemRevision) -> Bool {
        latest > revision.rawValue || inDoubt != nil || (collection != nil && !isConnected)
    }

    /// Takes what the server said by itself. Call it when the socket is readable.
    ///
    /// - Throws: `StoreError` with `disconnected`.
    public func receive() throws(StoreError) {
        guard let connection else { return }
        let texts = try asking { () throws(PostgresError) in try connection.takeNotifications() }
        for text in texts { note(text) }
    }

    /// Asks the server for its latest revision: a notification can be lost.
    ///
    /// - Throws: `StoreError` with `disconnected`.
    public func poll() throws(StoreError) {
        let connection = try connected()
        guard let collection else { throw Self.notLoaded }
        let head = try asking { () throws(PostgresError) in
            try connection.run(
                "select head from cubby.collection where id = $1", [.int4(collection.number)], isPrepared: true
            ).number(0, 0)
        }
        latest = max(latest, UInt64(bitPattern: head))
    }

    /// Reads a notification: the revision, the host, and a small record in hexadecimal.
    private func note(_ text: String) {
        guard let first = text.split(separator: " ").first, let revision = UInt64(first) else { return }
        latest = max(latest, revision)
    }

    public func takeCommits(after revision: ItemRevision) throws(StoreError) -> [RemoteCommit] {
        ownRevisions = ownRevisions.filter { $0 > revision.rawValue }
        let connection = try connected()
        guard let collection else { throw Self.notLoaded }
        let rows = try asking { () throws(PostgresError) in
            try connection.run(
                "select l.revision, l.record, coalesce(h.name, ''), l.host from cubby.log l "
                    + "left join cubby.host h on h.collection = l.collection and h.id = l.host "
                    + "where l.collection = $1 and l.revision > $2 order by l.revision",
                [.int4(collection.number), .int8(Int64(bitPattern: revision.rawValue))], isPrepared: true)
        }
        var commits: [RemoteCommit] = []
        var expected = revision.rawValue
        for row in 0..<rows.rowCount {
            let number = UInt64(bitPattern: try asking { () throws(PostgresError) in try rows.number(row, 0) })
            expected += 1
            guard number == expected else {
                throw StoreError(
                    .disconnected,
                    "revision \(expected) is missing in the collection's log: start again to synchronise anew")
            }
            let host = try asking { () throws(PostgresError) in try rows.text(row, 2) }
            var changes: [RemoteChange] = []
            if !ownRevisions.contains(number) {
                let record = try asking { () throws(PostgresError) in try rows.bytes(row, 1) } ?? []
                changes = try record.withBytes { (bytes) throws(StoreError) in
                    Self.remoteChanges(try SharedChange.changes(of: bytes))
                }
                statistics.remoteCommits += 1
            }
            commits.append(RemoteCommit(revision: ItemRevision(rawValue: number), host: host, changes: changes))
        }
        latest = max(latest, expected)
        return commits
    }

    /// The changes as stores know them; the rank of a new item goes with its insertion.
    private static func remoteChanges(_ changes: [SharedChange]) -> [RemoteChange] {
        var ranks: [String: [UInt8]] = [:]
        for case .rank(let key, let rank) in changes { ranks[key] = rank }
        var inserted: Set<String> = []
        return changes.compactMap { change in
            switch change {
            case .insert(let key, let values):
                inserted.insert(key)
                return RemoteChange(.insert(values), rank: ranks[key] ?? [])
            case .remove(let key): return RemoteChange(.remove(key))
            case .set(let key, let field, let value): return RemoteChange(.update(key, field, to: value))
            case .rank(let key, let rank):
                return inserted.contains(key) ? nil : RemoteChange(.move(key, to: 0), rank: rank)
            }
        }
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

    /// How many items stand before a rank. O(log n).
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
