package import PropertyList

/// Values of fields, drafts of new items, and the heap.
extension ColumnStore {
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

    // MARK: Checking

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
        var value = value
        if hasDeclarations, let rule = rule(field) { value = try rule.fitted(value) }
        return try typed(value, for: field)
    }

    /// The value in the form stored by a field of its type, whatever is declared of it besides.
    func typed(_ value: PropertyListValue?, for field: ItemField) throws(StoreError) -> PropertyListValue? {
        guard let declared = table.declared(field) else {
            return try FieldValidation.checked(value, custom: fields.name(of: field))
        }
        return try FieldValidation.checked(
            value, declared.kind, isOptional: declared.isOptional, named: fields.name(of: field))
    }

    /// A cell for a value of a field, absent for nil; as ``checked(_:for:)``.
    package func checkedCell(_ value: PropertyListValue?, for field: ItemField) throws(StoreError) -> Cell {
        try checked(value, for: field).map { cell($0, for: field) } ?? .absent
    }

    /// A cell for a text given as bytes.
    package func textCell(_ bytes: UnsafeBufferPointer<UInt8>, for field: ItemField) throws(StoreError) -> Cell {
        if table.declared(field).map({ $0.kind != .text }) ?? (field == table.keyField) {
            _ = try checked(.string(String(decoding: bytes, as: UTF8.self)), for: field)
        }
        guard UTF8Check.isValid(bytes) else {
            let name = fields.name(of: field)
            throw .invalidValue(name, "\(name) takes text in UTF-8, and these bytes are not: store them as data")
        }
        if bytes.count > FieldValidation.byteLimit {
            let name = fields.name(of: field)
            throw .invalidValue(name, "\(name) is \(bytes.count) bytes long: \(FieldValidation.byteLimit) is the most")
        }
        if hasDeclarations, rule(field) != nil {
            return try checkedCell(.string(String(decoding: bytes, as: UTF8.self)), for: field)
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
    package func makeDraft(key: PackedKey? = nil) throws(StoreError) -> ItemDraft {
        if table.rowCount >= Int(UInt32.max) - 1 {
            throw StoreError(.full, "the store holds as many items as it can number")
        }
        let key = key ?? keySource.uuid()
        // The slot is fetched while the fields are set.
        index.prefetch(index.hasher.hash(key))
        let (row, isNew) = table.makeRow(key: key)
        if isNew { order.addRow() }
        declared.forgetKey(of: row)
        if let stamped = fields.stamped { table.setCell(row, stamped, .date(Self.now())) }
        return ItemDraft(store: self, row: row)
    }

    /// Calls `body` with a row that has an item's fields, as a record has them, and is no item of the store.
    package func withDraft(
        of values: PropertyListFields, _ body: (UInt32) throws(StoreError) -> Void
    ) throws(StoreError) {
        let draft = try makeDraft()
        defer { draft.discard() }
        // The field that a new item's time goes into may be one that this item lacks.
        if let stamped = fields.stamped { table.setCell(draft.row, stamped, .absent) }
        try fill(draft, with: values)
        try body(draft.row)
    }

    /// Appends a draft.
    ///
    /// - Throws: `duplicateKey`; `invalidValue` for an item that lacks what is declared as required, or has a value of
    ///   another item in a unique field.
    package func appendDraft(_ row: UInt32) throws(StoreError) {
        let hash = try newKeyHash(row)
        if hasDeclarations { try checkWhole(row) }
        append(row, hash)
    }

    /// The hash of a draft's key, which must be unused.
    func newKeyHash(_ row: UInt32) throws(StoreError) -> UInt64 {
        let hash = keyHash(row)
        if let other = holder(ofKeyOf: row, hash) {
            recordRead(other)
            let key = table.keyString(other)
            throw StoreError(.duplicateKey(key), "an item with the itemKey \(key) is in the store already")
        }
        return hash
    }

    /// Seconds since the reference date, by the wall clock.
    private static func now() -> Double {
        // To the millisecond, which is as much as a date of creation needs, and is short in texts.
        PropertyListDate.now(roundedTo: 1_000_000).secondsSinceReferenceDate
    }
}

extension ColumnStore {
    /// Copies every referenced text and boxed value into a new heap.
    ///
    /// - Parameter visitOtherChanges: called with a function that copies the cells of changes outside of the log.
    package func compactHeap(_ visitOtherChanges: ((inout [Change]) -> Void) -> Void) {
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
        log.withChanges(adopt)
        visitOtherChanges(adopt)
        heap = fresh
    }
}
