import Glibc
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

extension ColumnStore {
    /// The field for an assigned value; a new custom field is checked and numbered.
    package func fieldForAssignment(_ name: String, _ value: PropertyListValue?) throws(StoreError) -> ItemField {
        if let field = fields.existing(name) { return field }
        try FieldValidation.checkName(name)
        // Validated before the name is stored, so that a refused value has no effect.
        _ = try FieldValidation.checked(value, custom: name)
        return fields.field(named: name)
    }

    /// The value in the form stored by the field; nil to clear the field.
    ///
    /// - Throws: ``StoreError`` for a value that the field does not accept.
    package func checked(_ value: PropertyListValue?, for field: ItemField) throws(StoreError) -> PropertyListValue? {
        if field == table.keyField { throw FieldValidation.keyIsReadOnly }
        guard let (kind, isOptional) = table.declared(field) else {
            return try FieldValidation.checked(value, custom: fields.name(of: field))
        }
        return try FieldValidation.checked(value, kind, isOptional: isOptional, named: fields.name(of: field))
    }

    /// A cell for a value of a field, absent for nil; as ``checked(_:for:)``.
    package func checkedCell(_ value: PropertyListValue?, for field: ItemField) throws(StoreError) -> Cell {
        if case .integer(let number)? = value, table.declared(field)?.kind == .integer { return .integer(number) }
        return try checked(value, for: field).map { cell($0, for: field) } ?? .absent
    }

    /// A cell for a text given as bytes.
    package func textCell(_ bytes: UnsafeBufferPointer<UInt8>, for field: ItemField) throws(StoreError) -> Cell {
        if table.declared(field).map({ $0.kind != .text }) ?? (field == table.keyField) {
            _ = try checked(.string(String(decoding: bytes, as: UTF8.self)), for: field)
        }
        guard UTF8Check.isValid(bytes) else {
            let name = fields.name(of: field)
            throw StoreError(
                .invalidValue(field: name), "\(name) takes text in UTF-8, and these bytes are not: store them as data")
        }
        if bytes.count > FieldValidation.byteLimit {
            let name = fields.name(of: field)
            throw StoreError(
                .invalidValue(field: name),
                "\(name) is \(bytes.count) bytes long: \(FieldValidation.byteLimit) is the most")
        }
        return table.entry(for: bytes, field) ?? heap.text(bytes)
    }

    /// A cell for a value of a field.
    package func cell(_ value: PropertyListValue, for field: ItemField) -> Cell {
        if case .string(var text) = value,
            let entry = text.withUTF8({ table.entry(for: $0, field) })
        {
            return entry
        }
        return heap.cell(value)
    }

    /// Discards a field's cell. A dictionary keeps the texts of its column.
    package func discard(_ cell: Cell, of field: ItemField) {
        if !table.keepsTexts(field) { heap.discard(cell) }
    }

    // MARK: Drafts

    /// A new row to be filled, outside of the store, with the current time in the field declared for it.
    ///
    /// - Parameter key: the key; a new one if nil. It may be set again.
    /// - Returns: the draft, which is already complete.
    /// - Throws: `full`.
    @inline(never)
    package func makeDraft(key: PackedKey? = nil) throws(StoreError) -> ItemDraft {
        if table.rowCount >= Int(UInt32.max) - 1 {
            throw StoreError(.full, "the store holds as many items as it can number")
        }
        let key = key ?? keySource.uuid()
        // The slot is fetched while the fields are set.
        index.prefetch(keyHasher.hash(key))
        let (row, isNew) = table.makeRow(key: key)
        if isNew { order.addRow() }
        if let stamped { table.setCell(row, stamped, .date(Self.now())) }
        return ItemDraft(store: self, row: row)
    }

    /// Appends a draft.
    ///
    /// - Throws: `duplicateKey`.
    @inline(never)
    package func appendDraft(_ row: UInt32) throws(StoreError) {
        append(row, try newKeyHash(row))
    }

    /// The hash of a draft's key, which must be unused.
    func newKeyHash(_ row: UInt32) throws(StoreError) -> UInt64 {
        let hash = keyHash(row)
        if let other = holder(ofKeyOf: row, hash) {
            noteRead(other)
            let key = table.keyString(other)
            throw StoreError(.duplicateKey(key), "an item with the itemKey \(key) is in the store already")
        }
        return hash
    }

    /// Seconds since the reference date, by the wall clock.
    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        // To the millisecond, which is as much as a date of creation needs, and is short in texts.
        let milliseconds = (time.tv_sec - Int(PropertyListDate.unixEpochOffset)) * 1000 + time.tv_nsec / 1_000_000
        return Double(milliseconds) / 1000
    }
}

extension ColumnStore {
    /// The ordered index on a field, ready for queries.
    func index(on field: ItemField) -> OrderedIndex? {
        guard let index = indexes.first(where: { $0.field == field }) else { return nil }
        index.mergePending()
        return index
    }

    /// Makes an ordered index on a field, unless there is one.
    ///
    /// - Returns: whether it is new.
    package func createIndex(_ field: ItemField, lazily: Bool) -> Bool {
        if indexes.contains(where: { $0.field == field }) { return false }
        let index = OrderedIndex(self, field)
        if !lazily { index.mergePending() }
        indexes.append(index)
        return true
    }

    // MARK: Updating the indexes

    @inline(__always)
    func rowCame(_ row: UInt32) {
        // Unretained: reference counting would cost more than the call.
        for place in 0..<indexes.count {
            Unmanaged.passUnretained(indexes[place])._withUnsafeGuaranteedRef { $0.rowCame(row) }
        }
    }

    @inline(__always)
    func rowGoes(_ row: UInt32) {
        for index in indexes { index.rowGoes(row) }
    }

    /// Sets a field of an item that is in the store.
    @inline(__always)
    func setStored(_ row: UInt32, _ field: ItemField, _ cell: Cell) {
        guard !indexes.isEmpty else { return table.setCell(row, field, cell) }
        for index in indexes where index.field == field {
            index.valueGoes(row)
            table.setCell(row, field, cell)
            return index.rowCame(row)
        }
        table.setCell(row, field, cell)
    }

    /// Merges committed changes into the indexes if they are many.
    package func mergeIndexes() {
        for index in indexes { index.mergePendingIfMany() }
    }
}

extension ColumnStore {
    /// Copies every referenced text and boxed value into a new heap.
    ///
    /// - Parameter others: called with a function that copies the cells of changes outside of the log.
    package func compactHeap(_ others: ((inout [Change]) -> Void) -> Void) {
        var fresh = CellHeap()
        fresh.faulted = heap.faulted
        // Rows that are still in the archive reference nothing in the heap, and stay there.
        for row in 0..<UInt32(table.rowCount) {
            switch table.state(row) {
            case .free, .dead: continue
            case .draft, .live, .removed: break
            }
            if table.keys.isPresent(row), table.textKeys[row] {
                table.keys[row] = PackedKey(text: fresh.adopt(table.keys[row].cell, from: heap))
            }
            guard table.custom.isPresent(row) else { continue }
            let cells = table.custom[row].cells
            for index in cells.indices { cells[index] = fresh.adopt(cells[index], from: heap) }
        }
        for number in 0..<UInt32(table.columns.count) {
            table.column(ItemField(rawValue: number))?.replaceCells {
                switch table.state($0) {
                case .free, .dead: false
                case .draft, .live, .removed: true
                }
            } _: {
                fresh.adopt($0, from: heap)
            }
        }
        func adopt(_ changes: inout [Change]) {
            for index in changes.indices where changes[index].kind == .set {
                changes[index].cell = fresh.adopt(changes[index].cell, from: heap)
            }
        }
        adopt(&log)
        others(adopt)
        heap = fresh
    }
}
