import ColumnEngine

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
        defer { tellCommits() }
        try commit(.change)
        if isWatched { keepLatestCommit() }
        do throws(StoreError) {
            for change in changes { try columns.perform(change) }
            if revision == nil, columns.hasChanges { try appendLog(durable: durability == .power) }
        } catch {
            rollBack(to: 0, tells: false)
            throw didTakeBack(after: error)
        }
        if let revision { self.revision = revision }
        guard columns.hasChanges else { return }
        hasCommittedChanges = document != nil
        noteCommit(cause)
        // The commit may be read later: copy the values that are about to be freed.
        if isWatched { keepLatestCommit() }
        var applied: [Change] = []
        _ = columns.takeGroups { applied += $0 }
        endApplying(applied)
    }

    /// Ends the application; changes of others are not a step of the history.
    func endApplying(_ applied: [Change]) {
        foreignChanges.note(applied)
        if let attachments {
            // Not retained: no step of this store restores these files.
            _ = attachments.setAside(attachments.namesLeft(by: applied))
            if durability == .power { attachments.synchronize() }
        }
        for change in applied where change.kind == .set {
            columns.discard(change.cell, of: ItemField(rawValue: change.field))
        }
        pruneForeignChanges()
        tidy()
        if bulkDepth > 0 {
            bulkChanges.add(applied)
        } else if !observers.isEmpty {
            tellMany(ItemStoreChanges(.bulkChange, applied))
        }
    }

    private func pruneForeignChanges() {
        let oldest = [undoStack.oldestEpoch, redoStack.oldestEpoch].compactMap { $0 }.min()
        for row in foreignChanges.prune(oldest) where columns.isRemoved(row) { columns.rowDied(row) }
    }

    // MARK: Steps that are no longer the store's own

    /// Drops a step that cannot be undone; neither can earlier steps on the same fields.
    func drop(_ group: ChangeGroup) {
        for change in group.changes where change.kind == .set {
            columns.discard(change.cell, of: ItemField(rawValue: change.field))
        }
        foreignChanges.note(group.changes.filter { $0.kind != .remove || columns.isRemoved($0.row) })
        pruneForeignChanges()
    }

    /// Returns an error if a step cannot be undone because of changes from elsewhere.
    func conflict(with group: ChangeGroup) -> StoreError? {
        if group.epoch == foreignChanges.epoch { return nil }
        // The state of rows that the step itself restores or removes.
        var isLive: [UInt32: Bool] = [:]
        func live(_ row: UInt32) -> Bool { isLive[row] ?? (columns.isLive(row)) }
        for change in group.changes.reversed() {
            switch change.kind {
            case .append, .insert:
                for row in change.row..<change.row + UInt32(change.kind == .append ? change.count : 1) {
                    guard live(row), !foreignChanges.changedAnyField(of: row, since: group.epoch) else {
                        return conflict(about: row, "a field")
                    }
                    isLive[row] = false
                }
            case .remove:
                let other = columns.holder(ofKeyOf: change.row, columns.keyHash(change.row))
                let isOut = isLive[change.row].map { !$0 } ?? (columns.isRemoved(change.row))
                guard isOut, other.map({ !live($0) }) ?? true else { return conflict(about: change.row, "the key") }
                isLive[change.row] = true
            case .set:
                guard live(change.row), !foreignChanges.changed(change.field, of: change.row, since: group.epoch) else {
                    return conflict(about: change.row, columns.shownName(of: ItemField(rawValue: change.field)))
                }
            case .move:
                guard live(change.row), !foreignChanges.moved(change.row, since: group.epoch) else {
                    return conflict(about: change.row, "its position")
                }
            }
        }
        return nil
    }

    private func conflict(about row: UInt32, _ what: String) -> StoreError {
        let name = CellHeap.string(columns.cell(row, .name))
        return StoreError(
            .conflict,
            "the step is not taken back: \(what) of the item \(columns.keyString(row)), \(name), was changed elsewhere "
                + "since; the step is given up, and the next undo is of the one before")
    }
}
