/// The log of changes since the last commit, for undo, rollback and commit.
struct ChangeLog {
    /// Oldest first.
    private(set) var changes: [Change] = []
    /// The amounts of logged increments, also of those that can be undone.
    var increments = IncrementCodes()
    /// Whether an item was removed since the last commit.
    private(set) var hasRemovals = false
    /// The ends of the groups that undo reverts one by one.
    private var groupEnds: [Int] = []
    /// The log's length at the beginning of each open transaction.
    private var savepoints: [Int] = []
    /// Increases with every change, also with those that the log does not list.
    private(set) var version: UInt64 = 0

    // MARK: Recording

    /// The entries from this index on may be merged with a new one.
    private var mergeFloor: Int { max(savepoints.last ?? 0, groupEnds.last ?? 0) }

    @inline(__always)
    mutating func didChange() { version &+= 1 }

    mutating func record(_ change: Change) {
        changes.append(change)
        if change.kind == .remove { hasRemovals = true }
    }

    @inline(__always)
    mutating func recordAppended(_ row: UInt32, at position: Int) {
        // Rows of a loop are consecutive: one entry for the whole run.
        let last = changes.count - 1
        if last >= mergeFloor, changes[last].kind == .append, Int(changes[last].row) + changes[last].count == Int(row) {
            changes[last].count += 1
            return
        }
        changes.append(.append(row, at: position))
    }

    /// Records the value that a field had before a change.
    ///
    /// - Returns: false if the log has an earlier one: of several consecutive changes, the history needs the value before
    ///   the first.
    @inline(__always)
    mutating func recordSet(_ row: UInt32, _ field: ItemField, _ old: Cell) -> Bool {
        if let last = latestSet(row, field) {
            // An increment before it is part of what was assigned.
            changes[last].position = 0
            return false
        }
        changes.append(Change(kind: .set, row: row, field: field.rawValue, cell: old))
        return true
    }

    /// The place of the latest change, if it set the same field of the same item and another can be merged into it.
    @inline(__always)
    private func latestSet(_ row: UInt32, _ field: ItemField) -> Int? {
        let last = changes.count - 1
        guard last >= mergeFloor, changes[last].kind == .set, changes[last].row == row,
            changes[last].field == field.rawValue
        else { return nil }
        return last
    }

    /// The same of an increment, with its code. One that follows an assignment is part of it.
    mutating func recordIncrement(_ row: UInt32, _ field: ItemField, _ old: Cell, _ code: UInt32) -> Bool {
        if let last = latestSet(row, field) {
            if changes[last].position == 0 { return false }
            if let sum = IncrementCodes.sum(changes[last].position, code) {
                changes[last].position = sum
                return false
            }
        }
        changes.append(Change(kind: .set, row: row, field: field.rawValue, position: code, cell: old))
        return true
    }

    /// Calls a body that may change the cells of the changes.
    mutating func withChanges(_ body: (inout [Change]) -> Void) { body(&changes) }

    // MARK: Taking

    /// Removes the changes from `start` on, which are to be reverted.
    mutating func cut(from start: Int) -> [Change] {
        let taken = Array(changes[start...])
        changes.removeSubrange(start...)
        if changes.isEmpty { hasRemovals = false }
        return taken
    }

    /// Removes the last changes, and the ends of their groups.
    mutating func takeLast(_ count: Int) -> [Change] {
        let taken = Array(changes.suffix(count))
        changes.removeLast(count)
        unseal(behind: changes.count)
        return taken
    }

    /// Removes all changes.
    mutating func clear() { (changes, hasRemovals) = ([], false) }

    /// Removes all changes and ends of groups, and returns them.
    mutating func takeAll() -> ChangeLog {
        let taken = self
        clear()
        groupEnds = []
        return taken
    }

    // MARK: Groups

    /// Ends a group of changes that undo reverts as one.
    mutating func seal() {
        if changes.count > groupEnds.last ?? 0 { groupEnds.append(changes.count) }
    }

    /// Removes the group ends after an index.
    mutating func unseal(behind start: Int) { groupEnds.removeAll { $0 > start } }

    /// Calls a body with the changes of each group, at least one.
    func forEachGroup(_ body: ([Change]) -> Void) {
        if groupEnds.isEmpty || groupEnds.last == changes.count, groupEnds.count <= 1 { return body(changes) }
        var start = 0
        for end in groupEnds + [changes.count] where end > start {
            body(Array(changes[start..<end]))
            start = end
        }
    }

    // MARK: Savepoints

    /// The number of nested open transactions.
    var depth: Int { savepoints.count }

    /// The log's length at the beginning of the innermost transaction; nil if there is none.
    var savepoint: Int? { savepoints.last }

    mutating func openSavepoint() { savepoints.append(changes.count) }

    mutating func closeSavepoint() -> Int? { savepoints.popLast() }
}

/// The log for the modules above.
extension ColumnStore {
    /// Whether there are changes since the last commit.
    package var hasChanges: Bool { !log.changes.isEmpty }

    /// The changes since the last commit, oldest first.
    package var changes: [Change] { log.changes }

    /// The number of changes; a run of appended rows is one.
    package var changeCount: Int { log.changes.count }

    /// Logs that a row was appended while loading the store.
    package func recordAppended(_ row: UInt32) {
        log.record(.append(row, at: order.count - 1))
    }

    /// Ends a group of changes that undo reverts as one.
    package func seal() { log.seal() }

    /// Removes the group ends after an index of the log, or all of them.
    package func unseal(behind start: Int = 0) { log.unseal(behind: start) }

    /// Empties the committed log.
    ///
    /// - Parameter body: called with the changes of each group that ``seal()`` made, at least one.
    /// - Returns: whether an item was removed.
    package func takeGroups(_ body: ([Change]) -> Void) -> Bool {
        let taken = log.takeAll()
        taken.forEachGroup(body)
        return taken.hasRemovals
    }

    /// Runs a body whose changes are kept apart from those since the last commit.
    ///
    /// - Returns: its changes, oldest first; they are reverted if it throws.
    package func apart(_ body: () throws(StoreError) -> Void) throws(StoreError) -> [Change] {
        var own = log
        log = ChangeLog()
        swap(&log.increments, &own.increments)
        defer {
            swap(&log.increments, &own.increments)
            log = own
        }
        do throws(StoreError) { try body() } catch {
            _ = rollBack(to: 0)
            throw error
        }
        return log.changes
    }

    /// The number of nested open transactions.
    package var depth: Int { log.depth }

    /// The log's length at the beginning of the innermost transaction; nil if there is none.
    package var savepoint: Int? { log.savepoint }

    package func openSavepoint() { log.openSavepoint() }

    /// Sorts the items, without logging it. O(items · log items).
    package func reorder(by precedes: (UInt32, UInt32) -> Bool) {
        let rows = order.slots.filter { $0 != ItemOrder.hole }.sorted(by: precedes)
        for (position, row) in rows.enumerated() where order.row(at: position) != row {
            order.move(from: order.position(of: row), to: position)
            log.didChange()
        }
    }
}

/// One change in the history: the data to undo it, in 32 bytes.
package struct Change: BitwiseCopyable {
    package enum Kind: UInt8, BitwiseCopyable {
        /// `count` rows from `row` on were appended, the first at `position`.
        case append
        /// `row` was inserted at `position`.
        case insert
        /// `row` was removed from `position`.
        case remove
        /// `field` of `row` had the value `cell`; `position` is the code of an increment, 0 for an assignment.
        case set
        /// `row` was moved from `position` to the position `field`.
        case move
        /// The version `field` of the declared fields took the place of the version `position`; it is about no row.
        case declare
    }

    package var kind: Kind
    package var row: UInt32
    package var field: UInt32
    package var position: UInt32
    package var cell: Cell

    package init(kind: Kind, row: UInt32, field: UInt32 = 0, position: UInt32 = 0, cell: Cell = .absent) {
        (self.kind, self.row, self.field, self.position, self.cell) = (kind, row, field, position, cell)
    }

    /// A run of one new item.
    static func append(_ row: UInt32, at position: Int) -> Change {
        var change = Change(kind: .append, row: row, position: UInt32(position))
        change.count = 1
        return change
    }

    /// The number of rows of an `append`.
    package var count: Int {
        get { Int(cell.tail) }
        set { cell.tail = UInt64(newValue) }
    }

    /// The rows that it is about: those of an `append`, one of the other kinds.
    package var rows: Range<UInt32> { row..<row + (kind == .append ? UInt32(count) : 1) }
}

extension [Change] {
    /// Reverts changes, newest first. Removals come together, oldest first, also with new values between them, which move
    /// no item.
    package func forEachReversed<Failure>(
        _ revert: (Change) throws(Failure) -> Void, removals: ([Change]) throws(Failure) -> Void
    ) throws(Failure) {
        var rest = self[...]
        while let last = rest.last {
            let start = rest.lastIndex { $0.kind != .remove && $0.kind != .set }.map { $0 + 1 } ?? rest.startIndex
            guard start < rest.endIndex else {
                try revert(last)
                rest.removeLast()
                continue
            }
            let removed = rest[start...].filter { $0.kind == .remove }
            if !removed.isEmpty { try removals(removed) }
            for change in rest[start...].reversed() where change.kind == .set { try revert(change) }
            rest = rest[..<start]
        }
    }
}
