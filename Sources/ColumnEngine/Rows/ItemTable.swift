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

    /// By number of a field, retained; nil for `itemKey` and fields in blocks. See `ItemTable+Fields.swift`.
    var columns = Column<Unmanaged<FieldColumn>?>()
    /// The number of the key, behind those of the declared fields.
    let keyField: ItemField
    /// The column of the first declared integers, which scripts change most.
    private let firstInteger: Unmanaged<FieldColumn>?
    /// The fields beyond the domain's that have a column, ascending.
    var columnNumbers: [UInt32] = []
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
    /// In how many blocks each field has been put.
    var blockCounts: [Int] = []
    /// Whether fields of items may still be in an archive alone.
    private(set) var isMapped = false

    /// What the snapshots that are still in use need; nil when there is none.
    private var copiedBlocks: CopiedBlocks?
    /// Whether some item has or had a custom field: else there is nothing to free.
    private var hasCustomFields = false

    init(_ declarations: [FieldDeclaration]) {
        let declared = declarations.map { Unmanaged.passRetained(FieldColumn($0)) }
        keyField = ItemField(rawValue: UInt32(declared.count))
        firstInteger = zip(declarations, declared).first { $0.0.kind == .integer }?.1
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

    /// Prefetches the elements that the journal's record of a changed value reads.
    @inline(__always)
    func prefetchChanged(_ row: UInt32, _ field: ItemField) {
        keys.prefetch(row)
        textKeys.prefetch(row)
        prefetch(row, field)
    }

    /// Prefetches the item's first number and state while its key is compared.
    @inline(__always)
    func prefetch(_ row: UInt32) {
        _ = firstInteger?._withUnsafeGuaranteedRef { $0.words.prefetch(row) }
        states.prefetch(row)
        textKeys.prefetch(row)
    }

    /// A row in state `draft` with its fields unset, and whether it is one that the columns did not have.
    @inline(__always)
    mutating func makeRow(
        key: PackedKey = PackedKey(high: 0, low: 0), isTextKey: Bool = false
    ) -> (row: UInt32, isNew: Bool) {
        // A snapshot may still read the free rows.
        if !freeRows.isEmpty, !hasSnapshot, let row = freeRows.popLast() {
            keys.copyIfShared()
            textKeys.copyIfShared()
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

    /// The address of the row's object; nil when there is none.
    @inline(__always)
    func handle(_ row: UInt32) -> UnsafeRawPointer? { handles[row] }

    @inline(__always)
    func setHandle(_ row: UInt32, _ handle: UnsafeRawPointer?) { handles[row] = handle }

    // MARK: The archive

    /// Makes the empty table one of `count` items that are all still in an archive.
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

    /// By number of a custom field, the kinds of cells that it has ever held, a bit a kind.
    var fieldKinds: [UInt16] { customKinds }

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

    /// The kinds of cells that a custom field has ever held; nil when it was never set.
    func kinds(_ field: ItemField) -> UInt16? {
        Int(field.rawValue) < customKinds.count ? customKinds[Int(field.rawValue)] : nil
    }

    /// Counts anew which kinds of cells a custom field has, after values of another kind have replaced all others. Rows that
    /// are out of the store count, too: the history may bring them back.
    mutating func recountKinds(_ field: ItemField) {
        guard field.rawValue > keyField.rawValue, Int(field.rawValue) < customKinds.count else { return }
        customKinds[Int(field.rawValue)] = 0
        for row in 0..<UInt32(rowCount) { note(cell(row, field), in: Int(field.rawValue)) }
    }

    func soleKind(_ field: ItemField) -> FieldKind {
        if let kind = column(field)?.declaredKind { return kind }
        guard let kinds = kinds(field), kinds != 0 else { return .mixed }
        if Self.areOnly(kinds, .shortText, .longText) { return .text }
        if Self.areOnly(kinds, .integer) { return .integer }
        return Self.areOnly(kinds, .date) ? .date : .mixed
    }

    /// The same for an index: numbers of all kinds are one, and what is never there is text.
    func indexedKind(_ field: ItemField) -> IndexedKind {
        switch column(field)?.declaredKind {
        case .text?: return .text
        case .integer?: return .integer
        case .date?: return .date
        case .mixed?: return .mixed
        case nil: break
        }
        guard let kinds = kinds(field) else { return .text }
        if Self.areOnly(kinds, .shortText, .longText) { return .text }
        if Self.areOnly(kinds, .integer, .real, .single) { return .number }
        return Self.areOnly(kinds, .date) ? .dateCell : .mixed
    }

    private static func areOnly(_ kinds: UInt16, _ allowed: Cell.Kind...) -> Bool {
        allowed.reduce(kinds) { $0 & ~(1 << UInt16($1.rawValue)) } == 0
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
