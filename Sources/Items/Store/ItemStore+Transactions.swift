import ColumnEngine

extension ItemStore {
    /// Whether a transaction or a dry run is in progress.
    public var isInTransaction: Bool { columns.depth > 0 }

    /// Runs a body whose changes are committed or rolled back as a whole: an error of the body rolls back its changes,
    /// including order and removals, and is rethrown. Transactions nest as savepoints. The end of the outermost one is
    /// a commit; if that fails, the changes are rolled back as well.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        // A transaction is sent to the server separately: earlier changes have other conflict rules.
        if let remote, !isInTransaction {
            try commit()
            // Own commits made after those of others would be mistaken for theirs.
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

    /// Begins a transaction, or a savepoint within one. Earlier changes become a separate step of `undo`.
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
    /// - Throws: `noTransaction`; errors of ``commit()``, after rolling back.
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

    /// Determines the changes that a body would make: runs it, and rolls its changes back.
    ///
    /// - Throws: errors of the body, after rolling back.
    public func dryRun(_ body: () throws -> Void) throws -> ItemStoreDiff {
        beginTransaction()
        defer { rollBackSavepoint() }
        // The result includes the positions of items.
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

    /// Rolls back the log's changes from `start` on, newest first.
    func rollBack(to start: Int, tells: Bool = true) {
        let taken = columns.rollBack(to: start)
        restoreOrder()
        if !columns.hasChanges { attachments?.shared?.didRollBack() }
        if !taken.isEmpty, tells, !observers.isEmpty { tellMany(ItemStoreChanges(.rollback, taken).inverted) }
    }
}
