import ColumnEngine

extension ItemStore {
    /// Whether a transaction or a dry run is under way.
    public var isInTransaction: Bool { columns.depth > 0 }

    /// Runs a body whose changes all happen or none: an error that it throws rolls back its changes, order and
    /// removed items included, and is thrown again. Transactions nest as savepoints. The end of the outermost one is
    /// a commit; if that fails, the changes are rolled back as well.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        // A server is sent a transaction alone: what came before has other rules when others were ahead.
        if let remote, !isInTransaction {
            try commit()
            // What this host committed behind others would pass for a change of theirs.
            if remote.isConnected { try applyRemoteCommits() }
        }
        beginTransaction()
        let result: Result
        do {
            result = try body()
        } catch {
            rollBackSavepoint()
            throw error
        }
        try endTransaction()
        return result
    }

    /// Begins a transaction, or a savepoint within one. What changed before becomes a step of its own for `undo`.
    public func beginTransaction() {
        if columns.depth == 0 {
            if !columns.hasChanges, !attachmentStep.isEmpty {
                remember(.change)
                settle(.change)
            }
            seal()
            if remote != nil, !isSnapshotIsolated { columns.beginReads() }
        }
        openSavepoint()
    }

    /// Ends the innermost transaction, and commits the outermost.
    ///
    /// - Throws: `noTransaction`; what ``commit()`` throws, after rolling back.
    public func endTransaction() throws(StoreError) {
        guard let start = columns.savepoint else { throw Self.noTransaction }
        guard columns.depth == 1, !isSendingCommit else { return closeSavepoint() }
        do throws(StoreError) {
            try attachments?.prepareToCommit()
        } catch {
            rollBackSavepoint()
            throw error
        }
        let reads = remote == nil || isSnapshotIsolated ? nil : columns.takeReads()
        columns.closeSavepoint()
        let isStep: Bool
        do throws(StoreError) {
            isStep = try write(.change, reads: reads)
        } catch {
            columns.unseal(behind: start)
            rollBack(to: start)
            attachments?.rollBackSavepoint()
            throw didTakeBack(after: error)
        }
        let changes = attachments?.closeSavepoint() ?? []
        if isStep, !undoStack.isEmpty {
            if !changes.isEmpty { undoStack.changeNewest(1) { $0.attachments += changes } }
        } else if !changes.isEmpty {
            changes.forEach { attachmentStep.note($0) }
            remember(.change)
        }
        settle(.change)
        tellCommits()
    }

    /// Rolls the innermost transaction back.
    ///
    /// - Throws: `noTransaction`.
    public func rollBackTransaction() throws(StoreError) {
        if columns.depth == 0 { throw Self.noTransaction }
        rollBackSavepoint()
    }

    /// What a body would change: it runs, its changes are noted and rolled back.
    ///
    /// - Throws: what the body throws, after rolling back.
    public func dryRun(_ body: () throws -> Void) throws -> ItemStoreDiff {
        beginTransaction()
        defer { rollBackSavepoint() }
        // Where items were and would be is a part of what it tells.
        columns.noteWholeRead()
        let start = columns.changeCount
        try body()
        return ItemStoreDiff(columns, columns.changes[start...])
    }

    private static let noTransaction = StoreError(.noTransaction, "no transaction is under way: begin one first")

    // MARK: Savepoints

    func openSavepoint() {
        columns.openSavepoint()
        attachments?.openSavepoint()
    }

    func closeSavepoint() {
        columns.closeSavepoint()
        attachments?.closeSavepoint().forEach { attachmentStep.note($0) }
    }

    func rollBackSavepoint() {
        guard let start = columns.closeSavepoint() else { return }
        rollBack(to: start)
        attachments?.rollBackSavepoint()
    }

    /// Takes back the log's changes from `start` on, newest first, and forgets them.
    func rollBack(to start: Int, tells: Bool = true) {
        let taken = columns.rollBack(to: start)
        restoreOrder()
        if !columns.hasChanges { attachments?.shared?.didRollBack() }
        if !taken.isEmpty, tells, !observers.isEmpty { tellMany(ItemStoreChanges(.rollback, taken).inverted) }
    }
}
