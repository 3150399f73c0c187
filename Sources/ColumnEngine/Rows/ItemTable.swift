/// The items' fields: a column per field, a row per item.
///
/// A row is an item's number as long as the item is referenced by the store, its history, or an `Item`. Rows are
/// unordered; `ItemOrder` has the order.
package struct ItemTable: ~Copyable {
    /// The state of a row.
    package enum State: UInt8 {
        /// Its number is 0: the rows of a mapped archive are live without being written.
        case live
        /// A new item, not yet in the store.
        case draft
        /// Unused; available for a new item.
        case free
        /// Out of the store; the history may restore it.
        case removed
        /// Out of the store for good; an `Item` still refers to it.
        case dead
    }

    /// By field number, retained; nil for `itemKey` and fields in blocks. See `ItemTable+Fields.swift`.
    var columns = Column<Unmanaged<FieldColumn>?>()
    /// The number of the key, after the declared fields.
    let keyField: ItemField
    /// The column of the first declared integer field, which scripts change most.
    private let firstInteger: Unmanaged<FieldColumn>?
    /// The custom fields that have a column, ascending.
    var columnNumbers: [UInt32] = []
    var keys = Column<PackedKey>()
    var custom = Column<CustomFields>()
    var states = Column<UInt8>()
    /// Whether the key is a text and not a packed UUID, one byte per item.
    var textKeys = Column<Bool>()
    /// The address of the one object of each row, made by its owner; not retained: its deinitialiser clears the slot.
    var handles = Column<UnsafeRawPointer?>()
    private var freeRows: [UInt32] = []
    /// How often each row was freed; a missing entry means never.
    private var generations: [UInt16] = []
    /// By number of a custom field, the kinds of cells that it has ever had, a bit each.
    private(set) var customKinds: [UInt16] = []
    /// The number of blocks in which each field was set.
    var blockCounts: [Int] = []
    /// Whether fields of items may still be only in an archive.
    private(set) var isMapped = false

    /// The blocks for the snapshots in use; nil if there are none.
    private var copiedBlocks: CopiedBlocks?
    /// Whether some item has or had a custom field: otherwise there is nothing to free.
    private var hasCustomFields = false

    init(_ schema: ItemSchema) {
        let declared = schema.fields.map { Unmanaged.passRetained(FieldColumn($0)) }
        keyField = schema.keyField
        firstInteger = zip(schema.kinds, declared).first { $0.0.kind == .integer }?.1
        for column in declared { columns.append(column) }
    }

    deinit {
        for number in 0..<UInt32(columns.count) { columns[number]?.release() }
        guard hasCustomFields else { return }
        for row in 0..<UInt32(custom.count) where custom.isPresent(row) { custom.pointer(row).pointee.release() }
    }

    var rowCount: Int { states.count }

    @inline(__always)
    func state(_ row: UInt32) -> State {
        State(rawValue: states[row]) ?? .free
    }

    mutating func reserve(_ wanted: Int) {
        forEachDeclared { $1.reserve(wanted) }
        keys.reserve(wanted)
        custom.reserve(wanted)
        states.reserve(wanted)
        textKeys.reserve(wanted)
        handles.reserve(wanted)
    }

    /// Prefetches the item's first number and state while its key is compared.
    @inline(__always)
    func prefetch(_ row: UInt32) {
        _ = firstInteger?._withUnsafeGuaranteedRef { $0.numbers.words.prefetch(row) }
        states.prefetch(row)
        textKeys.prefetch(row)
    }

    /// Makes a row in state `draft` with its fields unset; `isNew` tells that the columns lacked it.
    @inline(__always)
    mutating func makeRow(
        key: PackedKey = PackedKey(high: 0, low: 0), isTextKey: Bool = false
    ) -> (row: UInt32, isNew: Bool) {
        // A snapshot may still read the free rows.
        if !freeRows.isEmpty, !hasSnapshot, let row = freeRows.popLast() {
            for number in 0..<UInt32(columns.count) { _ = withColumn(ItemField(rawValue: number)) { $0.clear(row) } }
            keys[row] = key
            textKeys[row] = isTextKey
            states[row] = State.draft.rawValue
            return (row, false)
        }
        let row = UInt32(states.count)
        keys.append(key)
        custom.append(.none)
        states.append(State.draft.rawValue)
        textKeys.append(isTextKey)
        handles.append(nil)
        return (row, true)
    }

    /// Frees a row that is no longer referenced.
    mutating func freeRow(_ row: UInt32) {
        states[row] = State.free.rawValue
        var block = custom.isPresent(row) ? custom[row] : .none
        if !(hasSnapshot && copiedBlocks?.retire(row, block) == true) { block.release() }
        custom[row] = .none
        if generations.count <= Int(row) {
            generations.append(contentsOf: repeatElement(0, count: max(Int(row) + 1 - generations.count, 64)))
        }
        generations[Int(row)] &+= 1
        // A row whose generation would overflow is not reused: one in 65,535 that come and go.
        if generations[Int(row)] < .max { freeRows.append(row) }
    }

    /// The number of items that had the row before the current one: with the row, it identifies the item permanently.
    @inline(__always)
    func generation(_ row: UInt32) -> UInt16 {
        Int(row) < generations.count ? generations[Int(row)] : 0
    }

    // MARK: Snapshots

    /// Whether a snapshot is in use.
    package var hasSnapshot: Bool {
        mutating get {
            if copiedBlocks == nil { return false }
            if !isKnownUniquelyReferenced(&copiedBlocks) { return true }
            copiedBlocks = nil
            return false
        }
    }

    /// Lets a snapshot share the blocks of custom fields.
    mutating func shareBlocks() -> CopiedBlocks {
        if hasSnapshot, let copiedBlocks {
            copiedBlocks.renew()
            return copiedBlocks
        }
        let fresh = CopiedBlocks()
        copiedBlocks = fresh
        return fresh
    }

    // MARK: The archive

    /// Maps `count` items of an archive into the empty table.
    mutating func map(_ count: Int, customKinds: [UInt16], _ source: any RowSource) {
        forEachDeclared { $1.map(count, $0, source) }
        keys.map(count, .key, source)
        textKeys.map(count, .keyKind, source)
        handles.fillWithZeros(count)
        states.fillWithZeros(count)
        self.customKinds = customKinds
        hasCustomFields = customKinds.contains { $0 != 0 }
        isMapped = true
        if hasCustomFields { custom.map(count, .custom, source) } else { custom.fillWithZeros(count) }
    }

    /// Sets a field in an item's block.
    ///
    /// - Returns: whether the block lacked it.
    mutating func setInBlock(_ row: UInt32, _ field: UInt32, _ cell: Cell) -> Bool {
        hasCustomFields = true
        var block = custom[row]
        if hasSnapshot, copiedBlocks?.retire(row, block) == true { block = block.copy() }
        let count = block.count
        block.set(field, cell)
        custom[row] = block
        return block.count > count
    }

    @inline(__always)
    mutating func record(_ cell: Cell, in field: Int) {
        while customKinds.count <= field { customKinds.append(0) }
        if !cell.isAbsent { customKinds[field] |= cell.kind.bit }
    }

    /// The kinds of cells that a custom field has ever had; nil if it was never set.
    func kinds(_ field: ItemField) -> UInt16? {
        Int(field.rawValue) < customKinds.count ? customKinds[Int(field.rawValue)] : nil
    }

    /// Recounts the kinds of cells of a custom field, after values of another kind have replaced all others. Rows out
    /// of the store count, too: the history may restore them.
    mutating func recountKinds(_ field: ItemField) {
        guard field.rawValue > keyField.rawValue, Int(field.rawValue) < customKinds.count else { return }
        customKinds[Int(field.rawValue)] = 0
        for row in 0..<UInt32(rowCount) { record(cell(row, field), in: Int(field.rawValue)) }
    }

    func soleKind(_ field: ItemField) -> FieldKind {
        if let column = column(field), let kind = column.declared?.kind {
            return column.misfits.isEmpty ? kind : .mixed
        }
        guard let kinds = kinds(field), kinds != 0 else { return .mixed }
        if kinds.isOnly(.shortText, .longText) { return .text }
        if kinds.isOnly(.integer) { return .integer }
        return kinds.isOnly(.date) ? .date : .mixed
    }

    /// The kind of a field for an index: numbers of all kinds are one, and a field without values counts as text.
    func indexedKind(_ field: ItemField) -> IndexedKind {
        let isDeclared = declared(field) != nil
        switch soleKind(field) {
        case .text: return .text
        case .integer: return isDeclared ? .integer : .number
        case .date: return isDeclared ? .date : .dateCell
        case .mixed:
            let kinds = kinds(field) ?? 0
            if isDeclared || !kinds.isOnly(.integer, .real, .single) { return .mixed }
            return kinds == 0 ? .text : .number
        }
    }

    // MARK: Keys

    /// Sets a draft's key.
    mutating func setKey(_ row: UInt32, _ key: PackedKey) {
        keys[row] = key
        textKeys[row] = false
    }

    /// The same for a key that is not a UUID.
    mutating func setKey(_ row: UInt32, text: Cell) {
        keys[row] = PackedKey(text: text)
        textKeys[row] = true
    }

    /// The key's text.
    func keyString(_ row: UInt32) -> String {
        textKeys[row] ? CellHeap.string(keys[row].cell) : keys[row].uuidString
    }

    /// Calls `body` with the key's bytes.
    func withKey<Result, Failure: Error>(
        _ row: UInt32, _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let key = keys[row]
        if textKeys[row] { return try key.cell.withText(body) }
        var bytes: (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)
        return try withUnsafeMutableBytes(of: &bytes) { buffer throws(Failure) in
            let bytes = buffer.assumingMemoryBound(to: UInt8.self)
            if let base = bytes.baseAddress { key.writeUUID(to: base) }
            return try body(UnsafeBufferPointer(rebasing: bytes[..<PackedKey.textCount]))
        }
    }
}
