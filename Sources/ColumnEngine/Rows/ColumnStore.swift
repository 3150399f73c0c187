package import PropertyList
@_exported import Wording

/// A collection's rows: their fields as columns, their order, their keys, their indexes, and the log of changes since
/// the last commit.
///
/// Its owner has observers, history and transactions. Not `Sendable`: one thread owns it.
package final class ColumnStore {
    // Exclusive access to these is not checked at run time: the check costs more than the access, one thread owns the
    // store, and no method lends one of them to code that calls the store.

    @exclusivity(unchecked) package var table: ItemTable
    @exclusivity(unchecked) package var order = ItemOrder()
    @exclusivity(unchecked) var index = KeyIndex()
    @exclusivity(unchecked) var keyHasher = KeyHasher()
    @exclusivity(unchecked) var heap = CellHeap()
    @exclusivity(unchecked) var fields: FieldTable
    /// The declared field that is set to an item's creation time.
    let stamped: ItemField?
    @exclusivity(unchecked) package var keySource = KeySource()
    /// The source of rows that are not in memory; nil without a mapped archive.
    @exclusivity(unchecked) var rowSource: (any RowSource)?
    @exclusivity(unchecked) package var indexes: [OrderedIndex] = []

    /// The changes since the last successful commit, oldest first.
    @exclusivity(unchecked) var log: [Change] = []
    /// Whether an item was removed since the last commit.
    @exclusivity(unchecked) var hasRemovals = false
    /// The ends of the log's groups that undo reverts one by one.
    @exclusivity(unchecked) var sealed: [Int] = []
    /// The log's length at the beginning of each open transaction.
    @exclusivity(unchecked) var savepoints: [Int] = []
    /// The reads of the current transaction, if they are recorded.
    @exclusivity(unchecked) var reads = ReadSet()
    /// Increases with every change.
    @exclusivity(unchecked) package var version: UInt64 = 0
    /// Iterations in progress; while there are any, no row is reused.
    @exclusivity(unchecked) var cursorCount = 0
    private var rowsToFree: [UInt32] = []
    /// The number of items that have left the store. At a stable address, for readers that poll it.
    package let epochCounter: UnsafeMutablePointer<UInt64>

    /// Called with the items that an answer left out, at its end; an error it throws is the answer's. Nil: they are not
    /// counted.
    @exclusivity(unchecked) package var onLeftOut: (([ItemsLeftOut]) throws -> Void)?
    /// The items that the current answer has left out so far.
    @exclusivity(unchecked) var leftOut = LeftOutTally()
    @exclusivity(unchecked) var pathMemo = PathMemo()

    /// The items that have the same index in the archive.
    @exclusivity(unchecked) var archivedPlaces = ArchivedPlaces()
    /// By the key of a copy, the key of its original: attributes without a field exist only in the archive.
    private(set) var copies: NameTable<String> = [:]
    /// Whether the document holds item data beyond the fields.
    package var remembersCopies: () -> Bool = { false }
    /// Called when a part of the mapped archive turns out to be unreadable, with a text for the user.
    package var onDamage: ((String) -> Void)?

    /// An empty store.
    ///
    /// - Parameter declared: the fields that have a column from the beginning, by number.
    package init(_ declared: [FieldDeclaration]) {
        table = ItemTable(declared)
        stamped = declared.firstIndex { $0.isStamped }.map { ItemField(rawValue: UInt32($0)) }
        fields = FieldTable(declared)
        epochCounter = .allocate(capacity: 1)
        epochCounter.initialize(to: 0)
    }

    deinit {
        epochCounter.deallocate()
    }

    // MARK: Rows

    @inline(never)
    package func isAccessible(_ row: UInt32) -> Bool {
        noteRead(row)
        let state = table.states[row]
        return state == ItemTable.State.live.rawValue || state == ItemTable.State.draft.rawValue
    }

    package func row(forKey key: UnsafeBufferPointer<UInt8>) -> UInt32? {
        let row = find(key)
        if reads.isTracking { if let row { reads.note(row) } else { reads.noteAbsent(key) } }
        return row
    }

    @inline(__always)
    private func find(_ key: UnsafeBufferPointer<UInt8>) -> UInt32? {
        if let packed = PackedKey(uuid: key) { return row(forKey: packed, keyHasher.hash(packed)) }
        return find(keyHasher.hash(text: key)) { row in
            guard table.textKeys[row] else { return false }
            return table.keys[row].cell.withText { $0.elementsEqual(key) }
        }
    }

    /// The row whose key is this UUID. A key that is still in the archive is compared there: usually only one field of
    /// the item is needed.
    @inline(__always)
    func row(forKey key: PackedKey, _ hash: UInt64) -> UInt32? {
        find(hash) { row in
            if !table.keys.isPresent(row), let archived = rowSource?.uuid(row) { return archived == key }
            // An unreadable key is loaded, which reports the damage.
            table.prefetch(row)
            return table.keys[row] == key && !table.textKeys[row]
        }
    }

    @inline(__always)
    private func find(_ hash: UInt64, where matches: (UInt32) -> Bool) -> UInt32? {
        let row = index.find(hash, where: matches)
        guard row == nil, index.isDamaged else { return row }
        index.own { keyHash($0) }
        return index.find(hash, where: matches)
    }

    package func keyHash(_ row: UInt32) -> UInt64 {
        table.textKeys[row]
            ? table.keys[row].cell.withText { keyHasher.hash(text: $0) } : keyHasher.hash(table.keys[row])
    }

    /// The row in the store with the same key as another row.
    package func holder(ofKeyOf row: UInt32, _ hash: UInt64) -> UInt32? {
        if table.textKeys[row] { return table.withKey(row) { find($0) } }
        return self.row(forKey: table.keys[row], hash)
    }

    /// Called when the row has left the store and the history.
    package func rowDied(_ row: UInt32) {
        table.forEachDeclared { _, column in
            if column.encoding == .cells || column.hasMisfits { heap.discard(column.cell(row)) }
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
        if cursorCount > 0 { rowsToFree.append(row) } else { table.freeRow(row) }
    }

    /// Runs a body during which no row is reused.
    package func pinningRows<Result>(_ body: () throws -> Result) rethrows -> Result {
        cursorCount += 1
        defer { unpinRows() }
        return try body()
    }

    package func unpinRows() {
        cursorCount -= 1
        guard cursorCount == 0 else { return }
        for row in rowsToFree { table.freeRow(row) }
        rowsToFree = []
    }

    // MARK: Values

    package func value(_ row: UInt32, _ field: ItemField) -> PropertyListValue? {
        field == table.keyField ? .string(table.keyString(row)) : heap.value(table.cell(row, field))
    }

    /// An item's fields by name, including `itemKey`.
    ///
    /// - Parameters:
    ///   - row: the item.
    ///   - keepsAttachment: whether to include the hidden field of its attachments.
    ///   - marksAbsent: whether a declared field that the item lacks, though new items have it, is null: for records
    ///     of whole items.
    /// - Returns: the values; a field without one is not in it.
    package func dictionary(
        of row: UInt32, keepsAttachment: Bool = false, marksAbsent: Bool = false
    ) -> PropertyListFields {
        var result: PropertyListFields = [:]
        for number in 0...table.keyField.rawValue {
            let field = ItemField(rawValue: number)
            result[fields.names[Int(number)]] =
                value(row, field) ?? (marksAbsent && isRequired(field) ? .null : nil)
        }
        table.forEachCustomCell(row) { number, cell in
            if keepsAttachment || number != fields.attachment?.rawValue {
                result[fields.names[Int(number)]] = heap.value(cell)
            }
        }
        return result
    }

    /// Remembers the source of a copied item.
    package func noteCopy(of source: String, as copy: String) {
        if remembersCopies() { copies[copy] = copies[source] ?? source }
    }
}
