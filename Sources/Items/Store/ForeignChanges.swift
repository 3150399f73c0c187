import ColumnEngine
import DequeModule
import PropertyList

/// The changes from elsewhere since the oldest step that can still be undone: a step can only be undone if none of its
/// fields, items or places was changed since.
///
/// Grows with applied changes while there is a history, and shrinks with the history.
struct ForeignChanges {
    private static let position = UInt32.max
    private static let anyField = UInt32.max - 1
    /// Minimum number of places before obsolete ones are removed.
    private static let fewPlaces = 1024

    /// The number of change sets so far. A step has the epoch at which it was made.
    private(set) var epoch: UInt64 = 0
    private var places: [ChangedField: UInt64] = [:]
    private var prunedAt = fewPlaces
    /// The epoch of the last declaration of fields.
    private var declared: UInt64 = 0
    /// Rows of removed items, oldest first: their numbers are not reused while a step may refer to them.
    private var removedRows: Deque<(row: UInt32, epoch: UInt64)> = []

    /// Records changes from elsewhere, or those of a step that can no longer be undone.
    mutating func record(_ changes: [Change]) {
        epoch += 1
        for change in changes {
            switch change.kind {
            case .append, .insert: break
            case .remove: removedRows.append((change.row, epoch))
            case .set:
                places[change.changedField] = epoch
                places[ChangedField(row: change.row, field: Self.anyField)] = epoch
            case .move: places[ChangedField(row: change.row, field: Self.position)] = epoch
            case .declare: declared = epoch
            }
        }
    }

    func changed(_ field: UInt32, of row: UInt32, since epoch: UInt64) -> Bool {
        places[ChangedField(row: row, field: field)] ?? 0 > epoch
    }

    func changedAnyField(of row: UInt32, since epoch: UInt64) -> Bool { changed(Self.anyField, of: row, since: epoch) }

    /// Whether fields were declared.
    func declaredFields(since epoch: UInt64) -> Bool { declared > epoch }

    func moved(_ row: UInt32, since epoch: UInt64) -> Bool { changed(Self.position, of: row, since: epoch) }

    /// Forgets the places that no step refers to.
    ///
    /// - Parameter oldest: the epoch of the oldest step; nil when there is none.
    /// - Returns: the rows that no step refers to any more.
    mutating func prune(_ oldest: UInt64?) -> [UInt32] {
        guard let oldest else {
            places = [:]
            defer { removedRows = [] }
            return removedRows.map(\.row)
        }
        var rows: [UInt32] = []
        while let first = removedRows.first, first.epoch <= oldest {
            rows.append(first.row)
            removedRows.removeFirst()
        }
        if places.count > prunedAt {
            places = places.filter { $0.value > oldest }
            prunedAt = max(Self.fewPlaces, places.count * 2)
        }
        return rows
    }
}

/// A field of a row, set by a change.
struct ChangedField: Hashable {
    var row: UInt32
    var field: UInt32
}

extension Change {
    /// The field of a `set`.
    var changedField: ChangedField { ChangedField(row: row, field: field) }
}

/// Applies changes by another user of the collection.
extension ItemStore {
    /// Applies changes that were made elsewhere, all or none.
    ///
    /// Observers are notified of one bulk change and cannot refuse it; commit observers of one commit with the cause.
    /// The store's uncommitted changes are committed first. The changes are not a step of `undo`: a local step whose
    /// fields, items or places they changed can no longer be undone; `undo` then throws `conflict`.
    ///
    /// - Parameters:
    ///   - changes: in order; each position is the one at the time of its change.
    ///   - cause: the cause for commit observers.
    ///   - revision: the collection's revision with the changes, if the persistence already has them. If nil, they are
    ///     passed to the persistence as one commit.
    /// - Throws: `StoreError`: `transactionInProgress` within a transaction, a dry run or an observer that may refuse:
    ///   apply them afterwards; `itemRemoved` for a missing item, `duplicateKey`, `positionOutOfRange`, `invalidValue`,
    ///   `full`; `readOnly` without a revision; errors of ``commit()``.
    public func apply(
        _ changes: some Sequence<ItemChange>, cause: ItemStoreCommit.Cause = .remote, revision: ItemRevision? = nil
    ) throws(StoreError) {
        try checkNoTransaction("applying changes")
        if isReadOnly, revision == nil { throw readOnlyError }
        defer { publishCommits() }
        try commit(.change)
        keepCommitBeforeChange()
        do throws(StoreError) {
            for change in changes { try columns.perform(change) }
            if revision == nil, columns.hasChanges { try appendLog(durable: durability == .power) }
        } catch {
            rollBack(to: 0, publishes: false)
            throw didTakeBack(after: error)
        }
        if let revision { replica.revision = revision }
        guard columns.hasChanges else { return }
        document.didCommit()
        recordCommit(cause, columns.changes)
        // The commit may be read later: copy the values that are about to be freed.
        keepCommitBeforeChange()
        var applied: [Change] = []
        _ = columns.takeGroups { applied += $0 }
        endApplying(applied)
    }

    /// Ends the application; remote changes are not a step of the history.
    func endApplying(_ applied: [Change]) {
        changeHistory.recordForeign(applied)
        if let attachments {
            // Not retained: no step of this store restores these files.
            _ = attachments.retire(attachments.namesLeft(by: applied))
            if durability == .power { attachments.synchronize() }
        }
        columns.discardOldValues(of: applied)
        pruneForeignChanges()
        tidy()
        if !publisher.collect({ $0.add(applied) }), !publisher.observers.isEmpty {
            publishMany(ItemStoreChanges(.bulkChange, applied))
        }
    }
}

/// Follows the owner of a read-only store, another process.
extension ItemStore {
    /// Applies the new commits of the owner, each as one bulk change with the cause `remote`. Does nothing in a store
    /// that this process owns, and within a transaction. Without new commits it takes microseconds.
    ///
    /// - Throws: `StoreError`: `inputOutput`, `corruptJournal`, `corruptArchive`; the items are then unchanged.
    package func followOwner() throws(StoreError) {
        guard isReadOnly, !isInTransaction, let owner = replica.persistence as? any FollowingPersistence else { return }
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
        let latest = try ItemStore.open(other, schema: schema)
        for commit in try other.takeOwnersCommits() ?? [] {
            try latest.apply(commit.changes, cause: .remote, revision: commit.revision)
        }
        try apply(changes(to: latest), cause: .remote, revision: latest.revision)
        owner.resume(from: other)
    }

    /// The changes that turn this store's items into those of another.
    private func changes(to latest: ItemStore) -> [ItemChange] {
        var changes: [ItemChange] = []
        if columns.declarations != latest.columns.declarations {
            changes.append(.declare(latest.columns.declarations))
        }
        var keys: [String] = []
        for position in 0..<columns.count {
            let key = columns.keyString(columns.row(at: position))
            if latest.columns.row(ofKey: key) == nil { changes.append(.remove(key)) } else { keys.append(key) }
        }
        var isHere = NameSet(keys)
        for position in 0..<latest.columns.count {
            let row = latest.columns.row(at: position)
            let key = latest.columns.keyString(row)
            let values = latest.columns.storedValues(of: row)
            if isHere.insert(key).inserted {
                changes.append(.insert(values, at: position))
                keys.insert(key, at: position)
                continue
            }
            let old = columns.row(ofKey: key).map(columns.storedValues(of:)) ?? [:]
            changes += ItemChange.updates(key, from: old, to: values)
            if keys[position] != key, let former = keys[position...].firstIndex(of: key) {
                changes.append(.move(key, to: position))
                keys.insert(keys.remove(at: former), at: position)
            }
        }
        return changes
    }
}
