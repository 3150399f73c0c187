import Glibc
package import PropertyList

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
