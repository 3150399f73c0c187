/// What the transaction under way reads: see ``ReadSet``.
extension ColumnStore {
    /// Notes what is read from here on, until ``takeReads()`` or the end of the outermost savepoint.
    package func beginReads() {
        reads = .begun
        epochCounter.pointee &+= 1
    }

    /// Ends the noting.
    ///
    /// - Returns: what was read; the whole collection when nothing was noted.
    package func takeReads() -> ItemReads {
        defer { reads = ReadSet() }
        guard let (rows, absentKeys) = reads.items else { return .whole }
        var keys = absentKeys
        for row in rows {
            switch table.state(row) {
            case .live, .removed: keys.insert(table.withKey(row) { Array($0) })
            // It came in this transaction, and was rolled back with a part of it.
            case .free, .draft, .dead: continue
            }
        }
        return .keys(keys)
    }

    @inline(__always)
    func noteRead(_ row: UInt32) {
        if reads.isTracking { reads.note(row) }
    }

    /// A new item's key is sent with it; that nobody had the key is all that is left of one that a savepoint took back.
    func noteTakenBack(_ row: UInt32) {
        if reads.isTracking { table.withKey(row) { reads.noteAbsent($0) } }
    }

    /// Something was read that may depend on every item.
    @inline(__always)
    package func noteWholeRead() {
        if reads.isTracking { reads.noteWhole() }
    }
}
