/// The reads of the current transaction: see ``ReadSet``.
extension ColumnStore {
    /// Records reads from now on, until ``takeReads()`` or the end of the outermost savepoint.
    package func beginReads() {
        reads = .begun
        epochCounter.pointee &+= 1
    }

    /// Stops recording.
    ///
    /// - Returns: the reads; the whole collection if none were recorded.
    package func takeReads() -> ItemReads {
        defer { reads = ReadSet() }
        guard let (rows, absentKeys) = reads.items else { return .whole }
        var keys = absentKeys
        for row in rows {
            switch table.state(row) {
            case .live, .removed: keys.insert(table.withKey(row) { Array($0) })
            // The item was added in this transaction, and rolled back with a part of it.
            case .free, .draft, .dead: continue
            }
        }
        return .keys(keys)
    }

    @inline(__always)
    func noteRead(_ row: UInt32) {
        if reads.isTracking { reads.note(row) }
    }

    /// A new item's key is sent with it; of a reverted item only the fact that its key was unused remains.
    func noteTakenBack(_ row: UInt32) {
        if reads.isTracking { table.withKey(row) { reads.noteAbsent($0) } }
    }

    /// Records a read that may depend on every item.
    @inline(__always)
    package func noteWholeRead() {
        if reads.isTracking { reads.noteWhole() }
    }
}
