import ColumnEngine

extension ItemStore {
    /// Whether there are changes, committed or not, that the archive does not have; without an archive, whether there
    /// are uncommitted changes.
    public var hasChanges: Bool { hasCommittedChanges || columns.hasChanges }

    /// Whether there are changes since the last commit, including attachments.
    public var hasUncommittedChanges: Bool { columns.hasChanges || !attachmentStep.isEmpty }

    /// Whether the journal is long enough to make rewriting the archive worthwhile: longer than 256 MB and than twice
    /// the archive.
    public var isJournalLong: Bool { !isSaving && document?.isJournalLong == true }

    /// Passes all changes since the last commit to the persistence as one commit; does nothing within a transaction.
    /// The host calls it at the end of each chunk, handler and timer.
    ///
    /// - Returns: whether there was anything to write.
    /// - Throws: `StoreError`: `conflict` if the collection has conflicting changes since: the store's are then rolled
    ///   back; `inputOutput`: the changes are kept, and the next commit tries again.
    @discardableResult
    public func commit() throws(StoreError) -> Bool {
        defer { tellCommits() }
        return try commit(.change)
    }

    /// Commits as part of a group: even with `Durability.power` the record only survives the process, until the next
    /// commit outside of a group, or ``endGroup()``, makes all of the group's records survive a power cut at once.
    ///
    /// - Returns: whether there was anything to write.
    /// - Throws: as ``commit()``.
    @discardableResult
    public func commitInGroup() throws(StoreError) -> Bool {
        defer { tellCommits() }
        return try commit(.change, waits: false)
    }

    /// Makes a group's records as durable as ``durability`` requires. Costs nothing if they are.
    public func endGroup() throws(StoreError) {
        guard durability == .power, columns.depth == 0 else { return }
        try persistence.synchronize()
        attachments?.synchronize()
    }

    /// Commits without notifying observers; the caller does that when the commit is complete.
    @discardableResult
    func commit(_ kind: CommitKind, waits: Bool = true) throws(StoreError) -> Bool {
        // Changes by a handler while a commit is being sent are part of the next one.
        guard columns.depth == 0, !isSendingCommit else { return false }
        defer { settle(kind, waits: waits) }
        do throws(StoreError) {
            return try write(kind, waits: waits)
        } catch {
            if error.code == .conflict {
                columns.unseal()
                rollBack(to: 0)
                applyUnappliedCommits()
            }
            throw error
        }
    }

    /// Passes the log on as one commit, and moves it to the history. ``settle(_:waits:)`` must follow.
    func write(_ kind: CommitKind, waits: Bool = true, reads: ItemReads? = nil) throws(StoreError) -> Bool {
        guard columns.hasChanges else {
            // An undo step without anything for the journal.
            if !attachmentStep.isEmpty { remember(kind) }
            return false
        }
        try appendLog(durable: waits && durability == .power, reads: reads)
        noteCommit(cause(of: kind))
        remember(kind)
        return true
    }

    private func cause(of kind: CommitKind) -> ItemStoreCommit.Cause {
        switch kind {
        case .change: commitCause
        case .undo: .undo
        case .redo: .redo
        }
    }

    /// Passes the log's changes to the persistence.
    func appendLog(durable: Bool, reads: ItemReads? = nil) throws(StoreError) {
        let textBytes = max(columns.textBytes - committedTextBytes, 0)
        committedTextBytes = columns.textBytes
        if let remote {
            try attachments?.adoptLooseBytes()
            try send(to: remote, reads: reads)
        } else {
            let commit = ItemCommit(columns, columns.changes, following: revision, textBytes: textBytes)
            revision = try persistence.append(commit, durable: durable)
        }
        hasCommittedChanges = document != nil
    }

    /// Makes all commits survive a power cut.
    public func synchronize() throws(StoreError) {
        try persistence.synchronize()
        attachments?.synchronize()
    }

    /// Ends the current undo step without a commit.
    func seal() {
        columns.seal()
    }

    /// Writes all items to the archive, atomically and durably, and starts a new journal; waits until it is done.
    ///
    /// - Returns: whether there was anything to write: false if the archive is up to date, and for a store without one.
    /// - Throws: `StoreError`: `inputOutput`, `readOnly`, `transactionInProgress`. The old archive and the journal are
    ///   then intact, nothing is lost, and a later save may succeed.
    @discardableResult
    public func saveChanges() throws(StoreError) -> Bool {
        guard let save = try beginSave() else { return false }
        let result = save.write()
        try finish(save, result)
        return true
    }

    /// Takes a snapshot to be saved. Like ``saveChanges()``, for a host that writes the archive on another thread.
    /// Commits may be made meanwhile; ``finish(_:_:)`` ends the save.
    ///
    /// - Returns: nil if the archive is up to date, or the store has none.
    public func beginSave() throws(StoreError) -> ItemStoreSave? {
        // A shared collection is saved here even while it cannot be changed.
        if isReadOnly, remote == nil || columns.hasChanges || document?.canReplace != true { throw readOnlyError }
        try checkNoTransaction("saving")
        if isSaving { throw StoreError(.inputOutput, "a save is under way: wait for its end") }
        // Reported at the end: an observer's changes are not part of this save.
        defer { tellCommits() }
        try commit(.change)
        if isConnected { try applyRemoteCommits() }
        guard let document, hasCommittedChanges || !document.hasArchive, document.canReplace else { return nil }
        let replacement = try document.beginReplacement(ItemSnapshot(columns), at: revision)
        isSaving = true
        columns.beginSave()
        return ItemStoreSave(replacement: replacement, version: version, count: count)
    }

    /// Ends a save on the store's thread: replaces the old archive with the new one and starts its journal.
    ///
    /// - Throws: `StoreError` with `inputOutput`, including a failure to write.
    public func finish(_ save: ItemStoreSave, _ result: Result<Void, StoreError>) throws(StoreError) {
        guard isSaving else { return }
        isSaving = false
        var isDone = false
        defer { columns.endSave(succeeded: isDone) }
        switch result {
        case .failure(let error):
            document?.abandon(save.replacement)
            throw error
        case .success:
            try document?.finish(save.replacement)
            isDone = true
            // Changes made while the archive was written are in the new journal.
            if version == save.version { hasCommittedChanges = false }
        }
    }
}

/// A save in progress: ``write()`` may run on any thread.
public struct ItemStoreSave: Sendable {
    let replacement: any ItemReplacement
    let version: UInt64
    /// The number of saved items.
    public let count: Int

    /// Writes the new archive beside the old one. Accesses nothing else.
    public func write() -> Result<Void, StoreError> {
        do throws(StoreError) {
            try replacement.write()
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}
