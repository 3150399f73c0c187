import ColumnEngine
public import PropertyList

extension ItemQuery {
    /// Sets fields of every item: all of them or, if one refuses, none. Observers are told once; nil removes a field.
    ///
    /// - Returns: the number of items.
    @discardableResult
    public func update(_ values: [String: PropertyListValue?]) throws -> Int {
        var fields: [(ItemField, PropertyListValue?)] = []
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            fields.append((try store.columns.fieldForAssignment(name, value), value))
        }
        return try changeEach { row in
            for (field, value) in fields { try store.set(row, field, value) }
            return true
        }
    }

    /// Runs a function on every item, as one change: when it throws, none has changed. Observers are told once.
    ///
    /// - Parameter change: a function that changes its item, or other items.
    /// - Returns: the number of items at which something changed.
    /// - Throws: what the function throws; `StoreError` when an observer refuses.
    @discardableResult
    public func update(_ change: (Item) throws -> Void) throws -> Int {
        try changeEach { row in
            let before = store.columns.changeCount
            try change(store.item(row: row))
            return store.columns.changeCount > before
        }
    }

    /// Removes every item: all of them or, if an observer refuses, none. Observers are told once.
    ///
    /// - Returns: the number of items.
    @discardableResult
    public func remove() throws -> Int {
        try changeEach { row in
            try store.remove(row: row)
            return true
        }
    }

    /// Changes every item or, when one throws, none; the function says whether it changed its item.
    ///
    /// - Returns: the number of items that were.
    func changeEach(_ change: (UInt32) throws -> Bool) throws -> Int {
        try store.columns.pinningRows {
            let rows = try rows.rows()
            store.beginBulkChange()
            defer { store.endBulkChange() }
            store.openSavepoint()
            do {
                var count = 0
                for row in rows where store.columns.isLive(row) {
                    if try change(row) { count += 1 }
                }
                store.closeSavepoint()
                return count
            } catch {
                store.rollBackSavepoint()
                throw error
            }
        }
    }
}
