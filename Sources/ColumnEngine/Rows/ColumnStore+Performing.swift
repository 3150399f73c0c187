import PropertyList

/// Changes of a replay or of another host: logged, without observers.
extension ColumnStore {
    /// Applies one change.
    ///
    /// - Throws: ``StoreError``: `itemRemoved`, `duplicateKey`, `positionOutOfRange`, `invalidValue`, `full`. Earlier
    ///   changes remain in the log, for the caller to roll back.
    package func perform(_ change: ItemChange) throws(StoreError) {
        switch change.kind {
        case .insert: try insertGiven(change)
        case .remove: takeOut(try givenRow(change))
        case .update:
            let row = try givenRow(change)
            let field = try givenField(change.field ?? "")
            let cell = try givenCell(change.new, for: field)
            if heap.areEqual(table.cell(row, field), cell) { return heap.discard(cell) }
            self.change(row, field, to: cell)
        case .move:
            let (from, to) = (order.position(of: try givenRow(change)), change.position ?? -1)
            try checkPosition(to, limit: order.count - 1)
            if from != to { move(from: from, to: to) }
        }
    }

    private func insertGiven(_ change: ItemChange) throws(StoreError) {
        if let position = change.position { try checkPosition(position, limit: order.count) }
        let draft = try makeDraft()
        let row = draft.row
        do throws(StoreError) {
            try fill(draft, with: change.values ?? ["itemKey": .string(change.itemKey)])
            let hash = try newKeyHash(row)
            if let position = change.position, position < order.count {
                insert(row, at: position)
            } else {
                append(row, hash)
            }
        } catch {
            draft.discard()
            throw error
        }
    }

    /// Sets the fields of a draft to those of a record.
    func fill(_ draft: ItemDraft, with values: PropertyListFields) throws(StoreError) {
        for (name, value) in values {
            let field = try givenField(name)
            if field == table.keyField {
                try draft.set(value, for: field)
            } else {
                draft.place(try givenCell(value, for: field), field)
            }
        }
    }

    private func givenRow(_ change: ItemChange) throws(StoreError) -> UInt32 {
        var key = change.itemKey
        if let row = key.withUTF8({ row(forKey: $0) }) { return row }
        throw StoreError(.itemRemoved, "no item of the store has the itemKey \(change.itemKey), which is to change")
    }

    private func givenField(_ name: String) throws(StoreError) -> ItemField {
        if let field = fields.existing(name) { return field }
        try FieldValidation.checkKeptName(name)
        return fields.field(named: name)
    }

    /// A field also accepts any value that an archive may contain.
    private func givenCell(_ value: PropertyListValue?, for field: ItemField) throws(StoreError) -> Cell {
        if field == table.keyField { throw FieldValidation.keyIsReadOnly }
        guard let value else { return .absent }
        // In a record, null marks a declared field that the item lacks.
        if value == .null, field.rawValue < table.keyField.rawValue { return .absent }
        guard FieldValidation.isKeepable(value) else {
            let name = fields.name(of: field)
            throw StoreError(.invalidValue(field: name), "\(name) cannot hold the value that is to be applied")
        }
        return cell(value, for: field)
    }

    private func checkPosition(_ position: Int, limit: Int) throws(StoreError) {
        guard position >= 0, position <= limit else {
            throw StoreError(
                .positionOutOfRange(position: position, count: order.count),
                "position \(position + 1) is outside the store of \(order.count) items, where a change is to be applied"
            )
        }
    }
}
