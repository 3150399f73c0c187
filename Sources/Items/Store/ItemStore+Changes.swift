import ColumnEngine
import PropertyList

extension ItemStore {
    // MARK: Creating

    /// Appends a new item.
    ///
    /// - Throws: `StoreError`: `duplicateKey`, `invalidValue` naming the field, `vetoed`, `readOnly`.
    @discardableResult
    public func createItem(_ fields: ItemFields = ItemFields()) throws(StoreError) -> Item {
        let draft = try beginItem()
        do throws(StoreError) {
            try draft.set(fields)
            return try insert(draft)
        } catch {
            draft.discard()
            throw error
        }
    }

    /// Appends an item named by an adjective and a noun, with a value below 100 and a serial number such as `1A2B3`.
    @discardableResult
    public func randomItem() throws(StoreError) -> Item {
        let adjectives = ["Fluffy", "Rusty", "Shiny"]
        let nouns = ["Bear", "Spork", "Mac"]
        let name = adjectives[columns.keySource.number(below: 3)] + " " + nouns[columns.keySource.number(below: 3)]
        var serial = ""
        for place in 0..<5 {
            let first: UInt8 = place % 2 == 0 ? 0x30 : 0x41
            let kinds: UInt64 = place % 2 == 0 ? 10 : 26
            serial.unicodeScalars.append(Unicode.Scalar(first + UInt8(columns.keySource.number(below: kinds))))
        }
        let value = Int64(columns.keySource.number(below: 100))
        return try createItem(ItemFields(name: name, serialNumber: serial, valueInDollars: value))
    }

    /// Begins an item that is filled field by field and then inserted; for callers with bytes instead of strings.
    ///
    /// - Parameter key: the bytes of the key that the draft will get, if available: a UUID is set at once.
    /// - Returns: the draft, to be inserted or discarded.
    /// - Throws: `readOnly`, `full`.
    package func beginItem(key: UnsafeBufferPointer<UInt8>? = nil) throws(StoreError) -> ItemDraft {
        if isReadOnly { throw readOnlyError }
        return try columns.makeDraft(key: key.flatMap(PackedKey.init(uuid:)))
    }

    /// Appends an item begun with ``beginItem()``.
    ///
    /// - Throws: `duplicateKey`, `vetoed`. The draft must then still be discarded.
    package func insert(_ draft: ItemDraft) throws(StoreError) -> Item {
        try insertDraft(draft.row)
        return item(row: draft.row)
    }

    /// As ``insert(_:)``, without making an object.
    package func insertReference(_ draft: ItemDraft) throws(StoreError) -> ItemReference {
        try insertDraft(draft.row)
        return reference(draft.row)
    }

    private func insertDraft(_ row: UInt32) throws(StoreError) {
        if publisher.isWatched {
            keepLatestCommit()
            if !publisher.observers.isEmpty {
                let item = item(row: row)
                try askObservers { try $0.itemStore(self, willInsert: item) }
            }
        }
        try columns.appendDraft(row)
        if !publisher.observers.isEmpty { tellInserted(row) }
    }

    // MARK: Removing and moving

    /// Removes an item from the store.
    ///
    /// - Throws: `itemRemoved`, `foreignItem`, `vetoed`, `readOnly`.
    public func removeItem(_ item: Item) throws(StoreError) {
        guard item.store === self else {
            throw StoreError(.foreignItem, "the item belongs to another store")
        }
        try remove(row: item.row)
    }

    /// Removes several items; if one is refused, none is removed. Observers are notified once.
    ///
    /// - Throws: as ``removeItem(_:)``; `itemRemoved` also for an item that is given twice.
    public func removeItems(_ items: [Item]) throws(StoreError) {
        var rows: Set<UInt32> = []
        for (place, item) in items.enumerated() {
            guard item.store === self else {
                throw StoreError(.foreignItem, "item \(place + 1) of \(items.count) belongs to another store")
            }
            if columns.isLive(item.row), !rows.insert(item.row).inserted {
                throw StoreError(
                    .itemRemoved, "item \(place + 1) of \(items.count) is given twice: nothing was removed")
            }
        }
        beginBulkChange()
        defer { endBulkChange() }
        openSavepoint()
        do throws(StoreError) {
            for item in items { try remove(row: item.row) }
        } catch {
            rollBackSavepoint()
            throw error
        }
        closeSavepoint()
    }

    func remove(row: UInt32) throws(StoreError) {
        if isReadOnly { throw readOnlyError }
        guard columns.isLive(row) else { throw .itemWasRemoved }
        keepCommitBeforeChange()
        guard publisher.observers.isEmpty else {
            let item = item(row: row)
            try askObservers { try $0.itemStore(self, willRemove: item) }
            guard columns.isLive(row) else { throw .itemWasRemoved }
            let last = columns.fields(of: row)
            columns.takeOut(row)
            if publisher.collect({ $0.removed += 1 }) { return }
            for observer in publisher.observers { observer.itemStore(self, didRemove: item, fields: last) }
            return
        }
        columns.takeOut(row)
    }

    /// Moves the item at a position to another; both are counted from 0. Does nothing if they are equal.
    ///
    /// - Throws: `positionOutOfRange`, `readOnly`.
    public func moveItem(from: Int, to: Int) throws(StoreError) {
        if isReadOnly { throw readOnlyError }
        for position in [from, to] where position < 0 || position >= count {
            throw StoreError(
                .positionOutOfRange(position: position, count: count),
                count == 0
                    ? "no item can be moved: the store is empty"
                    : "position \(position + 1) is outside the store: it has the positions 1 to \(count)")
        }
        if from == to { return }
        keepCommitBeforeChange()
        columns.move(from: from, to: to)
        publisher.collect { $0.moved += 1 }
    }
}
