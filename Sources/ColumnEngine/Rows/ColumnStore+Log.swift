/// The log of changes since the last commit, for undo, rollback and commit.
///
/// None of it is inlined into another module: see `ColumnStore+Access.swift`.
extension ColumnStore {
    // MARK: The log

    /// Whether something changed since the last commit.
    package var hasChanges: Bool {
        @inline(never) get { !log.isEmpty }
    }

    /// The changes since the last commit, oldest first.
    package var changes: [Change] {
        @inline(never) get { log }
    }

    /// Their number; a run of appended rows is one.
    package var changeCount: Int {
        @inline(never) get { log.count }
    }

    /// Notes that a row was put at the end while the store was loaded.
    package func noteAppended(_ row: UInt32) {
        var change = Change(kind: .append, row: row, position: UInt32(order.count - 1))
        change.count = 1
        log.append(change)
    }

    /// Ends a group of changes that undo takes back as one.
    @inline(never)
    package func seal() {
        if log.count > sealed.last ?? 0 { sealed.append(log.count) }
    }

    /// Forgets where groups ended behind a place of the log, or anywhere.
    @inline(never)
    package func unseal(behind start: Int = 0) { sealed.removeAll { $0 > start } }

    /// Empties the log, which was committed.
    ///
    /// - Parameter body: is given the changes of each of the groups that ``seal()`` made, at least one.
    /// - Returns: whether an item was taken out.
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

    /// Runs a body whose changes do not join those since the last commit.
    ///
    /// - Returns: its changes, oldest first; they are taken back when it throws.
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

    /// Puts the items into an order, without a trace in the log. O(items · log items).
    package func reorder(by precedes: (UInt32, UInt32) -> Bool) {
        let rows = order.slots.filter { $0 != ItemOrder.hole }.sorted(by: precedes)
        for (position, row) in rows.enumerated() where order.row(at: position) != row {
            order.move(from: order.position(of: row), to: position)
            version &+= 1
        }
    }

    // MARK: Savepoints

    /// How many transactions are open, one in the other.
    package var depth: Int {
        @inline(never) get { savepoints.count }
    }

    /// The log's length at the begin of the innermost transaction; nil when there is none.
    package var savepoint: Int? {
        @inline(never) get { savepoints.last }
    }

    @inline(never)
    package func openSavepoint() { savepoints.append(log.count) }

    /// - Returns: the log's length at its begin; nil when none is open.
    @inline(never) @discardableResult
    package func closeSavepoint() -> Int? {
        let start = savepoints.popLast()
        if savepoints.isEmpty, reads.isTracking { reads = ReadSet() }
        return start
    }

    // MARK: Iterations

    /// Whether an iteration or a query is under way.
    package var isPinned: Bool {
        @inline(never) get { cursorCount > 0 }
    }

    /// Has removed rows given to no new item until ``unpinRows()``.
    @inline(never)
    package func pinRows() { cursorCount += 1 }
}
