import ColumnEngine
import DequeModule

/// The stack that receives a commit's changes: the redo stack for an `undo`, the undo stack for others.
enum CommitKind {
    case change, undo, redo
}

/// The steps that can be undone and redone, the changes from elsewhere that forbid it, and the attachment changes of
/// the next step.
struct ChangeHistory {
    private var undoStack = ChangeStack()
    private var redoStack = ChangeStack()
    private var foreignChanges = ForeignChanges()
    private var attachmentStep = AttachmentStep()
    /// The number of groups that the current commit has pushed onto a stack; whether they removed items.
    private var unsettled = (groups: 0, hasRemovals: false)

    var undoCount: Int { undoStack.count }
    var canUndo: Bool { !undoStack.isEmpty }
    var canRedo: Bool { !redoStack.isEmpty }
    /// The changes that `undo` would reverse.
    var nextUndo: [Change]? { undoStack.last?.changes }
    var nextUndoAttachmentCount: Int { undoStack.last?.attachments.count ?? 0 }
    /// Whether attachments changed since the last commit.
    var hasAttachmentChanges: Bool { !attachmentStep.isEmpty }

    // MARK: Attachments

    /// Records an attachment change since the last commit.
    mutating func record(_ change: AttachmentChange) { attachmentStep.record(change) }

    /// Replaces the attachment changes since the last commit.
    mutating func setAttachmentChanges(_ changes: [AttachmentChange]) { attachmentStep = AttachmentStep(changes) }

    /// Adds attachment changes to the newest step of `undo`.
    ///
    /// - Returns: false if there is none.
    mutating func addToNewest(_ changes: [AttachmentChange]) -> Bool {
        if undoStack.isEmpty { return false }
        undoStack.add(changes, toNewest: 1)
        return true
    }

    // MARK: Steps

    /// Removes the newest step to be undone or redone.
    mutating func pop(_ kind: CommitKind) -> ChangeGroup? {
        kind == .redo ? redoStack.popLast() : undoStack.popLast()
    }

    /// Puts a step back that could not be undone or redone.
    mutating func putBack(_ group: ChangeGroup, _ kind: CommitKind) {
        if kind == .redo { redoStack.append(group) } else { undoStack.append(group) }
    }

    /// Moves the log's groups and the attachment changes to their stack.
    mutating func record(_ kind: CommitKind, from columns: ColumnStore) {
        var groups: [ChangeGroup] = []
        let epoch = foreignChanges.epoch
        let hasRemovals = columns.takeGroups { groups.append(ChangeGroup(changes: $0, epoch: epoch)) }
        unsettled.groups += groups.count
        unsettled.hasRemovals = unsettled.hasRemovals || hasRemovals
        groups[0].attachments = attachmentStep.take()
        switch kind {
        case .change:
            for group in redoStack.takeAll() { group.forget(in: columns) }
            for group in groups { undoStack.append(group) }
        case .redo: for group in groups { undoStack.append(group) }
        case .undo: for group in groups { redoStack.append(group) }
        }
    }

    /// The groups recorded since the last call; nil for none.
    mutating func takeUnsettled() -> (groups: Int, hasRemovals: Bool)? {
        guard unsettled.groups > 0 else { return nil }
        defer { unsettled = (0, false) }
        return unsettled
    }

    /// The changes of a group recorded by a commit; the newest one has the place 1.
    func changes(ofNewest place: Int, _ kind: CommitKind) -> [Change] {
        (kind == .undo ? redoStack : undoStack).changes(ofNewest: place)
    }

    /// Adds the attachments that a recorded group took from their items, and counts the bytes of all of the group's.
    mutating func settle(newest place: Int, _ kind: CommitKind, adding attachments: [AttachmentChange]) {
        if kind == .undo {
            redoStack.add(attachments, toNewest: place)
        } else {
            undoStack.add(attachments, toNewest: place)
        }
    }

    /// Removes and returns the oldest step of `undo` if there are more than the limits allow.
    mutating func popExcess(_ limits: HistoryLimits) -> ChangeGroup? { undoStack.popExcess(limits) }

    /// Modifies the changes of all steps.
    mutating func changeAll(_ body: (inout [Change]) -> Void) {
        undoStack.changeNewest(undoStack.count) { body(&$0.changes) }
        redoStack.changeNewest(redoStack.count) { body(&$0.changes) }
    }

    // MARK: Changes from elsewhere

    /// Records changes from elsewhere, which are not a step.
    mutating func recordForeign(_ changes: [Change]) { foreignChanges.record(changes) }

    /// Forgets the changes from elsewhere that no step refers to.
    ///
    /// - Returns: their rows.
    fileprivate mutating func pruneForeign() -> [UInt32] {
        let oldest = [undoStack.oldestEpoch, redoStack.oldestEpoch].compactMap { $0 }.min()
        return foreignChanges.prune(oldest)
    }

    /// Drops a step that cannot be undone; neither can earlier steps on the same fields.
    mutating func drop(_ group: ChangeGroup, in columns: ColumnStore) {
        columns.discardOldValues(of: group.changes)
        foreignChanges.record(group.changes.filter { $0.kind != .remove || columns.isRemoved($0.row) })
    }

    /// Returns an error if a step cannot be undone because of changes from elsewhere.
    func conflict(with group: ChangeGroup, in columns: ColumnStore) -> StoreError? {
        if group.epoch == foreignChanges.epoch { return nil }
        // The state of rows that the step itself restores or removes.
        var isLive: [UInt32: Bool] = [:]
        func live(_ row: UInt32) -> Bool { isLive[row] ?? (columns.isLive(row)) }
        func conflict(about row: UInt32, _ what: String) -> StoreError {
            let name = columns.title(row) ?? ""
            return StoreError(
                .conflict,
                "the step is not taken back: \(what) of the item \(columns.keyString(row)), \(name), was changed "
                    + "elsewhere since; the step is given up, and the next undo is of the one before")
        }
        for change in group.changes.reversed() {
            switch change.kind {
            case .append, .insert:
                for row in change.rows {
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
                let field = ItemField(rawValue: change.field)
                // An increment follows what others did.
                let follows =
                    columns.increment(of: change) != nil && Increment.isPossible(on: columns.value(change.row, field))
                guard live(change.row), follows || !wasChanged(change, since: group) else {
                    return conflict(about: change.row, columns.shownName(of: field))
                }
            case .move:
                guard live(change.row), !foreignChanges.moved(change.row, since: group.epoch) else {
                    return conflict(about: change.row, "its position")
                }
            case .declare:
                guard !foreignChanges.declaredFields(since: group.epoch) else {
                    return StoreError(
                        .conflict,
                        "the step is not taken back: fields were declared elsewhere since; the step is given up, and the "
                            + "next undo is of the one before")
                }
            }
        }
        return nil
    }

    /// Whether a field that a step has set was changed elsewhere since.
    func wasChanged(_ change: Change, since group: ChangeGroup) -> Bool {
        foreignChanges.changed(change.field, of: change.row, since: group.epoch)
    }

    /// Returns an error if the changes that take a step back, which are the log's, do not hold what is declared: items
    /// and declarations from elsewhere came since.
    func violation(takingBack group: ChangeGroup, in columns: ColumnStore) -> StoreError? {
        if group.epoch == foreignChanges.epoch { return nil }
        let found = columns.violation(
            of: columns.changes, checksFit: foreignChanges.declaredFields(since: group.epoch))
        return found.map { StoreError(.conflict, "the step is not taken back: \($0.message)", cause: $0) }
    }
}

/// Commits that can be undone or redone: one group of changes each, oldest first.
struct ChangeStack {
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

    /// The changes of a group; the newest one has the place 1.
    func changes(ofNewest place: Int) -> [Change] { place <= count ? groups[count - place].changes : [] }

    /// Adds attachment changes to a group, and counts the bytes of all that it has.
    mutating func add(_ attachments: [AttachmentChange], toNewest place: Int) {
        guard place <= count else { return }
        let index = count - place
        byteCount -= groups[index].byteCount
        groups[index].attachments += attachments
        groups[index].retainedBytes = groups[index].attachments.reduce(0) { $0 + $1.byteCount }
        byteCount += groups[index].byteCount
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
        defer { self = ChangeStack() }
        return Array(groups)
    }
}

/// The changes of one commit, oldest first: one step of `undo`.
struct ChangeGroup {
    var changes: [Change]
    /// The changes of attachments, oldest first.
    var attachments: [AttachmentChange] = []
    /// The bytes of the files kept for these changes.
    var retainedBytes = 0
    /// The epoch of ``ForeignChanges`` at which it was made.
    var epoch: UInt64 = 0

    var byteCount: Int { changes.count * MemoryLayout<Change>.stride + retainedBytes }

    /// Frees removed rows and old values that only this group refers to. Attachment files are freed with the group.
    func forget(in columns: ColumnStore) {
        for change in changes {
            switch change.kind {
            case .set: columns.discard(change.cell, of: ItemField(rawValue: change.field))
            case .remove where columns.isRemoved(change.row): columns.rowDied(change.row)
            default: break
            }
        }
    }
}

/// Limits of a store's history.
public struct HistoryLimits: Sendable {
    /// Maximum number of commits that can be undone.
    public var commits = 1000
    /// Maximum bytes of history entries and the attachment files kept for them; the last commit is always kept.
    public var bytes = 64 << 20

    /// Creates the default limits.
    package init() {}
}

extension ColumnStore {
    /// Frees the values that changes replaced.
    func discardOldValues(of changes: [Change]) {
        for change in changes where change.kind == .set {
            discard(change.cell, of: ItemField(rawValue: change.field))
        }
    }
}

extension ItemStore {
    /// Whether there is a step to undo.
    public var canUndo: Bool { changeHistory.canUndo || hasUncommittedChanges }
    /// Whether there is a step to redo.
    public var canRedo: Bool { changeHistory.canRedo && !hasUncommittedChanges }

    /// Counts the items that ``undo()`` would restore; nil if there is nothing to undo. O(changes).
    package var undoTally: ItemCommitTally? { changeHistory.nextUndo.map { ItemCommitTally($0) } }
    /// The number of attachments that ``undo()`` would restore or take back.
    package var undoAttachmentCount: Int { changeHistory.nextUndoAttachmentCount }

    /// Undoes the last commit or transaction. Uncommitted changes are committed first and are then the last commit.
    ///
    /// - Returns: false if there is nothing to undo.
    /// - Throws: `transactionInProgress`, `inputOutput`; `conflict` if another user of the collection has changed the
    ///   same data since: the whole step is then dropped.
    @discardableResult
    public func undo() throws(StoreError) -> Bool {
        try checkNoTransaction("undo")
        return try takeStep(.undo)
    }

    /// Undoes up to `count` commits or transactions, the last one first.
    ///
    /// - Returns: the number of undone steps; fewer than `count` at the beginning of the history.
    /// - Throws: as ``undo()``, with the number of steps undone before.
    @discardableResult
    package func undo(_ count: Int) throws(StoreError) -> Int {
        try repeatStep(count, "undone") { () throws(StoreError) in try undo() }
    }

    /// Redoes the last undone step. A change in between clears the redo history.
    ///
    /// - Returns: false if there is nothing to redo.
    /// - Throws: as ``undo()``.
    @discardableResult
    public func redo() throws(StoreError) -> Bool {
        try checkNoTransaction("redo")
        return try takeStep(.redo)
    }

    /// Redoes up to `count` undone steps.
    ///
    /// - Returns: the number of redone steps; fewer than `count` if there are no more.
    /// - Throws: as ``redo()``, with the number of steps redone before.
    @discardableResult
    package func redo(_ count: Int) throws(StoreError) -> Int {
        try repeatStep(count, "redone") { () throws(StoreError) in try redo() }
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

    /// Forgets the changes from elsewhere that no step refers to. A row is read outside of the history: the archive may
    /// turn out to be damaged there, and who is told so may ask for the history.
    func pruneForeignChanges() {
        for row in changeHistory.pruneForeign() where columns.isRemoved(row) { columns.rowDied(row) }
    }

    private func takeStep(_ kind: CommitKind) throws(StoreError) -> Bool {
        defer { publishCommits() }
        try commit(.change)
        guard let group = changeHistory.pop(kind) else { return false }
        if let conflict = changeHistory.conflict(with: group, in: columns) {
            changeHistory.drop(group, in: columns)
            pruneForeignChanges()
            throw conflict
        }
        do throws(StoreError) {
            try reverse(group, kind)
        } catch {
            changeHistory.putBack(group, kind)
            throw error
        }
        return true
    }

    /// Applies the inverse of each change, newest first, and commits the result.
    private func reverse(_ group: ChangeGroup, _ kind: CommitKind) throws(StoreError) {
        if isReadOnly { throw readOnlyError }
        keepCommitBeforeChange()
        let start = columns.changeCount
        do throws(StoreError) { try reverseChanges(of: group) } catch {
            columns.takeBack(columns.changeCount - start)
            throw error
        }
        let done = columns.changeCount
        let reversed = Array(group.attachments.reversed())
        changeHistory.setAttachmentChanges(reversed)
        do throws(StoreError) {
            if let violation = changeHistory.violation(takingBack: group, in: columns) { throw violation }
            _ = try write(kind)
        } catch {
            // The commit failed: roll back. The rows are still in the history, which has forgotten nothing.
            changeHistory.setAttachmentChanges([])
            columns.takeBack(done)
            replica.restoreOrder()
            throw didTakeBack(after: error)
        }
        for change in reversed { attachments?.reverse(change) }
        settle(kind)
        if !publisher.observers.isEmpty {
            publishMany(ItemStoreChanges(kind == .undo ? .undo : .redo, group.changes).inverted)
        }
    }

    private func reverseChanges(of group: ChangeGroup) throws(StoreError) {
        func reverse(_ change: Change) throws(StoreError) {
            switch change.kind {
            case .append, .insert: for row in change.rows.reversed() { columns.takeOut(row) }
            case .remove: columns.putBack([change])
            case .set: try reverseValue(change, of: group)
            case .move:
                // Changes from elsewhere may have shifted the position.
                let (from, to) = (columns.position(of: change.row), min(Int(change.position), count - 1))
                if from != to { columns.move(from: from, to: to) }
            case .declare: columns.declare(columns.declarations(ofVersion: change.position))
            }
        }
        try group.changes.forEachReversed(reverse) { (removals: [Change]) throws(StoreError) in
            columns.putBack(removals)
        }
    }

    /// Gives a field its former value; of an increment only the amount is taken back if others changed the field since.
    private func reverseValue(_ change: Change, of group: ChangeGroup) throws(StoreError) {
        let field = ItemField(rawValue: change.field)
        guard let amount = columns.increment(of: change).map(Increment.negated) else {
            return columns.change(change.row, field, to: change.cell)
        }
        var cell = change.cell
        if changeHistory.wasChanged(change, since: group) {
            cell = columns.cell(try columns.sum(columns.value(change.row, field), amount, for: field), for: field)
        }
        columns.increment(change.row, field, to: cell, by: amount)
    }

    // MARK: Keeping the history

    /// Ends a commit once its attachment changes are known: removes the attachments of removed items, and trims the
    /// history to its limits.
    ///
    /// - Parameters:
    ///   - kind: the commit's.
    ///   - waits: whether ``durability`` applies now, rather than at the end of a group.
    func settle(_ kind: CommitKind, waits: Bool = true) {
        defer { if waits, durability == .power { attachments?.synchronize() } }
        if !columns.hasChanges { attachments?.removeUnnamed() }
        guard let (count, hasRemovals) = changeHistory.takeUnsettled() else { return }
        if let attachments {
            attachments.shared?.didCommit()
            let mayLeaveNames = hasRemovals || columns.attachmentField != nil
            for place in stride(from: count, to: 0, by: -1) {
                var left: [AttachmentChange] = []
                if mayLeaveNames {
                    let changes = changeHistory.changes(ofNewest: place, kind)
                    left = attachments.retire(attachments.namesLeft(by: changes))
                }
                changeHistory.settle(newest: place, kind, adding: left)
            }
        }
        // The newest groups belong to this commit.
        while let group = changeHistory.popExcess(history) {
            if changeHistory.undoCount < count { keepCommitBeforeChange() }
            group.forget(in: columns)
        }
        if columns.hasManyIncrements {
            keepCommitBeforeChange()
            columns.freeIncrements { changeHistory.changeAll($0) }
        }
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
        columns.compactHeap { changeHistory.changeAll($0) }
    }
}
