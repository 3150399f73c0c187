import ColumnEngine
import PropertyList

/// Follows the owner of a read-only store, another process.
extension ItemStore {
    /// Applies the new commits of the owner, each as one bulk change with the cause `remote`. Does nothing in a store
    /// that this process owns, and within a transaction. Without new commits it takes microseconds.
    ///
    /// - Throws: `StoreError`: `inputOutput`, `corruptJournal`, `corruptArchive`; the items are then unchanged.
    package func followOwner() throws(StoreError) {
        guard isReadOnly, !isInTransaction, let owner = persistence as? any FollowingPersistence else { return }
        guard let commits = try? owner.takeOwnersCommits() else { return try catchUp(with: owner) }
        do throws(StoreError) {
            for commit in commits { try apply(commit.changes, cause: .remote, revision: commit.revision) }
        } catch {
            try catchUp(with: owner)
        }
    }

    /// Reads all items again, and applies the differences.
    private func catchUp(with owner: any FollowingPersistence) throws(StoreError) {
        let other = owner.reopened()
        let latest = try ItemStore.open(other)
        for commit in try other.takeOwnersCommits() ?? [] {
            try latest.apply(commit.changes, cause: .remote, revision: commit.revision)
        }
        try apply(changes(to: latest), cause: .remote, revision: latest.revision)
        owner.goOn(from: other)
    }

    /// The changes that turn this store's items into those of another.
    private func changes(to latest: ItemStore) -> [ItemChange] {
        var changes: [ItemChange] = []
        var keys: [String] = []
        for position in 0..<columns.count {
            let key = columns.keyString(columns.row(at: position))
            if Self.row(of: key, in: latest.columns) == nil { changes.append(.remove(key)) } else { keys.append(key) }
        }
        var isHere = Set(keys)
        for position in 0..<latest.columns.count {
            let row = latest.columns.row(at: position)
            let key = latest.columns.keyString(row)
            let values = latest.keptValues(of: row)
            if isHere.insert(key).inserted {
                changes.append(.insert(values, at: position))
                keys.insert(key, at: position)
                continue
            }
            let old = Self.row(of: key, in: columns).map { keptValues(of: $0) } ?? [:]
            for field in old.merging(values, uniquingKeysWith: { $1 }).keys.sorted() where old[field] != values[field] {
                changes.append(.update(key, field, to: values[field]))
            }
            if keys[position] != key, let former = keys[position...].firstIndex(of: key) {
                changes.append(.move(key, to: position))
                keys.insert(keys.remove(at: former), at: position)
            }
        }
        return changes
    }

    private static func row(of key: String, in columns: ColumnStore) -> UInt32? {
        var key = key
        return key.withUTF8 { columns.row(forKey: $0) }
    }
}
