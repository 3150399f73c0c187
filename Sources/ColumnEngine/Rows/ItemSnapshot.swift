package import PropertyList

/// The items at one moment, for another thread to write.
///
/// Taking one copies nothing: it shares the store's columns, which the store leaves to it before it changes a row, and
/// reads rows that nobody has touched from the mapped archive itself. Complexity of taking one: a bit for each mapped
/// item; of the first change of a column afterwards: a copy of that column.
public final class ItemSnapshot: @unchecked Sendable {
    // Guard: what is shared does not change (`Column`, `CopiedBlocks`); `source` and `rows` are for the one thread that
    // reads the snapshot; another has a copy.
    public let count: Int
    package let fieldNames: [String]
    /// By number of a field, the kinds of its cells.
    package let fieldKinds: [UInt16]
    private let names: SharedColumn<Cell>
    private let serials: SharedColumn<Cell>
    private let values: SharedColumn<Int64>
    private let dates: SharedColumn<Double>
    private let keys: SharedColumn<PackedKey>
    private let textKeys: SharedColumn<Bool>
    private let custom: SharedColumn<CustomFields>
    private let columns: [UInt32: SharedFieldColumn]
    private let columnNumbers: [UInt32]
    private let copiedBlocks: CopiedBlocks
    private let heap: CellHeap
    private let source: (any RowSource)?
    /// By the key of a copy, the key of the item that it was made from.
    private let copies: [String: String]
    /// The rows in order; nil when each is at its own position.
    private let slots: [UInt32]?
    private lazy var rows: [UInt32]? = slots.map { slots in
        slots.count == count ? slots : slots.filter { $0 != ItemOrder.hole }
    }

    package init(_ store: ColumnStore) {
        count = store.order.count
        fieldNames = store.fields.names
        fieldKinds = store.table.fieldKinds
        names = store.table.names.share()
        serials = store.table.serials.share()
        values = store.table.values.share()
        dates = store.table.dates.share()
        keys = store.table.keys.share()
        textKeys = store.table.textKeys.share()
        custom = store.table.custom.share()
        columnNumbers = store.table.columnNumbers
        var columns: [UInt32: SharedFieldColumn] = [:]
        for number in columnNumbers { columns[number] = store.table.column(number).map { SharedFieldColumn($0) } }
        self.columns = columns
        copiedBlocks = store.table.shareBlocks()
        slots = store.order.snapshot
        copies = store.copies
        var heap = store.heap
        source = store.rowSource?.copy()
        heap.faulted = source?.values
        self.heap = heap
    }

    /// The same for another thread.
    package init(_ other: ItemSnapshot) {
        count = other.count
        fieldNames = other.fieldNames
        fieldKinds = other.fieldKinds
        names = other.names
        serials = other.serials
        values = other.values
        dates = other.dates
        keys = other.keys
        textKeys = other.textKeys
        custom = other.custom
        columns = other.columns
        columnNumbers = other.columnNumbers
        copiedBlocks = other.copiedBlocks
        slots = other.slots
        copies = other.copies
        var heap = other.heap
        source = other.source?.copy()
        heap.faulted = source?.values
        self.heap = heap
    }

    /// Whether all items are in memory and none is only in the mapped archive.
    package var isInMemory: Bool { source == nil }

    private var isInRowOrder: Bool { slots == nil }

    /// Whether something of the archive could not be read.
    package var isDamaged: Bool { source?.isDamaged ?? false }

    @inline(__always)
    private func row(_ position: Int) -> UInt32 { isInRowOrder ? UInt32(position) : rows?[position] ?? 0 }

    @inline(__always)
    private func element<Element: BitwiseCopyable>(
        _ column: borrowing SharedColumn<Element>, _ kind: MappedColumn, _ position: Int, _ empty: Element
    ) -> Element {
        let row = row(position)
        if let element = column[row] { return element }
        var element = empty
        source?.load(kind, row, to: &element)
        return element
    }

    @inline(never)
    package func name(_ position: Int) -> Cell { element(names, .name, position, Cell(.shortText)) }
    @inline(never)
    package func serialNumber(_ position: Int) -> Cell { element(serials, .serialNumber, position, .absent) }
    @inline(never)
    package func valueInDollars(_ position: Int) -> Int64 { element(values, .valueInDollars, position, 0) }
    @inline(never)
    package func dateCreated(_ position: Int) -> Double { element(dates, .dateCreated, position, 0) }
    @inline(never)
    package func key(_ position: Int) -> PackedKey { element(keys, .key, position, PackedKey(high: 0, low: 0)) }
    @inline(never)
    package func isTextKey(_ position: Int) -> Bool { element(textKeys, .keyKind, position, false) }

    /// Calls `body` with each custom field of an item and its cell, in the order of the fields' numbers.
    @inline(never)
    package func forEachCustomField<Failure: Error>(
        _ position: Int, _ body: (UInt32, Cell) throws(Failure) -> Void
    ) throws(Failure) {
        guard fieldNames.count > ItemField.domain.count else { return }
        let row = row(position)
        let present = custom[row]
        var block = present ?? .none
        if present == nil { source?.load(.custom, row, to: &block) }
        defer { if present == nil { block.release() } }
        try FieldMerge.forEach(block, columnNumbers, { columns[$0]?.cell(row) ?? .absent }, body)
    }

    @inline(never)
    package func value(_ cell: Cell) -> PropertyListValue? { heap.value(cell) }

    /// The key's text of an item.
    @inline(never)
    package func keyString(_ position: Int) -> String {
        isTextKey(position) ? CellHeap.string(key(position).cell) : key(position).uuidString
    }

    /// Calls `body` with the bytes of an item's key.
    func withKey<Result, Failure: Error>(
        _ position: Int, _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try ItemTable.withKey(key(position), isText: isTextKey(position), body)
    }

    /// The key of the item that an item was copied from, in this process.
    @inline(never)
    package func source(ofCopy key: String) -> String? { copies[key] }

    /// The items' fields, for a persistence that keeps whole records.
    public func fields(at position: Int) -> ItemFields {
        let serial = serialNumber(position)
        var result = ItemFields(
            name: CellHeap.string(name(position)), serialNumber: serial.isAbsent ? nil : CellHeap.string(serial),
            valueInDollars: valueInDollars(position),
            dateCreated: PropertyListDate(secondsSinceReferenceDate: dateCreated(position)),
            itemKey: keyString(position))
        forEachCustomField(position) { field, cell in
            result.custom[fieldNames[Int(field)]] = heap.value(cell)
        }
        return result
    }
}
