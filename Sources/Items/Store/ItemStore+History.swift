import ColumnEngine

extension ItemStore {
    /// Which stack a commit's changes go to.
    enum CommitKind {
        case change, undo, redo
    }

    public var canUndo: Bool { !undoStack.isEmpty || columns.hasChanges || !participantChanges.isEmpty }
    public var canRedo: Bool { !redoStack.isEmpty && !columns.hasChanges && participantChanges.isEmpty }

    /// Tells of a change of the participant's that is no item's, and can be taken back: it is part of the next commit's
    /// step, or a step of its own.
    public func noteParticipantChange(_ number: UInt32) {
        if participant?.isRepeated(number) == true {
            participant?.forgetChange(number)
        } else {
            participantChanges.append(number)
        }
    }

    /// Takes back the last commit or transaction; what is not committed yet is committed first and is then the last.
    ///
    /// - Returns: false when there is nothing to take back.
    /// - Throws: `transactionInProgress`, `inputOutput`; `conflict` when another user of the collection has changed the same
    ///   since: the step is given up then, as a whole.
    @discardableResult
    public func undo() throws(StoreError) -> Bool {
        try checkNoTransaction("undo")
        defer { tellCommits() }
        try commit(.change)
        guard let group = undoStack.popLast() else { return false }
        if let conflict = conflict(with: group) {
            drop(group)
            throw conflict
        }
        do throws(StoreError) {
            try reverse(group, .undo)
        } catch {
            undoStack.append(group)
            throw error
        }
        return true
    }

    /// Does again what `undo` took back last. A change in between forgets it.
    ///
    /// - Returns: false when there is nothing to do again.
    /// - Throws: as ``undo()``.
    @discardableResult
    public func redo() throws(StoreError) -> Bool {
        try checkNoTransaction("redo")
        defer { tellCommits() }
        try commit(.change)
        guard let group = redoStack.popLast() else { return false }
        if let conflict = conflict(with: group) {
            drop(group)
            throw conflict
        }
        do throws(StoreError) {
            try reverse(group, .redo)
        } catch {
            redoStack.append(group)
            throw error
        }
        return true
    }

    func checkNoTransaction(_ verb: String) throws(StoreError) {
        if isInTransaction {
            throw StoreError(
                .transactionInProgress, "\(verb) is not possible within a transaction: end it or let it fail first")
        }
    }

    /// Does the inverse of each change, newest first, as changes of their own, and commits them.
    private func reverse(_ group: ChangeGroup, _ kind: CommitKind) throws(StoreError) {
        if isReadOnly { throw .storeIsReadOnly }
        if isWatched { keepLatestCommit() }
        for change in group.changes.reversed() {
            switch change.kind {
            case .append:
                for offset in stride(from: change.count - 1, through: 0, by: -1) {
                    columns.takeOut(change.row + UInt32(offset))
                }
            case .insert: columns.takeOut(change.row)
            case .remove: columns.insert(change.row, at: min(Int(change.position), count))
            case .set: columns.change(change.row, ItemField(rawValue: change.field), to: change.cell)
            case .move:
                // Changes from elsewhere may have shifted it.
                let (from, to) = (columns.position(of: change.row), min(Int(change.position), count - 1))
                if from != to { columns.move(from: from, to: to) }
            }
        }
        let done = columns.changeCount
        participantChanges = group.participantChanges.reversed()
        let reversed = participantChanges
        do throws(StoreError) {
            _ = try write(kind)
        } catch {
            // What could not be committed has not happened. The rows stay in the history: nothing of it was forgotten.
            participantChanges = []
            columns.takeBack(done)
            throw error
        }
        for number in reversed { participant?.reverseChange(number) }
        settle(kind)
        if !observers.isEmpty {
            tellMany(ItemStoreChanges(kind == .undo ? .undo : .redo, group.changes).inverted)
        }
    }

    // MARK: Keeping the history

    /// Moves the log's groups to the stack that they belong to.
    func remember(_ kind: CommitKind) {
        var groups: [ChangeGroup] = []
        let hasRemovals = columns.takeGroups { groups.append(ChangeGroup(changes: $0, epoch: foreignChanges.epoch)) }
        unsettled.groups += groups.count
        unsettled.hasRemovals = unsettled.hasRemovals || hasRemovals
        participant?.endStep()
        if !participantChanges.isEmpty {
            groups[0].participantChanges = participantChanges
            participantChanges = []
        }
        switch kind {
        case .change:
            for group in redoStack.takeAll() { forget(group) }
            for group in groups { undoStack.append(group) }
        case .redo: for group in groups { undoStack.append(group) }
        case .undo: for group in groups { redoStack.append(group) }
        }
    }

    /// Ends a commit, when it is known what the participant changed with it: what belongs to items that left goes with them,
    /// and the history is cut to its limits.
    ///
    /// - Parameters:
    ///   - kind: the commit's.
    ///   - waits: whether ``durability`` counts now, and not at the end of a group.
    func settle(_ kind: CommitKind, waits: Bool = true) {
        defer { if waits, durability == .power { participant?.synchronize() } }
        guard unsettled.groups > 0 else { return }
        let (count, hasRemovals) = unsettled
        unsettled = (0, false)
        if let participant {
            if kind == .undo {
                redoStack.changeNewest(count) { settle(&$0, participant, hasRemovals) }
            } else {
                undoStack.changeNewest(count) { settle(&$0, participant, hasRemovals) }
            }
        }
        trim(count)
        tidy()
    }

    /// Gives back memory that the changes of a commit left unused.
    func tidy() {
        columns.settleIndexes()
        guard columns.needsCompaction, !columns.isPinned, !columns.hasSnapshot else { return }
        compactHeap()
    }

    /// Copies every text and boxed value that is still known into a new heap.
    func compactHeap() {
        if isWatched { keepLatestCommit() }
        columns.compactHeap { adopt in
            undoStack.changeNewest(undoStack.count) { adopt(&$0.changes) }
            redoStack.changeNewest(redoStack.count) { adopt(&$0.changes) }
        }
    }

    private func settle(_ group: inout ChangeGroup, _ participant: any TransactionParticipant, _ hasRemovals: Bool) {
        if hasRemovals {
            var keys: Set<String> = []
            for change in group.changes where change.kind == .remove && columns.isRemoved(change.row) {
                keys.insert(columns.keyString(change.row))
            }
            if !keys.isEmpty { group.participantChanges += participant.removeContents(ofItems: keys) }
        }
        if group.participantChanges.isEmpty { return }
        group.keptBytes = group.participantChanges.reduce(0) { $0 + participant.byteCount(ofChange: $1) }
    }

    /// Drops the groups beyond the limits; the newest groups are those of the commit that is being made.
    private func trim(_ newest: Int) {
        while let group = undoStack.popExcess(history) {
            if undoStack.count < newest, isWatched { keepLatestCommit() }
            forget(group)
        }
    }

    /// Lets go of what only this group held: removed rows, and old values.
    func forget(_ group: ChangeGroup) {
        for number in group.participantChanges { participant?.forgetChange(number) }
        for change in group.changes {
            switch change.kind {
            case .set: columns.discard(change.cell, of: ItemField(rawValue: change.field))
            case .remove where columns.isRemoved(change.row): columns.rowDied(change.row)
            default: break
            }
        }
    }
}
