import ColumnEngine
import DequeModule

/// Commits that can be undone or redone: one group of changes each, oldest first.
struct ChangeHistory {
    private var groups: Deque<ChangeGroup> = []
    /// The bytes of all groups. Kept up to date, since each commit reads it.
    private(set) var byteCount = 0

    var count: Int { groups.count }
    var isEmpty: Bool { groups.isEmpty }
    /// The newest group.
    var last: ChangeGroup? { groups.last }
    /// The epoch of the oldest group.
    var oldestEpoch: UInt64? { groups.first?.epoch }

    mutating func append(_ group: ChangeGroup) {
        byteCount += group.byteCount
        groups.append(group)
    }

    mutating func popLast() -> ChangeGroup? {
        guard let group = groups.popLast() else { return nil }
        byteCount -= group.byteCount
        return group
    }

    /// Removes and returns the oldest group if there are too many groups or bytes; always keeps the newest.
    mutating func popExcess(_ limits: HistoryLimits) -> ChangeGroup? {
        guard count > 1, count > limits.commits || byteCount > limits.bytes, let group = groups.popFirst() else {
            return nil
        }
        byteCount -= group.byteCount
        return group
    }

    /// Modifies each of the newest `count` groups, oldest first.
    mutating func changeNewest(_ count: Int, _ body: (inout ChangeGroup) -> Void) {
        for index in groups.indices.suffix(count) {
            byteCount -= groups[index].byteCount
            body(&groups[index])
            byteCount += groups[index].byteCount
        }
    }

    /// Removes and returns all groups.
    mutating func takeAll() -> [ChangeGroup] {
        if isEmpty { return [] }
        defer { self = ChangeHistory() }
        return Array(groups)
    }
}

/// The changes of one commit, oldest first: one step of `undo`.
struct ChangeGroup {
    var changes: [Change]
    /// The changes of attachments, oldest first.
    var attachments: [AttachmentChange] = []
    /// The bytes of the files kept for these changes.
    var keptBytes = 0
    /// The epoch of ``ForeignChanges`` at which it was made.
    var epoch: UInt64 = 0

    var byteCount: Int { changes.count * MemoryLayout<Change>.stride + keptBytes }
}

/// Limits of a store's history.
public struct HistoryLimits: Sendable {
    /// Maximum number of commits that can be undone.
    public var commits = 1000
    /// Maximum bytes of history entries and the attachment files kept for them; the last commit is always kept.
    public var bytes = 64 << 20

    /// Creates the default limits.
    public init() {}
}

extension ItemStore {
    /// The stack that receives a commit's changes.
    enum CommitKind {
        case change, undo, redo
    }

    /// Whether there is a step to undo.
    public var canUndo: Bool { !undoStack.isEmpty || hasUncommittedChanges }
    /// Whether there is a step to redo.
    public var canRedo: Bool { !redoStack.isEmpty && !hasUncommittedChanges }

    /// Undoes the last commit or transaction. Uncommitted changes are committed first and are then the last commit.
    ///
    /// - Returns: false if there is nothing to undo.
    /// - Throws: `transactionInProgress`, `inputOutput`; `conflict` if another user of the collection has changed the
    ///   same data since: the whole step is then dropped.
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

    /// Undoes up to `count` commits or transactions, the last one first.
    ///
    /// - Returns: the number of undone steps; fewer than `count` at the beginning of the history.
    /// - Throws: as ``undo()``, with the number of steps undone before.
    @discardableResult
    public func undo(_ count: Int) throws(StoreError) -> Int {
        try repeatStep(count, "undone") { () throws(StoreError) in try undo() }
    }

    private func repeatStep(
        _ count: Int, _ done: String, _ step: () throws(StoreError) -> Bool
    ) throws(StoreError) -> Int {
        var taken = 0
        while taken < count {
            do throws(StoreError) {
                if try !step() { break }
            } catch {
                if taken == 0 { throw error }
                var error = error
                error.message += " (\(taken) of \(count) steps \(taken == 1 ? "was" : "were") \(done) before)"
                throw error
            }
            taken += 1
        }
        return taken
    }

    /// Counts the items that ``undo()`` would restore; nil if there is nothing to undo. O(changes).
    package var undoTally: ItemCommitTally? { undoStack.last.map { ItemCommitTally($0.changes) } }

    /// Redoes the last undone step. A change in between clears the redo history.
    ///
    /// - Returns: false if there is nothing to redo.
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

    /// Redoes up to `count` undone steps.
    ///
    /// - Returns: the number of redone steps; fewer than `count` if there are no more.
    /// - Throws: as ``redo()``, with the number of steps redone before.
    @discardableResult
    public func redo(_ count: Int) throws(StoreError) -> Int {
        try repeatStep(count, "redone") { () throws(StoreError) in try redo() }
    }

    func checkNoTransaction(_ verb: String) throws(StoreError) {
        if isSendingCommit {
            throw StoreError(
                .transactionInProgress, "\(verb) is not possible while a commit is on its way to the server")
        }
        if isInTransaction {
            throw StoreError(
                .transactionInProgress, "\(verb) is not possible within a transaction: end it or let it fail first")
        }
    }

    /// Applies the inverse of each change, newest first, and commits the result.
    private func reverse(_ group: ChangeGroup, _ kind: CommitKind) throws(StoreError) {
        if isReadOnly { throw readOnlyError }
        keepCommitBeforeChange()
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
                // Changes from elsewhere may have shifted the position.
                let (from, to) = (columns.position(of: change.row), min(Int(change.position), count - 1))
                if from != to { columns.move(from: from, to: to) }
            }
        }
        let done = columns.changeCount
        let reversed = Array(group.attachments.reversed())
        attachmentStep = AttachmentStep(reversed)
        do throws(StoreError) {
            _ = try write(kind)
        } catch {
            // The commit failed: roll back. The rows are still in the history, which has forgotten nothing.
            attachmentStep = AttachmentStep()
            columns.takeBack(done)
            restoreOrder()
            throw didTakeBack(after: error)
        }
        for change in reversed { attachments?.reverse(change) }
        settle(kind)
        if !publisher.observers.isEmpty {
            tellMany(ItemStoreChanges(kind == .undo ? .undo : .redo, group.changes).inverted)
        }
    }

    // MARK: Keeping the history

    /// Moves the log's groups to their stack.
    func remember(_ kind: CommitKind) {
        var groups: [ChangeGroup] = []
        let hasRemovals = columns.takeGroups { groups.append(ChangeGroup(changes: $0, epoch: foreignChanges.epoch)) }
        unsettled.groups += groups.count
        unsettled.hasRemovals = unsettled.hasRemovals || hasRemovals
        groups[0].attachments = attachmentStep.take()
        switch kind {
        case .change:
            for group in redoStack.takeAll() { forget(group) }
            for group in groups { undoStack.append(group) }
        case .redo: for group in groups { undoStack.append(group) }
        case .undo: for group in groups { redoStack.append(group) }
        }
    }

    /// Ends a commit once its attachment changes are known: removes the attachments of removed items, and trims the
    /// history to its limits.
    ///
    /// - Parameters:
    ///   - kind: the commit's.
    ///   - waits: whether ``durability`` applies now, rather than at the end of a group.
    func settle(_ kind: CommitKind, waits: Bool = true) {
        defer { if waits, durability == .power { attachments?.synchronize() } }
        if !columns.hasChanges { attachments?.removeUnnamed() }
        guard unsettled.groups > 0 else { return }
        let (count, hasRemovals) = unsettled
        unsettled = (0, false)
        attachments?.shared?.didCommit()
        if let attachments {
            if kind == .undo {
                redoStack.changeNewest(count) { settle(&$0, attachments, hasRemovals) }
            } else {
                undoStack.changeNewest(count) { settle(&$0, attachments, hasRemovals) }
            }
        }
        trim(count)
        tidy()
    }

    /// Frees memory that a commit's changes left unused.
    func tidy() {
        columns.mergeIndexes()
        guard columns.needsCompaction, !columns.hasChanges, !columns.isPinned, !columns.hasSnapshot else { return }
        compactHeap()
    }

    /// Copies every referenced text and boxed value into a new heap.
    func compactHeap() {
        keepCommitBeforeChange()
        columns.compactHeap { adopt in
            undoStack.changeNewest(undoStack.count) { adopt(&$0.changes) }
            redoStack.changeNewest(redoStack.count) { adopt(&$0.changes) }
        }
    }

    private func settle(_ group: inout ChangeGroup, _ attachments: ItemAttachments, _ hasRemovals: Bool) {
        if hasRemovals || columns.attachmentField != nil {
            group.attachments += attachments.setAside(attachments.namesLeft(by: group.changes))
        }
        group.keptBytes = group.attachments.reduce(0) { $0 + $1.byteCount }
    }

    /// Drops the groups beyond the limits; the newest groups belong to the current commit.
    private func trim(_ newest: Int) {
        while let group = undoStack.popExcess(history) {
            if undoStack.count < newest, publisher.isWatched { keepLatestCommit() }
            forget(group)
        }
    }

    /// Frees removed rows and old values that only this group refers to. Attachment files are freed with the group.
    func forget(_ group: ChangeGroup) {
        for change in group.changes {
            switch change.kind {
            case .set: columns.discard(change.cell, of: ItemField(rawValue: change.field))
            case .remove where columns.isRemoved(change.row): columns.rowDied(change.row)
            default: break
            }
        }
    }
}
