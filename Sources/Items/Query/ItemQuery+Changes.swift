import ColumnEngine
public import PropertyList

extension ItemQuery {
    /// Sets fields of every item; if one is refused, none is set. Nil removes a field. Observers are notified once.
    ///
    /// - Returns: the number of items.
    @discardableResult
    public func update(_ values: [String: PropertyListValue?]) throws -> Int {
        try update(exactly: Dictionary(uniqueKeysWithValues: values.map { (ExactText($0.key), $0.value) }))
    }

    /// Sets fields by names that are compared by their bytes.
    @discardableResult
    package func update(exactly values: [ExactText: PropertyListValue?]) throws -> Int {
        var fields: [(ItemField, PropertyListValue?)] = []
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            fields.append((try store.columns.fieldForAssignment(name.string, value), value))
        }
        return try changeEach { row in
            for (field, value) in fields { try store.set(row, field, value) }
            return true
        }
    }

    /// Runs a function on every item, as one change: if it throws, no item is changed. Observers are notified once.
    ///
    /// - Parameter change: changes its item, or other items.
    /// - Returns: the number of changed items.
    /// - Throws: errors of the function; `StoreError` if an observer refuses.
    @discardableResult
    public func update(_ change: (Item) throws -> Void) throws -> Int {
        try changeEach { row in
            let before = store.columns.changeCount
            try change(store.item(row: row))
            return store.columns.changeCount > before
        }
    }

    /// Removes every item; if an observer refuses one, none is removed. Observers are notified once.
    ///
    /// - Returns: the number of items.
    @discardableResult
    public func remove() throws -> Int {
        try changeEach { row in
            try store.remove(row: row)
            return true
        }
    }

    /// Changes every item or, if one call throws, none; the function returns whether it changed its item.
    ///
    /// - Returns: the number of changed items.
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
