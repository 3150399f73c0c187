import ColumnEngine

extension ItemStore {
    /// Whether something changed that the archive does not have, committed or not; without an archive, what is not
    /// committed.
    public var hasChanges: Bool { hasCommittedChanges || columns.hasChanges }

    /// Whether something changed since the last commit, attachments included.
    public var hasUncommittedChanges: Bool { columns.hasChanges || !attachmentStep.isEmpty }

    /// Whether the journal has grown so long that writing the archive anew is worth it: longer than 256 MB and than twice
    /// the archive.
    public var isJournalLong: Bool { !isSaving && document?.isJournalLong == true }

    /// Hands everything that changed since the last commit to the persistence as one commit; within a transaction,
    /// nothing. The host calls it at the end of each chunk, handler and timer.
    ///
    /// - Returns: whether there was anything to write.
    /// - Throws: `StoreError`: `conflict`, when the collection has other changes since: these are rolled back then;
    ///   `inputOutput`: the changes stay, and the next commit tries again.
    @discardableResult
    public func commit() throws(StoreError) -> Bool {
        defer { tellCommits() }
        return try commit(.change)
    }

    /// The same as a part of a group: with `Durability.power`, too, the record survives only the process, until the
    /// next commit outside of a group, or ``endGroup()``, makes all of the group's records survive a power cut at once.
    ///
    /// - Returns: whether there was anything to write.
    /// - Throws: as ``commit()``.
    @discardableResult
    public func commitInGroup() throws(StoreError) -> Bool {
        defer { tellCommits() }
        return try commit(.change, waits: false)
    }

    /// Makes a group's records survive what ``durability`` says. Costs nothing when they do.
    public func endGroup() throws(StoreError) {
        guard durability == .power, columns.depth == 0 else { return }
        try persistence.synchronize()
        attachments?.synchronize()
    }

    /// The commit itself; the caller tells the observers when it is complete.
    @discardableResult
    func commit(_ kind: CommitKind, waits: Bool = true) throws(StoreError) -> Bool {
        // What a handler changes while a commit is on its way follows with the next one.
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

    /// Hands the log over as one commit, and moves it to the history. ``settle(_:waits:)`` has to follow.
    func write(_ kind: CommitKind, waits: Bool = true, reads: ItemReads? = nil) throws(StoreError) -> Bool {
        guard columns.hasChanges else {
            // A step to take back, with nothing for the journal.
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

    /// Hands the log's changes to the persistence.
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

    /// Makes sure that what has been committed survives a power cut.
    public func synchronize() throws(StoreError) {
        try persistence.synchronize()
        attachments?.synchronize()
    }

    /// Ends the group of changes that one `undo` takes back, without a commit.
    func seal() {
        columns.seal()
    }

    /// Writes every item to the archive, atomically and durably, and begins a new journal; waits until it is done.
    ///
    /// - Returns: whether there was anything to write: false when the archive has everything, and for a store without one.
    /// - Throws: `StoreError`: `inputOutput`, `readOnly`, `transactionInProgress`. The old archive and the journal
    ///   are whole then, nothing is lost, and a later save may succeed.
    @discardableResult
    public func saveChanges() throws(StoreError) -> Bool {
        guard let save = try beginSave() else { return false }
        let result = save.write()
        try finish(save, result)
        return true
    }

    /// Takes a snapshot to be saved: what ``saveChanges()`` does in one step, for a host that lets another thread
    /// write. Commits may follow while it does; ``finish(_:_:)`` ends it.
    ///
    /// - Returns: nil when the archive has everything already, or there is none to be.
    public func beginSave() throws(StoreError) -> ItemStoreSave? {
        // What other hosts have, too, is kept here even while it cannot be changed.
        if isReadOnly, remote == nil || columns.hasChanges || document?.canReplace != true { throw readOnlyError }
        try checkNoTransaction("saving")
        if isSaving { throw StoreError(.inputOutput, "a save is under way: wait for its end") }
        // Told at the end: what an observer changes is no part of this save.
        defer { tellCommits() }
        try commit(.change)
        if isConnected { try applyRemoteCommits() }
        guard let document, hasCommittedChanges || !document.hasArchive, document.canReplace else { return nil }
        let replacement = try document.beginReplacement(ItemSnapshot(columns), at: revision)
        isSaving = true
        columns.beginSave()
        return ItemStoreSave(replacement: replacement, version: version, count: count)
    }

    /// Ends a save on the store's own thread: puts the new archive in the old one's place and begins its journal.
    ///
    /// - Throws: `StoreError` with `inputOutput`, the failure of the writing included.
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
            // Changes that came while the archive was written are in the new journal.
            if version == save.version { hasCommittedChanges = false }
        }
    }
}

/// A save under way: ``write()`` may run on any thread.
public struct ItemStoreSave: Sendable {
    let replacement: any ItemReplacement
    let version: UInt64
    /// The number of items that are saved.
    public let count: Int

    /// Writes the new archive beside the old one. Touches nothing else.
    public func write() -> Result<Void, StoreError> {
        do throws(StoreError) {
            try replacement.write()
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}
