/// The items' fields, a column a field, a row an item.
///
/// A row is an item's number for as long as anything knows the item: the store, its history, or an `Item`. Rows have no
/// order; `ItemOrder` has it.
package struct ItemTable: ~Copyable {
    /// What a row is.
    package enum State: UInt8 {
        /// Its number is 0: the rows of a mapped archive are live without being written.
        case live
        /// An item that is being made, not yet in the store.
        case draft
        /// Nothing; may be given to a new item.
        case free
        /// Out of the store; the history may bring it back.
        case removed
        /// Out of the store for good; an `Item` still points at it.
        case dead
    }

    var names = Column<Cell>()
    var serials = Column<Cell>()
    var values = Column<Int64>()
    /// Seconds since the reference date.
    var dates = Column<Double>()
    var keys = Column<PackedKey>()
    var custom = Column<CustomFields>()
    var states = Column<UInt8>()
    /// Whether the key is a text and not a packed UUID, one byte an item.
    var textKeys = Column<Bool>()
    /// The address of the one object of each row, which its owner makes; not retained: its end clears the slot.
    var handles = Column<UnsafeRawPointer?>()
    private var freeRows: [UInt32] = []
    /// How often each row was given back; no entry stands for never.
    private var generations: [UInt16] = []
    /// By number of a custom field, the kinds of cells that it has ever held, a bit a kind.
    private var customKinds: [UInt16] = []
    /// By number of a field behind the domain's; nil for those in blocks. See `ItemTable+Fields.swift`.
    var columns: [FieldColumn?] = []
    /// The fields that have a column, ascending.
    var columnNumbers: [UInt32] = []
    /// In how many blocks each field has been put.
    var blockCounts: [Int] = []
    /// Whether fields of items may still be in an archive alone.
    private(set) var isMapped = false

    /// What the snapshots that are still in use need; nil when there is none.
    private var copiedBlocks: CopiedBlocks?
    /// Whether some item has or had a custom field: else there is nothing to free.
    private var hasCustomFields = false

    deinit {
        guard hasCustomFields else { return }
        for row in 0..<UInt32(custom.count) where custom.isPresent(row) { custom.pointer(row).pointee.release() }
    }

    var rowCount: Int { states.count }

    @inline(__always)
    func state(_ row: UInt32) -> State {
        State(rawValue: states[row]) ?? .free
    }

    mutating func reserve(_ wanted: Int) {
        names.reserve(wanted)
        serials.reserve(wanted)
        values.reserve(wanted)
        dates.reserve(wanted)
        keys.reserve(wanted)
        custom.reserve(wanted)
        states.reserve(wanted)
        textKeys.reserve(wanted)
        handles.reserve(wanted)
    }

    /// Prefetches the elements that the journal's record of a changed value reads.
    @inline(__always)
    func prefetchChanged(_ row: UInt32) {
        keys.prefetch(row)
        prefetch(row)
    }

    /// Prefetches the item's value and state while its key is compared.
    @inline(__always)
    func prefetch(_ row: UInt32) {
        values.prefetch(row)
        states.prefetch(row)
        textKeys.prefetch(row)
    }

    /// A row in state `draft` with the fields given, and whether it is one that the columns did not have.
    @inline(__always)
    mutating func makeRow(
        name: Cell = Cell(.shortText), serial: Cell = .absent, value: Int64 = 0, date: Double = 0,
        key: PackedKey = PackedKey(high: 0, low: 0), isTextKey: Bool = false
    ) -> (row: UInt32, isNew: Bool) {
        // A snapshot may still read the free rows.
        if !freeRows.isEmpty, !hasSnapshot, let row = freeRows.popLast() {
            copyIfShared()
            for number in columnNumbers { column(number)?.clear(row) }
            names[row] = name
            serials[row] = serial
            values[row] = value
            dates[row] = date
            keys[row] = key
            textKeys[row] = isTextKey
            states[row] = State.draft.rawValue
            return (row, false)
        }
        let row = UInt32(states.count)
        names.append(name)
        serials.append(serial)
        values.append(value)
        dates.append(date)
        keys.append(key)
        custom.append(.none)
        states.append(State.draft.rawValue)
        textKeys.append(isTextKey)
        handles.append(nil)
        return (row, true)
    }

    /// Gives a row back, once nothing knows it.
    mutating func freeRow(_ row: UInt32) {
        states[row] = State.free.rawValue
        var block = custom.isPresent(row) ? custom[row] : .none
        if !(hasSnapshot && copiedBlocks?.retire(row, block) == true) { block.release() }
        custom.copyIfShared()
        custom[row] = .none
        if generations.count <= Int(row) {
            generations.append(contentsOf: repeatElement(0, count: max(Int(row) + 1 - generations.count, 64)))
        }
        generations[Int(row)] &+= 1
        // A row whose number of owners can't be told any more is left alone: one in 65,535 that come and go.
        if generations[Int(row)] < .max { freeRows.append(row) }
    }

    /// How many items had the row before the one that has it now: with the row, it names the item for good.
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

    /// Copy on write: copies the columns that a snapshot shares, before rows that it has are changed.
    private mutating func copyIfShared() {
        names.copyIfShared()
        serials.copyIfShared()
        values.copyIfShared()
        dates.copyIfShared()
        keys.copyIfShared()
        textKeys.copyIfShared()
        custom.copyIfShared()
    }

    /// The address of the row's object; nil when there is none.
    @inline(__always)
    func handle(_ row: UInt32) -> UnsafeRawPointer? { handles[row] }

    @inline(__always)
    func setHandle(_ row: UInt32, _ handle: UnsafeRawPointer?) { handles[row] = handle }

    // MARK: The archive

    /// Makes the empty table one of `count` items that are all still in an archive.
    mutating func map(_ count: Int, customKinds: [UInt16], _ source: any RowSource) {
        names.map(count, .name, source)
        serials.map(count, .serialNumber, source)
        values.map(count, .valueInDollars, source, isDense: true)
        dates.map(count, .dateCreated, source)
        keys.map(count, .key, source)
        textKeys.map(count, .keyKind, source)
        handles.fillWithZeros(count)
        states.fillWithZeros(count)
        self.customKinds = customKinds
        hasCustomFields = customKinds.contains { $0 != 0 }
        isMapped = true
        if hasCustomFields { custom.map(count, .custom, source) } else { custom.fillWithZeros(count) }
    }

    /// By number of a custom field, the kinds of cells that it has ever held, a bit a kind.
    var fieldKinds: [UInt16] { customKinds }

    /// A field's value; absent for `itemKey`, which is no cell.
    @inline(__always)
    func cell(_ row: UInt32, _ field: ItemField) -> Cell {
        switch field {
        case .name: names[row]
        case .serialNumber: serials[row]
        case .valueInDollars: .integer(values[row])
        case .dateCreated: .date(dates[row])
        case .itemKey: .absent
        default: customCell(row, field.rawValue)
        }
    }

    /// Whether a field has the value that the archive has, and that nobody has looked at.
    func isArchived(_ row: UInt32, _ field: ItemField) -> Bool {
        switch field {
        case .name: !names.isPresent(row)
        case .serialNumber: !serials.isPresent(row)
        case .valueInDollars: !values.isPresent(row)
        case .dateCreated: !dates.isPresent(row)
        // Custom fields share a block.
        default: false
        }
    }

    /// Gives a field of a mapped row the value that the archive has.
    func resetToArchived(_ row: UInt32, _ field: ItemField) {
        switch field {
        case .name: names.forget(row)
        case .serialNumber: serials.forget(row)
        case .valueInDollars: values.forget(row)
        case .dateCreated: dates.forget(row)
        default: break
        }
    }

    /// Sets a field to a cell of a kind that the field takes.
    @inline(__always)
    mutating func setCell(_ row: UInt32, _ field: ItemField, _ cell: Cell) {
        switch field {
        case .name:
            names.copyIfShared()
            names[row] = cell
        case .serialNumber:
            serials.copyIfShared()
            serials[row] = cell
        case .valueInDollars:
            values.copyIfShared()
            values[row] = cell.integerValue
        case .dateCreated:
            dates.copyIfShared()
            dates[row] = cell.realValue
        case .itemKey: break
        default: setCustomCell(row, field.rawValue, cell)
        }
    }

    /// Sets a field in an item's block.
    ///
    /// - Returns: whether the block did not have it.
    mutating func setInBlock(_ row: UInt32, _ field: UInt32, _ cell: Cell) -> Bool {
        custom.copyIfShared()
        hasCustomFields = true
        var block = custom[row]
        if hasSnapshot, copiedBlocks?.retire(row, block) == true { block = block.copy() }
        let count = block.count
        block.set(field, cell)
        custom[row] = block
        return block.count > count
    }

    @inline(__always)
    mutating func note(_ cell: Cell, in field: Int) {
        while customKinds.count <= field { customKinds.append(0) }
        if !cell.isAbsent { customKinds[field] |= 1 << UInt16(cell.kind.rawValue) }
    }

    /// What a custom field holds wherever it holds anything.
    enum SoleKind {
        case text, integer, date, mixed
    }

    func soleKind(_ field: UInt32) -> SoleKind {
        guard Int(field) < customKinds.count else { return .mixed }
        let kinds = customKinds[Int(field)]
        func only(_ allowed: Cell.Kind...) -> Bool {
            kinds != 0 && allowed.reduce(kinds) { $0 & ~(1 << UInt16($1.rawValue)) } == 0
        }
        if only(.shortText, .longText) { return .text }
        if only(.integer) { return .integer }
        return only(.date) ? .date : .mixed
    }

    /// The same for an index: numbers of all kinds are one, and what is never there is text.
    func indexedKind(_ field: UInt32) -> IndexedKind {
        guard Int(field) < customKinds.count else { return .text }
        let kinds = customKinds[Int(field)]
        func only(_ allowed: Cell.Kind...) -> Bool {
            allowed.reduce(kinds) { $0 & ~(1 << UInt16($1.rawValue)) } == 0
        }
        if only(.shortText, .longText) { return .text }
        if only(.integer, .real, .single) { return .number }
        return only(.date) ? .date : .mixed
    }

    // MARK: Keys

    /// The key: packed, or the cell of its text.
    @inline(__always)
    func key(_ row: UInt32) -> PackedKey { keys[row] }

    /// Whether the key is a text and not a packed UUID.
    @inline(__always)
    func hasTextKey(_ row: UInt32) -> Bool { textKeys[row] }

    /// Gives a draft its key.
    func setKey(_ row: UInt32, _ key: PackedKey) {
        keys[row] = key
        textKeys[row] = false
    }

    /// The same with a key that is no UUID.
    func setKey(_ row: UInt32, text: Cell) {
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
        try Self.withKey(keys[row], isText: textKeys[row], body)
    }

    /// Calls `body` with a key's bytes.
    static func withKey<Result, Failure: Error>(
        _ key: PackedKey, isText: Bool, _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if isText { return try key.cell.withText(body) }
        var bytes: (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)
        return try withUnsafeMutableBytes(of: &bytes) { buffer throws(Failure) in
            let bytes = buffer.assumingMemoryBound(to: UInt8.self)
            if let base = bytes.baseAddress { key.writeUUID(to: base) }
            return try body(UnsafeBufferPointer(rebasing: bytes[..<PackedKey.textCount]))
        }
    }
}
