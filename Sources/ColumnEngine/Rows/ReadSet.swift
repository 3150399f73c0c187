/// The reads of a serializable transaction on a collection that other hosts change, too.
///
/// No read escapes: to read an item takes its row, columns are not seen outside of this module, and each way to a row
/// notes it. A reference or an object is asked about by `ColumnStore.isAccessible`, `isLive` or `state`: they note the row. A
/// key goes through `row(forKey:)`, which notes the row or, when there is none, the key. All else is the whole collection: the
/// order (`count`, `slots`, `row(at:)`, `position(of:)`, `move`), a query (`RowQuery.access`, `partOfIndex`), a function of a
/// group (`ItemAggregateFunction.value`), a snapshot, and a name that no item has as a field. An insertion that is refused
/// for its key notes the item that has it, and one that a savepoint takes back its key. Iterators of scripts that are older
/// than the transaction ask about each of their rows, since its begin is a new epoch.
struct ReadSet {
    /// Whether a read is to be noted: false outside of such transactions, and when the whole collection was read.
    private(set) var isTracking = false
    private var rows: Set<UInt32> = []
    private var absentKeys: Set<[UInt8]> = []
    /// The row noted last, which is often the next one, too.
    private var latestRow: UInt32?

    /// So many keys and rows are as good as the whole collection: the server compares each with those of others' commits.
    private static let countLimit = 1000
    /// A longer key is as good as the whole collection: it would be sent with the commit.
    private static let keyLimit = 4096

    /// The reads of a transaction that begins.
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
