/// The reads of a serializable transaction on a collection that other hosts change, too.
///
/// No read escapes: reading an item needs its row, columns are not visible outside of this module, and each access to a
/// row records it. A reference or an object is checked by `ColumnStore.isAccessible`, `isLive` or `state`: they record
/// the row. A key goes through `row(forKey:)`, which records the row or, if there is none, the key. Everything else is
/// the whole collection: the order (`count`, `slots`, `row(at:)`, `position(of:)`, `move`), a query (`RowQuery.access`,
/// `partOfIndex`), an aggregate function of a group (`ItemAggregateFunction.value`), a snapshot, and a name that no
/// item has as a field. An insertion refused for its key records the item that has it, and a reverted one its key.
/// Script iterators older than the transaction check each of their rows, since its beginning is a new epoch.
struct ReadSet {
    /// Whether to record reads: false outside of such transactions, and when the whole collection was read.
    private(set) var isTracking = false
    private var rows: Set<UInt32> = []
    private var absentKeys: Set<[UInt8]> = []
    /// The row recorded last, which is often the next one, too.
    private var latestRow: UInt32?

    /// More keys and rows count as the whole collection: the server compares each with those of others' commits.
    private static let countLimit = 1000
    /// A longer key counts as the whole collection: it would be sent with the commit.
    private static let keyLimit = 4096

    /// The initial state of a transaction.
    static var begun: ReadSet {
        var reads = ReadSet()
        reads.isTracking = true
        return reads
    }

    /// The rows, and the keys that no row had; nil for the whole collection.
    var items: (rows: Set<UInt32>, absentKeys: Set<[UInt8]>)? { isTracking ? (rows, absentKeys) : nil }

    @inline(never)
    mutating func note(_ row: UInt32) {
        guard isTracking, row != latestRow else { return }
        latestRow = row
        rows.insert(row)
        checkCount()
    }

    @inline(never)
    mutating func noteAbsent(_ key: UnsafeBufferPointer<UInt8>) {
        guard key.count <= Self.keyLimit else { return noteWhole() }
        absentKeys.insert(Array(key))
        checkCount()
    }

    @inline(never)
    mutating func noteWhole() { self = ReadSet() }

    private mutating func checkCount() {
        if rows.count + absentKeys.count > Self.countLimit { noteWhole() }
    }
}

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
