@_exported import Wording

/// A collection's rows: their fields as columns, their order, their keys, their indexes, and the log of changes since
/// the last commit.
///
/// Its owner has observers, history and transactions. Not `Sendable`: one thread owns it.
package final class ColumnStore {
    // Exclusive access to these is not checked at run time: the check costs more than the access, one thread owns the
    // store, and no method lends one of them to code that calls the store.

    @exclusivity(unchecked) var table: ItemTable
    @exclusivity(unchecked) var order = ItemOrder()
    @exclusivity(unchecked) var index = HashIndex()
    @exclusivity(unchecked) package var keySource = KeySource()
    @exclusivity(unchecked) var heap = CellHeap()
    @exclusivity(unchecked) var fields: FieldTable
    @exclusivity(unchecked) var declared = DeclaredFields()
    @exclusivity(unchecked) package var indexes: [OrderedIndex] = []
    /// The changes since the last successful commit.
    @exclusivity(unchecked) var log = ChangeLog()
    @exclusivity(unchecked) private var reads = ReadSet()
    @exclusivity(unchecked) private var iterations = RowIterations()
    @exclusivity(unchecked) package var questions = QuestionRecord()
    @exclusivity(unchecked) private var countedKinds = PresentKinds()
    @exclusivity(unchecked) package var document = DocumentRows()

    /// The fields of every item, which have a column from the beginning.
    package let schema: ItemSchema

    /// An empty store.
    package init(_ schema: ItemSchema) {
        self.schema = schema
        table = ItemTable(schema)
        fields = FieldTable(schema)
    }

    // MARK: Rows

    package func isAccessible(_ row: UInt32) -> Bool {
        recordRead(row)
        let state = table.states[row]
        return state == ItemTable.State.live.rawValue || state == ItemTable.State.draft.rawValue
    }

    package func row(forKey key: UnsafeBufferPointer<UInt8>) -> UInt32? {
        let row = find(key)
        if reads.isTracking { if let row { reads.record(row) } else { reads.recordAbsent(key) } }
        return row
    }

    package func row(ofKey key: String) -> UInt32? {
        var key = key
        return key.withUTF8 { row(forKey: $0) }
    }

    @inline(__always)
    private func find(_ key: UnsafeBufferPointer<UInt8>) -> UInt32? {
        if let packed = PackedKey(uuid: key) { return row(forKey: packed, index.hasher.hash(packed)) }
        return find(index.hasher.hash(text: key)) { row in
            guard table.textKeys[row] else { return false }
            return table.keys[row].cell.withText { $0.elementsEqual(key) }
        }
    }

    /// The row whose key is this UUID. A key that is still in the archive is compared there: usually only one field of
    /// the item is needed.
    @inline(__always)
    func row(forKey key: PackedKey, _ hash: UInt64) -> UInt32? {
        find(hash) { row in
            if !table.keys.isPresent(row), let archived = document.source?.uuid(row) { return archived == key }
            // An unreadable key is loaded, which reports the damage.
            table.prefetch(row)
            return table.keys[row] == key && !table.textKeys[row]
        }
    }

    /// The kinds that the items have in a field, counted once after a change.
    func presentKinds(_ field: ItemField, count: () -> UInt16) -> UInt16 {
        if let counted = countedKinds.kinds(of: field, at: version) { return counted }
        let kinds = count()
        countedKinds.record(kinds, of: field, at: version)
        return kinds
    }

    @inline(__always)
    private func find(_ hash: UInt64, where matches: (UInt32) -> Bool) -> UInt32? {
        let row = index.find(hash, where: matches)
        guard row == nil, index.isDamaged else { return row }
        let hasher = index.hasher
        index.materialize { keyHash($0, hasher) }
        return index.find(hash, where: matches)
    }

    package func keyHash(_ row: UInt32) -> UInt64 { keyHash(row, index.hasher) }

    /// The same while the index changes, whose hasher is passed.
    func keyHash(_ row: UInt32, _ hasher: KeyHasher) -> UInt64 {
        table.textKeys[row] ? table.keys[row].cell.withText { hasher.hash(text: $0) } : hasher.hash(table.keys[row])
    }

    /// The row in the store with the same key as another row.
    package func holder(ofKeyOf row: UInt32, _ hash: UInt64) -> UInt32? {
        if table.textKeys[row] { return table.withKey(row) { find($0) } }
        return self.row(forKey: table.keys[row], hash)
    }

    /// Called when the row has left the store and the history.
    package func rowDied(_ row: UInt32) {
        table.forEachDeclared { _, column in
            if column.encoding == .cells || !column.misfits.isEmpty { heap.discard(column.cell(row)) }
        }
        if table.textKeys[row] { heap.discard(table.keys[row].cell) }
        table.forEachCustomCell(row) { number, cell in discard(cell, of: ItemField(rawValue: number)) }
        table.states[row] = ItemTable.State.dead.rawValue
        if table.handles[row] == nil { free(row) }
    }

    /// Called when the last reference to a row's object was released.
    package func handleWasReleased(_ row: UInt32) {
        table.handles[row] = nil
        if table.state(row) == .dead { free(row) }
    }

    private func free(_ row: UInt32) {
        if !iterations.postpones(freeing: row) { table.freeRow(row) }
    }

    // MARK: Iterations

    /// Prevents the reuse of removed rows until ``unpinRows()``.
    package func pinRows() { iterations.begin() }

    package func unpinRows() {
        for row in iterations.end() { table.freeRow(row) }
    }

    /// Runs a body during which no row is reused.
    package func pinningRows<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        iterations.begin()
        defer { unpinRows() }
        return try body()
    }

    // MARK: Reads

    /// Records reads from now on, until ``takeReads()`` or the end of the outermost savepoint.
    package func beginReads() {
        reads = ReadSet(isTracking: true)
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
    func recordRead(_ row: UInt32) {
        if reads.isTracking { reads.record(row) }
    }

    /// A new item's key is sent with it; of a reverted item only the fact that its key was unused remains.
    func recordRolledBack(_ row: UInt32) {
        if reads.isTracking { table.withKey(row) { reads.recordAbsent($0) } }
    }

    /// Whether reads are recorded, in a serializable transaction.
    package func recordsReads() -> Bool { reads.isTracking }

    /// Records a read that may depend on every item.
    @inline(__always)
    package func recordWholeRead() {
        if reads.isTracking { reads.recordWhole() }
    }

    /// - Returns: the log's length at the beginning of the closed savepoint; nil if none is open.
    @discardableResult
    package func closeSavepoint() -> Int? {
        let start = log.closeSavepoint()
        if log.depth == 0, reads.isTracking { reads = ReadSet() }
        return start
    }
}

extension ColumnStore {
    /// Increases with every change.
    package var version: UInt64 { log.version }
    /// The number of the items' key, after the fields of every item.
    package var keyField: ItemField { table.keyField }
    /// Whether an iteration or a query is in progress.
    package var isPinned: Bool { iterations.arePending }
    /// A counter that changes whenever an item leaves the store. At a stable address, for readers that poll it.
    package var epochCounter: UnsafeMutablePointer<UInt64> { iterations.epoch }
}

/// The reads of a serializable transaction on a collection that other hosts change, too.
///
/// No read escapes: reading an item needs its row, columns are not visible outside of this module, and each access to a
/// row records it. A reference or an object is checked by `ColumnStore.isAccessible`, `isLive` or `state`: they record
/// the row. A key goes through `row(forKey:)`, which records the row or, if there is none, the key. Everything else is
/// the whole collection: the order (`count`, `slots`, `row(at:)`, `position(of:)`, `move`), a query
/// (`ItemQuery.access`), an aggregate function of a group (`ItemAggregateFunction.value`), a snapshot, and a name that
/// no item has as a field. An insertion refused for its key records the item that has it, and a reverted one its key.
/// Script iterators older than the transaction check each of their rows, since its beginning is a new epoch.
struct ReadSet {
    /// Whether to record reads: false outside of such transactions, and when the whole collection was read.
    private(set) var isTracking = false
    private var rows: Set<UInt32> = []
    private var absentKeys: Set<[UInt8]> = []
    /// The row recorded last, which is often the next one, too.
    private var latestRow: UInt32?

    /// More keys and rows count as the whole collection: the server compares each with those of remote commits.
    private static let countLimit = 1000
    /// A longer key counts as the whole collection: it would be sent with the commit.
    private static let keyLimit = 4096

    /// A transaction begins by tracking its reads.
    init(isTracking: Bool = false) { self.isTracking = isTracking }

    /// The rows, and the keys that no row had; nil for the whole collection.
    var items: (rows: Set<UInt32>, absentKeys: Set<[UInt8]>)? { isTracking ? (rows, absentKeys) : nil }

    @inline(never)
    mutating func record(_ row: UInt32) {
        guard isTracking, row != latestRow else { return }
        latestRow = row
        rows.insert(row)
        checkCount()
    }

    @inline(never)
    mutating func recordAbsent(_ key: UnsafeBufferPointer<UInt8>) {
        guard key.count <= Self.keyLimit else { return recordWhole() }
        absentKeys.insert(Array(key))
        checkCount()
    }

    @inline(never)
    mutating func recordWhole() { self = ReadSet() }

    private mutating func checkCount() {
        if rows.count + absentKeys.count > Self.countLimit { recordWhole() }
    }
}

/// What a source of rows reports damage to: an object beside the store, since a weak reference to the store would make
/// each retain of it take several times as long.
package final class DamageReporter {
    /// Called with a text for the user.
    package fileprivate(set) var handler: ((String) -> Void)?
}

/// The store's side of the document that its rows come from.
package struct DocumentRows {
    /// The source of rows that are not in memory; nil without a mapped archive.
    private(set) var source: (any RowSource)?
    var places = ArchivedPlaces()
    /// By the key of a copy, the key of its original: attributes without a field exist only in the archive.
    private(set) var copies: NameTable<String> = [:]
    /// Whether the document holds item data beyond the fields.
    package var remembersCopies: () -> Bool = { false }
    /// Where an unreadable part of the mapped archive is reported.
    package let damage = DamageReporter()
    /// Called then, with a text for the user.
    package var onDamage: ((String) -> Void)? {
        get { damage.handler }
        nonmutating set { damage.handler = newValue }
    }

    /// Called when an archive of `count` items was mapped.
    mutating func map(_ count: Int, _ source: any RowSource) {
        self.source = source
        places.map(count)
    }

    /// Remembers the source of a copied item.
    package mutating func recordCopy(of source: String, as copy: String) {
        if remembersCopies() { copies[copy] = copies[source] ?? source }
    }
}

/// The document's side of a store, for the modules above.
extension ColumnStore {
    /// Called when a snapshot was taken to be saved.
    package func beginSave() { document.places.beginSave(order) }

    /// Called at the end of a save. A failed one may have replaced the document or not.
    package func endSave(succeeded: Bool) { document.places.endSave(succeeded: succeeded) }

    /// Maps a document's rows into the empty store; none is read yet.
    ///
    /// - Parameters:
    ///   - count: the number of rows.
    ///   - kinds: by field number, the kinds of its cells; see ``ItemTable/customKinds``.
    ///   - source: the document.
    ///   - seed: the seed of the keys' hashes.
    ///   - slots: the hash table of the keys.
    package func map(_ count: Int, _ kinds: [UInt16], _ source: any RowSource, seed: UInt64, _ slots: MappedKeySlots) {
        document.map(count, source)
        heap.faulted = source.values
        table.map(count, customKinds: kinds, source)
        order.adopt(count)
        index.adopt(slots, seed: seed)
    }

    /// Each row below this one has the document's item of the same index.
    package var placeLimit: UInt32 { document.places.limit }
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

/// Iterations in progress, and the epoch by which those of scripts notice removals.
struct RowIterations: ~Copyable {
    private var count = 0
    private var rowsToFree: [UInt32] = []
    /// A counter that changes whenever an item leaves the store. At a stable address, for readers that poll it.
    let epoch: UnsafeMutablePointer<UInt64>

    init() {
        epoch = .allocate(capacity: 1)
        epoch.initialize(to: 0)
    }

    deinit { epoch.deallocate() }

    /// Whether there are any; meanwhile no row is reused.
    var arePending: Bool { count > 0 }

    mutating func begin() { count += 1 }

    /// - Returns: the rows to free.
    mutating func end() -> [UInt32] {
        count -= 1
        guard count == 0, !rowsToFree.isEmpty else { return [] }
        defer { rowsToFree = [] }
        return rowsToFree
    }

    /// Keeps a row until the last iteration ends, if there is one.
    mutating func postpones(freeing row: UInt32) -> Bool {
        if count > 0 { rowsToFree.append(row) }
        return count > 0
    }
}
