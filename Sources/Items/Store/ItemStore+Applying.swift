import ColumnEngine

/// Changes that come from elsewhere: from another user of the collection.
extension ItemStore {
    /// Does changes that were made elsewhere, all of them or, if it throws, none.
    ///
    /// Observers are told of one bulk change and asked nothing; commit observers of one commit with the cause. What the store
    /// has changed and not committed is committed before. The changes are no step for `undo`: a local step whose fields,
    /// items or places they changed can no longer be taken back, which `undo` then tells by `conflict`.
    ///
    /// - Parameters:
    ///   - changes: in order; positions are those at each one's turn.
    ///   - cause: what commit observers are told.
    ///   - revision: the collection's with the changes, when the persistence has them already; they are not handed to it
    ///     then. If nil, they are handed over as one commit.
    /// - Throws: `StoreError`: `transactionInProgress` within a transaction, a dry run or an observer that is asked: apply
    ///   them when it has ended; `itemRemoved` for an item that is not there, `duplicateKey`, `positionOutOfRange`,
    ///   `invalidValue`, `full`; `readOnly` without a revision; what ``commit()`` throws.
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
        // Who reads the commit later finds the values that go now.
        if isWatched { keepLatestCommit() }
        var applied: [Change] = []
        _ = columns.takeGroups { applied += $0 }
        endApplying(applied)
    }

    /// The changes of others are no step of the history.
    func endApplying(_ applied: [Change]) {
        foreignChanges.note(applied)
        if let attachments {
            // Nobody keeps what leaves: no step of this store brings it back.
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

    /// Gives up a step that cannot be taken back; what lies below it in the same fields cannot be, either.
    func drop(_ group: ChangeGroup) {
        for change in group.changes where change.kind == .set {
            columns.discard(change.cell, of: ItemField(rawValue: change.field))
        }
        foreignChanges.note(group.changes.filter { $0.kind != .remove || columns.isRemoved($0.row) })
        pruneForeignChanges()
    }

    /// Why a step cannot be taken back: something that it changed was changed from elsewhere since.
    func conflict(with group: ChangeGroup) -> StoreError? {
        if group.epoch == foreignChanges.epoch { return nil }
        // Of the rows that the step itself brings back or takes out.
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
