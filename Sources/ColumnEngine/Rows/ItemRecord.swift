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

extension ColumnStore {
    /// Appends an item at once, when there is nothing to say against any of its fields, and its key is a UUID.
    package func appendPlainly(_ record: ItemRecord) -> UInt32? {
        let date = record.dateCreated?.secondsSinceReferenceDate ?? Self.now()
        guard let key = record.itemKey.map(PackedKey.init(uuid:)) ?? keySource.uuid(), date.isFinite else { return nil }
        let hash = keyHasher.hash(key)
        guard Self.isPlain(record.name), Self.isPlain(record.serialNumber), row(forKey: key, hash) == nil else {
            return nil
        }
        let (row, isNew) = table.makeRow(key: key)
        if let name = record.name { table.setCell(row, .name, heap.text(name)) }
        if let serial = record.serialNumber { table.setCell(row, .serialNumber, heap.text(serial)) }
        table.setCell(row, .valueInDollars, .integer(record.valueInDollars))
        table.setCell(row, .dateCreated, .date(date))
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
