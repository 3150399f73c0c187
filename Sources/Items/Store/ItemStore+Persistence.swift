import ColumnEngine

extension ItemStore {
    /// Whether there are changes since the last commit, including attachments.
    public var hasUncommittedChanges: Bool { columns.hasChanges || changeHistory.hasAttachmentChanges }

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
        try replica.persistence.synchronize()
        attachments?.synchronize()
    }

    /// Commits without notifying observers; the caller does that when the commit is complete.
    @discardableResult
    func commit(_ kind: CommitKind, waits: Bool = true) throws(StoreError) -> Bool {
        // Changes by a handler while a commit is being sent are part of the next one.
        guard columns.depth == 0, !replica.isSending else { return false }
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
            if changeHistory.hasAttachmentChanges { changeHistory.record(kind, from: columns) }
            return false
        }
        try appendLog(durable: waits && durability == .power, reads: reads)
        noteCommit(cause(of: kind))
        changeHistory.record(kind, from: columns)
        return true
    }

    private func cause(of kind: CommitKind) -> ItemStoreCommit.Cause {
        switch kind {
        case .change: publisher.cause
        case .undo: .undo
        case .redo: .redo
        }
    }

    /// Passes the log's changes to the persistence.
    func appendLog(durable: Bool, reads: ItemReads? = nil) throws(StoreError) {
        if replica.isShared {
            try attachments?.adoptLooseBytes()
            try send(reads: reads)
        } else {
            try replica.append(durable: durable)
        }
        document.didCommit()
    }

    /// Makes all commits survive a power cut.
    public func synchronize() throws(StoreError) {
        try replica.persistence.synchronize()
        attachments?.synchronize()
    }

    /// Ends the current undo step without a commit.
    func seal() {
        columns.seal()
    }
}
