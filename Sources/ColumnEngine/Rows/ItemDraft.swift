package import PropertyList

/// A new item: its fields are set without events, then it is inserted into its store, or ``discard()``ed.
///
/// Not inlined into another module: see `ColumnStore+Access.swift`.
package struct ItemDraft {
    let store: ColumnStore
    package let row: UInt32

    /// Sets a field by number; `itemKey`, too, to an unused string.
    @inline(never)
    package func set(_ value: PropertyListValue?, for field: ItemField) throws(StoreError) {
        if field == store.table.keyField {
            guard case .string(let key)? = value else { throw FieldValidation.refusal("itemKey", "a string", value) }
            return try setKey(key)
        }
        place(try store.checkedCell(value, for: field), field)
    }

    /// Sets a field by name; `itemKey`, too. A new custom field is checked and numbered.
    package func set(_ value: PropertyListValue, forField name: String) throws(StoreError) {
        try set(value, for: try store.fieldForAssignment(name, value))
    }

    /// Sets fields to the values of a record, of any kind.
    package func carry(_ values: PropertyListFields) throws(StoreError) { try store.fill(self, with: values) }

    /// The name of a field of the store.
    package func name(of field: ItemField) -> String { store.fields.name(of: field) }

    /// Sets a text field from UTF-8 bytes; `itemKey`, too.
    @inline(never)
    package func setUTF8(_ bytes: UnsafeBufferPointer<UInt8>, for field: ItemField) throws(StoreError) {
        guard field == store.table.keyField else { return place(try store.textCell(bytes, for: field), field) }
        if let key = PackedKey(uuid: bytes) {
            store.table.setKey(row, key)
            return
        }
        guard UTF8Check.isValid(bytes) else {
            throw StoreError(.invalidValue(field: "itemKey"), "itemKey takes text in UTF-8, and these bytes are not")
        }
        try setKey(String(decoding: bytes, as: UTF8.self))
    }

    /// Discards the draft; an `Item` that an observer kept of it counts as removed.
    package func discard() {
        store.rowDied(row)
    }

    @inline(__always)
    func place(_ cell: Cell, _ field: ItemField) {
        let old = store.table.replaceCell(row, field, cell)
        if !old.isAbsent { store.discard(old, of: field) }
    }

    private func setKey(_ key: String) throws(StoreError) {
        try FieldValidation.checkKey(key)
        var key = key
        key.withUTF8 { bytes in
            if let packed = PackedKey(uuid: bytes) {
                store.table.setKey(row, packed)
            } else {
                if store.table.hasTextKey(row) { store.discard(store.table.key(row).cell) }
                store.table.setKey(row, text: store.heap.text(bytes))
            }
        }
    }
}
