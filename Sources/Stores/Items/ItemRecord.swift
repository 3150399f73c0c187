package import PropertyList

/// The fields of an item to be made, texts as UTF-8 bytes where they lie: for callers that make many.
package struct ItemRecord {
    package var name: UnsafeBufferPointer<UInt8>?
    package var serialNumber: UnsafeBufferPointer<UInt8>?
    package var valueInDollars: Int64 = 0
    /// Now, when there is none.
    package var dateCreated: PropertyListDate?
    /// A new one, when there is none.
    package var itemKey: UnsafeBufferPointer<UInt8>?

    package init() {}
}

extension ItemStore {
    /// Appends an item with the fields of a record.
    ///
    /// - Throws: as ``createItem(_:)``.
    package func createItem(_ record: ItemRecord) throws(StoreError) -> ItemReference {
        try checkRoom()
        if !isWatched, let row = appendPlainly(record) { return reference(row) }
        let draft = try beginItem()
        do throws(StoreError) {
            if let name = record.name { try draft.setUTF8(name, for: .name) }
            if let serial = record.serialNumber { try draft.setUTF8(serial, for: .serialNumber) }
            draft.setValueInDollars(record.valueInDollars)
            if let date = record.dateCreated { try draft.setDateCreated(date) }
            if let key = record.itemKey { try draft.setUTF8(key, for: .itemKey) }
            return try draft.insertReference()
        } catch {
            draft.discard()
            throw error
        }
    }

    /// Has the processor fetch what tells whether an item has a key, for callers who are going to make one that has it.
    package func prefetch(itemKey: UnsafeBufferPointer<UInt8>) {
        if let key = PackedKey(uuid: itemKey) { index.prefetch(keyHasher.hash(key)) }
    }

    /// Appends an item at once, when there is nothing to say against any of its fields, and its key is a UUID.
    private func appendPlainly(_ record: ItemRecord) -> UInt32? {
        let date = record.dateCreated?.secondsSinceReferenceDate ?? Self.now()
        guard let key = record.itemKey.map(PackedKey.init(uuid:)) ?? keySource.uuid(), date.isFinite else { return nil }
        let hash = keyHasher.hash(key)
        guard Self.isPlain(record.name), Self.isPlain(record.serialNumber), row(forKey: key, hash) == nil else {
            return nil
        }
        let (row, isNew) = table.makeRow(
            name: record.name.map { heap.text($0) } ?? Cell(.shortText),
            serial: record.serialNumber.map { heap.text($0) } ?? .absent, value: record.valueInDollars, date: date,
            key: key)
        if isNew { order.addRow() }
        append(row, hash)
        return row
    }

    @inline(__always)
    private static func isPlain(_ text: UnsafeBufferPointer<UInt8>?) -> Bool {
        guard let text else { return true }
        return text.count <= FieldValidation.byteLimit && UTF8Check.isValid(text)
    }
}
