package import PropertyList

/// A store's rows for the encoders of a persistence: read by number, without boxing each value.
///
/// Not inlined into another module: see `ColumnStore+Access.swift`.
package struct ItemRows {
    private let store: ColumnStore

    package init(_ store: ColumnStore) { self.store = store }

    /// A field's value; absent for `itemKey`.
    @inline(never)
    package func cell(_ row: UInt32, _ field: ItemField) -> Cell { store.table.cell(row, field) }

    @inline(never)
    package func key(_ row: UInt32) -> PackedKey { store.table.key(row) }

    /// Whether the key is a text and not a packed UUID.
    @inline(never)
    package func hasTextKey(_ row: UInt32) -> Bool { store.table.hasTextKey(row) }

    /// The number of items.
    package var count: Int {
        @inline(never) get { store.order.count }
    }

    @inline(never)
    package func row(at position: Int) -> UInt32 { store.order.row(at: position) }

    @inline(never)
    package func position(of row: UInt32) -> Int { store.order.position(of: row) }

    @inline(never)
    package func keyString(_ row: UInt32) -> String { store.table.keyString(row) }

    /// Calls `body` with each custom field of an item and its cell, in the order of the fields' numbers.
    @inline(never)
    package func forEachCustomField(_ row: UInt32, _ body: (UInt32, Cell) -> Void) {
        store.table.forEachCustomCell(row, body)
    }

    /// The value of a cell that is neither a number nor a text.
    @inline(never)
    package func value(ofBox cell: Cell) -> PropertyListValue { store.heap.value(ofBox: cell) }

    @inline(never)
    func value(_ row: UInt32, _ field: ItemField) -> PropertyListValue? { store.value(row, field) }

    @inline(never)
    func values(_ row: UInt32) -> PropertyListFields {
        store.dictionary(of: row, marksAbsent: true)
    }

    @inline(never)
    package func name(ofField number: UInt32) -> String { store.fields.names[Int(number)] }

    /// The field of an item's attachments; nil while no item has had it.
    package var attachmentField: ItemField? { store.attachmentField }

    /// The SHA-256 of each of an item's attachments, in order.
    package func digests(_ row: UInt32) -> [[UInt8]] { store.digests(row) }

    /// Prefetches the key and the field of a changed item.
    @inline(never)
    package func prefetch(_ row: UInt32, _ field: ItemField) { store.table.prefetchChanged(row, field) }

    /// The item's place in the archive that the journal follows; nil if it has none, or its key is not a UUID.
    ///
    /// A row that was never freed has the item that it had when the archive was written.
    @inline(never)
    package func archivedPlace(_ row: UInt32) -> UInt32? {
        row < store.archivedPlaces.limit && store.table.generation(row) == 0 && !store.table.hasTextKey(row) ? row : nil
    }

    /// The key of the item that a new item was copied from, if the document holds more of that than its fields.
    @inline(never)
    package func source(ofCopy row: UInt32) -> String? {
        store.copies.isEmpty ? nil : store.copies[store.table.keyString(row)]
    }
}
