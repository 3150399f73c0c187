package import PropertyList

/// The items at one moment, for another thread to write.
///
/// Taking one copies nothing: it shares the store's columns, which the store copies before it changes a row, and reads
/// rows that are not in memory from the mapped archive. Complexity of taking one: a bit for each mapped item; of the
/// first change of a column afterwards: a copy of that column.
package final class ItemSnapshot: @unchecked Sendable {
    // Guard: shared data does not change (`Column`, `CopiedBlocks`); `source` and `rows` belong to the one thread that
    // reads the snapshot; another thread has a copy.
    private let contents: Contents
    /// The columns of the contents. Unretained: reference counting would cost more than the access.
    private let columns: [Unmanaged<SharedFieldColumn>?]
    private let heap: CellHeap
    private let source: (any RowSource)?
    private lazy var rows: [UInt32]? = contents.slots.map { slots in
        slots.count == count ? slots : slots.filter { $0 != ItemOrder.hole }
    }

    /// The contents shared with the copies for other threads.
    private struct Contents {
        let count: Int
        let schema: ItemSchema
        let keyField: ItemField
        let fieldNames: [String]
        let fieldKinds: [UInt16]
        let keys: SharedColumn<PackedKey>
        let textKeys: SharedColumn<Bool>
        let custom: SharedColumn<CustomFields>
        /// By field number.
        let columns: [SharedFieldColumn?]
        let columnNumbers: [UInt32]
        let copiedBlocks: CopiedBlocks
        /// The rows in order; nil if each is at its own position.
        let slots: [UInt32]?
        /// The key of each copied item's original, by the copy's key.
        let copies: NameTable<String>
        let declarations: FieldDeclarations

        init(_ store: ColumnStore) {
            store.recordWholeRead()
            count = store.order.count
            (schema, keyField) = (store.schema, store.keyField)
            fieldNames = store.fields.names
            fieldKinds = store.table.customKinds
            keys = store.table.keys.share()
            textKeys = store.table.textKeys.share()
            custom = store.table.custom.share()
            columns = (0..<UInt32(store.fields.names.count)).map {
                store.table.column(ItemField(rawValue: $0)).map { SharedFieldColumn($0) }
            }
            columnNumbers = store.table.columnNumbers
            copiedBlocks = store.table.shareBlocks()
            slots = store.order.snapshot
            copies = store.document.copies
            declarations = store.declarations
        }
    }

    package convenience init(_ store: ColumnStore) {
        self.init(Contents(store), store.heap, store.document.source)
    }

    /// A copy for another thread.
    package convenience init(_ other: ItemSnapshot) { self.init(other.contents, other.heap, other.source) }

    private init(_ contents: Contents, _ heap: CellHeap, _ source: (any RowSource)?) {
        self.contents = contents
        columns = contents.columns.map { $0.map(Unmanaged.passUnretained) }
        self.source = source?.copy()
        var heap = heap
        heap.faulted = self.source?.values
        self.heap = heap
    }

    /// The number of items.
    package var count: Int { contents.count }
    package var fieldNames: [String] { contents.fieldNames }
    /// The fields of every item.
    package var schema: ItemSchema { contents.schema }
    /// By field number, the kinds of its cells.
    package var fieldKinds: [UInt16] { contents.fieldKinds }

    /// The declared fields.
    package var declarations: FieldDeclarations { contents.declarations }

    /// Whether all items are in memory.
    package var isInMemory: Bool { source == nil }

    /// Whether a declared field has values of other kinds, or lacks some.
    package var hasMisfits: Bool { contents.columns.contains { $0?.misfits.isEmpty == false } }

    /// Whether a part of the archive was unreadable.
    package var isDamaged: Bool { source?.isDamaged ?? false }

    /// The row of the item at a position.
    @inline(__always)
    package func row(at position: Int) -> UInt32 { contents.slots == nil ? UInt32(position) : rows?[position] ?? 0 }

    /// A field's cell; absent for `itemKey`.
    package func cell(_ position: Int, _ field: ItemField) -> Cell {
        let row = row(at: position)
        guard let column = columns[Int(field.rawValue)] else { return .absent }
        return column._withUnsafeGuaranteedRef { $0.cell(row) } ?? source?.cell(row, of: field) ?? .absent
    }

    package func key(_ position: Int) -> PackedKey {
        contents.keys.element(row(at: position), .key, source, PackedKey(high: 0, low: 0))
    }

    package func isTextKey(_ position: Int) -> Bool {
        contents.textKeys.element(row(at: position), .keyKind, source, false)
    }

    /// Calls `body` with each custom field of an item and its cell, in the order of the fields' numbers.
    package func forEachCustomField<Failure: Error>(
        _ position: Int, _ body: (UInt32, Cell) throws(Failure) -> Void
    ) throws(Failure) {
        guard fieldNames.count > contents.keyField.rawValue + 1 else { return }
        let row = row(at: position)
        let present = contents.custom[row]
        var block = present ?? .none
        if present == nil { source?.load(.custom, row, to: &block) }
        defer { if present == nil { block.release() } }
        try FieldMerge.forEach(
            block, contents.columnNumbers,
            { columns[Int($0)]?._withUnsafeGuaranteedRef { $0.cell(row) } ?? .absent }, body)
    }

    package func value(_ cell: Cell) -> PropertyListValue? { heap.value(cell) }

    /// The text of an item's key.
    package func keyString(_ position: Int) -> String {
        isTextKey(position) ? CellHeap.string(key(position).cell) : key(position).uuidString
    }

    /// The key of the original of an item that was copied in this process.
    package func source(ofCopy key: String) -> String? { contents.copies[key] }

    /// An item's fields by name, including `itemKey`, for a persistence that stores whole records; null for a field of
    /// every item that it lacks.
    package func values(at position: Int) -> PropertyListFields {
        var result = PropertyListFields()
        result[fieldNames[Int(contents.keyField.rawValue)]] = .string(keyString(position))
        for number in 0..<contents.keyField.rawValue {
            let cell = cell(position, ItemField(rawValue: number))
            let isLacking = cell.isAbsent && columns[Int(number)]?.takeUnretainedValue().isOptional == false
            result[fieldNames[Int(number)]] = isLacking ? .null : value(cell)
        }
        forEachCustomField(position) { field, cell in result[fieldNames[Int(field)]] = heap.value(cell) }
        return result
    }
}

/// A field column's state when a snapshot was taken.
final class SharedFieldColumn: @unchecked Sendable {
    // Guard: `SharedColumn`'s for the memory; the rest are values.
    private let encoding: FieldColumn.Encoding
    private let isDeclared: Bool
    private let unset: Cell
    /// Whether an item may lack the field.
    var isOptional: Bool { unset.isAbsent }
    private let count: Int
    private let numbers: SharedNumberRows
    private let codes: SharedColumn<UInt32>
    private let cells: SharedColumn<Cell>
    private let dictionary: [Cell]
    private let entries: [UInt32: Cell]
    /// The cells that are not of the field's declared kind.
    let misfits: MisfitCells

    /// Copies nothing: the column copies before later changes.
    init(_ column: FieldColumn) {
        encoding = column.encoding
        isDeclared = column.isDeclared
        unset = column.unset
        count = column.count
        numbers = column.numbers.share()
        codes = column.coded.share()
        cells = column.cells.share()
        dictionary = column.coded.dictionary.cells
        entries = column.entries
        misfits = column.misfits
    }

    /// The cell of a row; nil if it is only in the archive.
    @inline(__always)
    func cell(_ row: UInt32) -> Cell? {
        switch encoding {
        case .sparse: return entries[row] ?? .absent
        case _ where Int(row) >= count: return unset
        case .numbers(let kind):
            if let misfit = misfits[row] { return misfit }
            return isDeclared || numbers.isPresent(row) ? numbers.cell(row, kind) : .absent
        case .codes: return dictionary[Int(codes[row] ?? 0)]
        case .cells: return cells[row]
        }
    }
}
