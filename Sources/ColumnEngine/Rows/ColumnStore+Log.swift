/// The log of changes since the last commit, for undo, rollback and commit.
///
/// None of it is inlined into another module: see `ColumnStore+Access.swift`.
extension ColumnStore {
    // MARK: The log

    /// Whether there are changes since the last commit.
    package var hasChanges: Bool {
        @inline(never) get { !log.isEmpty }
    }

    /// The changes since the last commit, oldest first.
    package var changes: [Change] {
        @inline(never) get { log }
    }

    /// The number of changes; a run of appended rows is one.
    package var changeCount: Int {
        @inline(never) get { log.count }
    }

    /// Logs that a row was appended while loading the store.
    package func noteAppended(_ row: UInt32) {
        var change = Change(kind: .append, row: row, position: UInt32(order.count - 1))
        change.count = 1
        log.append(change)
    }

    /// Ends a group of changes that undo reverts as one.
    @inline(never)
    package func seal() {
        if log.count > sealed.last ?? 0 { sealed.append(log.count) }
    }

    /// Removes the group ends after an index of the log, or all of them.
    @inline(never)
    package func unseal(behind start: Int = 0) { sealed.removeAll { $0 > start } }

    /// Empties the committed log.
    ///
    /// - Parameter body: called with the changes of each group that ``seal()`` made, at least one.
    /// - Returns: whether an item was removed.
    @inline(never)
    package func takeGroups(_ body: ([Change]) -> Void) -> Bool {
        let (taken, ends) = (log, sealed)
        defer { hasRemovals = false }
        log = []
        sealed = []
        if ends.isEmpty || ends.last == taken.count, ends.count <= 1 {
            body(taken)
            return hasRemovals
        }
        var start = 0
        for end in ends + [taken.count] where end > start {
            body(Array(taken[start..<end]))
            start = end
        }
        return hasRemovals
    }

    /// Runs a body whose changes are kept apart from those since the last commit.
    ///
    /// - Returns: its changes, oldest first; they are reverted if it throws.
    package func apart(_ body: () throws(StoreError) -> Void) throws(StoreError) -> [Change] {
        let own = (log, sealed, savepoints, hasRemovals)
        (log, sealed, savepoints) = ([], [], [])
        defer { (log, sealed, savepoints, hasRemovals) = own }
        do throws(StoreError) { try body() } catch {
            _ = rollBack(to: 0)
            throw error
        }
        return log
    }

    /// Sorts the items, without logging it. O(items · log items).
    package func reorder(by precedes: (UInt32, UInt32) -> Bool) {
        let rows = order.slots.filter { $0 != ItemOrder.hole }.sorted(by: precedes)
        for (position, row) in rows.enumerated() where order.row(at: position) != row {
            order.move(from: order.position(of: row), to: position)
            version &+= 1
        }
    }

    // MARK: Savepoints

    /// The number of nested open transactions.
    package var depth: Int {
        @inline(never) get { savepoints.count }
    }

    /// The log's length at the beginning of the innermost transaction; nil if there is none.
    package var savepoint: Int? {
        @inline(never) get { savepoints.last }
    }

    @inline(never)
    package func openSavepoint() { savepoints.append(log.count) }

    /// - Returns: the log's length at its beginning; nil if none is open.
    @inline(never) @discardableResult
    package func closeSavepoint() -> Int? {
        let start = savepoints.popLast()
        if savepoints.isEmpty, reads.isTracking { reads = ReadSet() }
        return start
    }

    // MARK: Iterations

    /// Whether an iteration or a query is in progress.
    package var isPinned: Bool {
        @inline(never) get { cursorCount > 0 }
    }

    /// Prevents the reuse of removed rows until ``unpinRows()``.
    @inline(never)
    package func pinRows() { cursorCount += 1 }
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
        /// `field` of `row` had the value `cell`.
        case set
        /// `row` was moved from `position` to the position `field`.
        case move
    }

    package var kind: Kind
    package var row: UInt32
    package var field: UInt32
    package var position: UInt32
    package var cell: Cell

    package init(kind: Kind, row: UInt32, field: UInt32 = 0, position: UInt32 = 0, cell: Cell = .absent) {
        (self.kind, self.row, self.field, self.position, self.cell) = (kind, row, field, position, cell)
    }

    /// The number of rows of an `append`.
    package var count: Int {
        get { Int(cell.tail) }
        set { cell.tail = UInt64(newValue) }
    }
}

/// The rows whose items have the same index in the archive that the journal follows. The journal refers to such items
/// by index, too, so that opening needs no look-up.
struct ArchivedPlaces {
    /// The end of these rows for the archive in place.
    private var current: UInt32 = 0
    /// The same for the archive that a save is about to put in place; nil when there is no save.
    private var next: UInt32?

    /// The end of these rows for whichever of the two is in place when a commit made now is read.
    private(set) var limit: UInt32 = 0

    /// Called when an archive of `count` items was mapped.
    mutating func map(_ count: Int) {
        current = UInt32(count)
        limit = current
    }

    /// Called when a snapshot was taken of a store with that order.
    mutating func beginSave(_ order: borrowing ItemOrder) {
        let count = order.isInRowOrder ? UInt32(order.count) : 0
        next = count
        limit = min(current, count)
    }

    /// Called at the end of a save. A failed one may have replaced the archive or not.
    mutating func endSave(succeeded: Bool) {
        current = succeeded ? next ?? 0 : limit
        limit = current
        next = nil
    }
}
