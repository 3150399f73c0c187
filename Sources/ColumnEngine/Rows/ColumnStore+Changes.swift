import PropertyList

extension ColumnStore {
    // MARK: The five logged changes

    func append(_ row: UInt32, _ hash: UInt64) {
        let position = order.count
        order.append(row)
        if index.needsCapacity { reserveIndexCapacity(for: row) }
        index.insert(row, hash: hash)
        table.states[row] = ItemTable.State.live.rawValue
        if isIndexed { rowCame(row) }
        declared.forgetKey(of: row)
        log.didChange()
        log.recordAppended(row, at: position)
    }

    @inline(never)
    private func reserveIndexCapacity(for row: UInt32) {
        let hasher = index.hasher
        index.reserveCapacity(for: row) { keyHash($0, hasher) }
    }

    package func insert(_ row: UInt32, at position: Int) {
        restore(row, at: position)
        log.record(Change(kind: .insert, row: row, position: UInt32(position)))
    }

    /// Puts the items back that changes have removed, in the order of these changes. O(n log n).
    package func putBack(_ removals: [Change]) {
        for placed in restore(removals) {
            log.record(Change(kind: .insert, row: placed.row, position: UInt32(placed.position)))
        }
    }

    package func takeOut(_ row: UInt32) {
        let position = withdraw(row)
        log.record(Change(kind: .remove, row: row, position: UInt32(position)))
    }

    package func move(from: Int, to: Int) {
        recordWholeRead()
        let row = order.row(at: from)
        order.move(from: from, to: to)
        log.didChange()
        log.record(Change(kind: .move, row: row, field: UInt32(to), position: UInt32(from)))
    }

    package func change(_ row: UInt32, _ field: ItemField, to cell: Cell) {
        let old = table.cell(row, field)
        setStored(row, field, cell)
        log.didChange()
        if !log.recordSet(row, field, old) { discard(old, of: field) }
    }

    /// As ``change(_:_:to:)``, in a replay: an old value that is only in the archive is not read.
    package func replayChange(_ row: UInt32, _ field: ItemField, to cell: Cell) {
        guard !isIndexed, table.isArchived(row, field) else {
            return change(row, field, to: cell)
        }
        table.setCell(row, field, cell)
        log.didChange()
        log.record(Change(kind: .set, row: row, field: field.rawValue, cell: .archived))
    }

    // MARK: Unlogged changes

    func restore(_ row: UInt32, at position: Int) {
        order.insert(row, at: position)
        returned(row)
    }

    private func restore(_ removals: [Change]) -> [PlacedRow] {
        let placed = order.restore(removals.map { PlacedRow($0.row, at: Int($0.position)) })
        for item in placed { returned(item.row) }
        return placed
    }

    private func returned(_ row: UInt32) {
        let hasher = index.hasher
        index.insert(row, hash: keyHash(row, hasher)) { keyHash($0, hasher) }
        table.states[row] = ItemTable.State.live.rawValue
        rowCame(row)
        declared.forgetKey(of: row)
        log.didChange()
    }

    func withdraw(_ row: UInt32) -> Int {
        rowGoes(row)
        let position = order.remove(row)
        let hasher = index.hasher
        index.remove(row, hash: keyHash(row, hasher)) { keyHash($0, hasher) }
        table.states[row] = ItemTable.State.removed.rawValue
        log.didChange()
        epochCounter.pointee &+= 1
        return position
    }

    // MARK: Reverting

    /// Reverts the log's changes from `start` on, newest first, and removes them.
    ///
    /// - Returns: the changes.
    package func rollBack(to start: Int) -> [Change] {
        guard start < log.changes.count else { return [] }
        let taken = log.cut(from: start)
        taken.forEachReversed {
            revert($0, isForgotten: true)
        } removals: {
            _ = restore($0)
        }
        for change in taken.reversed() where change.kind == .append {
            for row in change.rows.reversed() where table.state(row) == .removed { rowDied(row) }
        }
        return taken
    }

    /// Reverts the last changes of the log, and keeps the replaced cells: the history owns them.
    package func takeBack(_ count: Int) {
        log.takeLast(count).forEachReversed {
            revert($0, isForgotten: false)
        } removals: {
            _ = restore($0)
        }
    }

    /// Drops the log without adding it to the history: data that only it held is freed.
    func forgetLog() {
        for change in log.changes {
            switch change.kind {
            case .set: discard(change.cell, of: ItemField(rawValue: change.field))
            case .remove where table.state(change.row) == .removed: rowDied(change.row)
            default: break
            }
        }
        log.clear()
        if heap.needsCompaction, !table.hasSnapshot { compactHeap { _ in } }
    }

    /// Prefetch distance for index slots in rows.
    private static let lookahead: UInt32 = 12

    /// Reverts a change. If it is forgotten, so are the cell that it had set and the items that it had added.
    private func revert(_ change: Change, isForgotten: Bool) {
        switch change.kind {
        case .append, .insert:
            for row in change.rows.reversed() {
                // Keys are spread over the index: prefetch the slots of the next rows.
                if row - change.row >= Self.lookahead { index.prefetch(keyHash(row - Self.lookahead)) }
                _ = withdraw(row)
                if isForgotten { recordRolledBack(row) }
            }
        case .remove: _ = restore([change])
        case .set:
            let field = ItemField(rawValue: change.field)
            if isForgotten { discard(table.cell(change.row, field), of: field) }
            if change.cell == .archived {
                table.column(field)?.resetToArchived(change.row)
            } else {
                setStored(change.row, field, change.cell)
            }
            log.didChange()
        case .move:
            // Remote changes may have shifted the item since.
            order.move(from: order.position(of: change.row), to: min(Int(change.position), order.count - 1))
            log.didChange()
        case .declare:
            use(change.position)
            log.didChange()
        }
    }
}

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
        case .declare: declare(try FieldDeclarations(record: change.new))
        }
    }

    private func insertGiven(_ change: ItemChange) throws(StoreError) {
        if let position = change.position { try checkPosition(position, limit: order.count) }
        let draft = try makeDraft()
        let row = draft.row
        try draft.orDiscarded { () throws(StoreError) in
            try fill(draft, with: change.values ?? ["itemKey": .string(change.itemKey)])
            let hash = try newKeyHash(row)
            if let position = change.position, position < order.count {
                insert(row, at: position)
            } else {
                append(row, hash)
            }
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
        try FieldValidation.checkStoredName(name)
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
            throw .invalidValue(name, "\(name) cannot hold the value that is to be applied")
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
