import ColumnEngine

extension ItemStore {
    /// Appends an item with the fields of a record.
    ///
    /// - Throws: as ``createItem(_:)``.
    package func createItem(_ record: ItemRecord) throws(StoreError) -> ItemReference {
        if isReadOnly { throw .storeIsReadOnly }
        try columns.checkRoomForRow()
        if !isWatched, let row = columns.appendPlainly(record) { return reference(row) }
        let draft = try beginItem()
        do throws(StoreError) {
            if let name = record.name { try draft.setUTF8(name, for: .name) }
            if let serial = record.serialNumber { try draft.setUTF8(serial, for: .serialNumber) }
            draft.setValueInDollars(record.valueInDollars)
            if let date = record.dateCreated { try draft.setDateCreated(date) }
            if let key = record.itemKey { try draft.setUTF8(key, for: .itemKey) }
            return try insertReference(draft)
        } catch {
            draft.discard()
            throw error
        }
    }

    /// Has the processor fetch what tells whether an item has a key, for callers who are going to make one that has it.
    package func prefetch(itemKey: UnsafeBufferPointer<UInt8>) { columns.prefetch(itemKey: itemKey) }
}
