import Glibc
import PropertyList

extension ItemStore {
    // MARK: Creating

    /// Appends a new item with the fields given.
    ///
    /// - Throws: ``StoreError``: `duplicateKey`, `invalidValue` naming the field, `vetoed`, `readOnly`.
    @discardableResult
    public func createItem(_ fields: ItemFields = ItemFields()) throws(StoreError) -> Item {
        let draft = try beginItem()
        do throws(StoreError) {
            try draft.set(fields)
            return try draft.insert()
        } catch {
            draft.discard()
            throw error
        }
    }

    /// Appends an item made of an adjective and a noun, with a value below 100 and a serial number such as `1A2B3`.
    @discardableResult
    public func randomItem() throws(StoreError) -> Item {
        let adjectives = ["Fluffy", "Rusty", "Shiny"]
        let nouns = ["Bear", "Spork", "Mac"]
        let name = adjectives[keySource.number(below: 3)] + " " + nouns[keySource.number(below: 3)]
        var serial = ""
        for place in 0..<5 {
            let first: UInt8 = place % 2 == 0 ? 0x30 : 0x41
            let kinds: UInt64 = place % 2 == 0 ? 10 : 26
            serial.unicodeScalars.append(Unicode.Scalar(first + UInt8(keySource.number(below: kinds))))
        }
        let value = Int64(keySource.number(below: 100))
        return try createItem(ItemFields(name: name, serialNumber: serial, valueInDollars: value))
    }

    /// A new item that is filled field by field and then inserted; for callers that have bytes and not strings.
    ///
    /// - Throws: `readOnly`, `full`.
    package func beginItem() throws(StoreError) -> ItemDraft {
        try checkRoom()
        // A key and a date are made for those that are given none.
        let (row, isNew) = table.makeRow(date: Self.noDate, key: PackedKey(text: .absent), isTextKey: true)
        if isNew { order.addRow() }
        return ItemDraft(store: self, row: row)
    }

    /// Refuses a new item where none can be.
    @inline(__always)
    func checkRoom() throws(StoreError) {
        if isReadOnly { throw .storeIsReadOnly }
        try checkRoomForRow()
    }

    @inline(__always)
    func checkRoomForRow() throws(StoreError) {
        if table.rowCount >= Int(UInt32.max) - 1 {
            throw StoreError(.full, "the store holds as many items as it can number")
        }
    }

    /// Seconds since the reference date, by the wall clock.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) - PropertyListDate.unixEpochOffset + Double(time.tv_nsec) / 1e9
    }

    /// What a draft has until it is given a date: no number that a field takes.
    private static let noDate = Double(bitPattern: 0x7FF8_0000_0000_4E4F)

    /// The draft's way into the store.
    func insertDraft(_ row: UInt32) throws(StoreError) {
        if table.textKeys[row], table.keys[row].cell.isAbsent {
            table.keys[row] = keySource.uuid()
            table.textKeys[row] = false
        }
        if table.dates[row].bitPattern == Self.noDate.bitPattern { table.dates[row] = Self.now() }
        if isWatched {
            keepLatestCommit()
            if !observers.isEmpty {
                let item = item(row: row)
                try askObservers { try $0.itemStore(self, willInsert: item) }
            }
        }
        let hash = keyHash(row)
        if let other = holder(ofKeyOf: row, hash) {
            let key = table.keyString(other)
            throw StoreError(.duplicateKey(key), "an item with the itemKey \(key) is in the store already")
        }
        append(row, hash)
        if !observers.isEmpty { tellInserted(row) }
    }

    func holder(ofKeyOf row: UInt32, _ hash: UInt64) -> UInt32? {
        if table.textKeys[row] { return table.withKey(row) { self.row(forKey: $0) } }
        return self.row(forKey: table.keys[row], hash)
    }

    // MARK: Removing and moving

    /// Takes an item out of the store.
    ///
    /// - Throws: `itemRemoved`, `foreignItem`, `vetoed`, `readOnly`.
    public func removeItem(_ item: Item) throws(StoreError) {
        guard item.store === self else {
            throw StoreError(.foreignItem, "the item belongs to another store")
        }
        try remove(row: item.row)
    }

    func remove(row: UInt32) throws(StoreError) {
        if isReadOnly { throw .storeIsReadOnly }
        guard table.state(row) == .live else { throw .itemWasRemoved }
        if isWatched { keepLatestCommit() }
        guard observers.isEmpty else {
            let item = item(row: row)
            try askObservers { try $0.itemStore(self, willRemove: item) }
            guard table.state(row) == .live else { throw .itemWasRemoved }
            let last = fields(of: row)
            takeOut(row)
            if bulkDepth > 0 {
                bulkChanges.removed += 1
            } else {
                for observer in observers { observer.itemStore(self, didRemove: item, fields: last) }
            }
            return
        }
        takeOut(row)
    }

    /// Takes the item at one position to another; both from 0. Nothing happens when they are equal.
    ///
    /// - Throws: `positionOutOfRange`, `readOnly`.
    public func moveItem(from: Int, to: Int) throws(StoreError) {
        if isReadOnly { throw .storeIsReadOnly }
        for position in [from, to] where position < 0 || position >= count {
            throw StoreError(
                .positionOutOfRange(position: position, count: count),
                count == 0
                    ? "no item can be moved: the store is empty"
                    : "position \(position + 1) is outside the store: it has the positions 1 to \(count)")
        }
        if from == to { return }
        if isWatched { keepLatestCommit() }
        move(from: from, to: to)
        if bulkDepth > 0 { bulkChanges.moved += 1 }
    }

    // MARK: Setting

    /// The field that a value is being assigned to; a new custom field is checked and numbered.
    func fieldForAssignment(_ name: String, _ value: PropertyListValue?) throws(StoreError) -> ItemField {
        if let field = fields.existing(name) { return field }
        try FieldValidation.checkName(name)
        // Validated before the name is kept, so that a refused value leaves nothing behind.
        _ = try FieldValidation.checked(value, for: ItemField(rawValue: .max), named: name)
        return fields.field(named: name)
    }

    func set(_ row: UInt32, _ field: ItemField, _ value: PropertyListValue?) throws(StoreError) {
        guard isAccessible(row) else { throw .itemWasRemoved }
        let checked = try FieldValidation.checked(value, for: field, named: fields.name(of: field))
        try setCell(row, field, checked.map { cell($0, for: field) } ?? .absent)
    }

    func setUTF8(_ row: UInt32, _ field: ItemField, _ bytes: UnsafeBufferPointer<UInt8>) throws(StoreError) {
        guard isAccessible(row) else { throw .itemWasRemoved }
        try setCell(row, field, try textCell(bytes, for: field))
    }

    /// A cell for a text given as bytes.
    func textCell(_ bytes: UnsafeBufferPointer<UInt8>, for field: ItemField) throws(StoreError) -> Cell {
        if field == .valueInDollars || field == .dateCreated || field == .itemKey {
            let text = PropertyListValue.string(String(decoding: bytes, as: UTF8.self))
            _ = try FieldValidation.checked(text, for: field, named: fields.name(of: field))
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
    func cell(_ value: PropertyListValue, for field: ItemField) -> Cell {
        if field.isCustom, case .string(var text) = value,
            let entry = text.withUTF8({ table.entry(for: $0, field) })
        {
            return entry
        }
        return heap.cell(value)
    }

    /// Sets a field to a cell of a kind that it takes.
    func setCell(_ row: UInt32, _ field: ItemField, _ cell: Cell) throws(StoreError) {
        switch table.state(row) {
        case .live: break
        case .draft:
            discard(table.cell(row, field), of: field)
            table.setCell(row, field, cell)
            return
        default: throw .itemWasRemoved
        }
        if isReadOnly { throw .storeIsReadOnly }
        if heap.areEqual(table.cell(row, field), cell) { return discard(cell, of: field) }
        if !isWatched { return change(row, field, to: cell) }
        keepLatestCommit()
        if observers.isEmpty { return change(row, field, to: cell) }
        try setAskingObservers(row, field, cell)
    }

    private func setAskingObservers(_ row: UInt32, _ field: ItemField, _ cell: Cell) throws(StoreError) {
        let item = item(row: row)
        let name = fields.name(of: field)
        let old = value(row, field)
        let wanted = heap.value(cell)
        var new = wanted
        try askObservers { try $0.itemStore(self, willUpdate: item, field: name, old: old, new: &new) }
        guard table.state(row) == .live else { throw .itemWasRemoved }
        var cell = cell
        if new != wanted {
            discard(cell, of: field)
            new = try FieldValidation.checked(new, for: field, named: name)
            cell = new.map { self.cell($0, for: field) } ?? .absent
        }
        if heap.areEqual(table.cell(row, field), cell) { return discard(cell, of: field) }
        change(row, field, to: cell)
        if bulkDepth > 0 {
            bulkChanges.updated += 1
        } else {
            for observer in observers { observer.itemStore(self, didUpdate: item, field: name, old: old, new: new) }
        }
    }

    // MARK: The five changes, each into the log

    func append(_ row: UInt32, _ hash: UInt64) {
        let position = order.count
        order.append(row)
        if index.needsRoom { makeIndexRoom(for: row) }
        index.insert(row, hash: hash)
        table.states[row] = ItemTable.State.live.rawValue
        if !indexes.isEmpty { rowCame(row) }
        version &+= 1
        // Rows of a loop follow each other: one entry for the whole run.
        let last = log.count - 1
        if last >= mergeFloor, log[last].kind == .append, Int(log[last].row) + log[last].count == Int(row) {
            log[last].count += 1
            return
        }
        var change = Change(kind: .append, row: row, position: UInt32(position))
        change.count = 1
        log.append(change)
    }

    @inline(never)
    private func makeIndexRoom(for row: UInt32) {
        index.makeRoom(for: row) { keyHash($0) }
    }

    func insert(_ row: UInt32, at position: Int) {
        restore(row, at: position)
        log.append(Change(kind: .insert, row: row, position: UInt32(position)))
    }

    func takeOut(_ row: UInt32) {
        let position = withdraw(row)
        log.append(Change(kind: .remove, row: row, position: UInt32(position)))
        hasRemovals = true
    }

    func move(from: Int, to: Int) {
        let row = order.row(at: from)
        order.move(from: from, to: to)
        version &+= 1
        log.append(Change(kind: .move, row: row, field: UInt32(to), position: UInt32(from)))
    }

    func change(_ row: UInt32, _ field: ItemField, to cell: Cell) {
        let old = table.cell(row, field)
        setStored(row, field, cell)
        version &+= 1
        let last = log.count - 1
        if last >= mergeFloor, log[last].kind == .set, log[last].row == row, log[last].field == field.rawValue {
            // The history needs the value before the first of several changes in a row.
            return discard(old, of: field)
        }
        log.append(Change(kind: .set, row: row, field: field.rawValue, cell: old))
    }

    /// As ``change(_:_:to:)``, in a replay: a value that is still in the archive is not read to be replaced.
    func replayChange(_ row: UInt32, _ field: ItemField, to cell: Cell) {
        guard indexes.isEmpty, table.isArchived(row, field) else { return change(row, field, to: cell) }
        table.setCell(row, field, cell)
        version &+= 1
        log.append(Change(kind: .set, row: row, field: field.rawValue, cell: .archived))
    }

    // MARK: The same without the log

    func restore(_ row: UInt32, at position: Int) {
        order.insert(row, at: position)
        index.insert(row, hash: keyHash(row)) { keyHash($0) }
        table.states[row] = ItemTable.State.live.rawValue
        rowCame(row)
        version &+= 1
    }

    func withdraw(_ row: UInt32) -> Int {
        rowGoes(row)
        let position = order.remove(row)
        index.remove(row, hash: keyHash(row)) { keyHash($0) }
        table.states[row] = ItemTable.State.removed.rawValue
        version &+= 1
        epochCounter.pointee &+= 1
        return position
    }

    /// The log's entries from here on may be merged with a new one.
    private var mergeFloor: Int {
        max(savepoints.last ?? 0, sealed.last ?? 0)
    }
}
