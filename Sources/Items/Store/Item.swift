import ColumnEngine
public import PropertyList

/// One thing in a store, the same object for as long as anyone holds it.
///
/// An `Item` has no fields of its own: it names a row of its store, and every change goes through the store, which
/// tells observers, keeps the history and writes the journal. It outlives its removal safely: each access then throws
/// `item was removed`. Undoing the removal brings the same object back to life. Not `Sendable`: it belongs to the
/// thread that owns the store.
public final class Item {
    /// The store that the item belongs to.
    public let store: ItemStore
    let row: UInt32

    init(store: ItemStore, row: UInt32) {
        self.store = store
        self.row = row
    }

    deinit {
        store.columns.handleWasReleased(row)
    }

    /// Whether the item is out of its store.
    public var isRemoved: Bool { !store.columns.isAccessible(row) }

    /// Throws when the item is out of its store.
    @inline(__always)
    func check() throws(StoreError) {
        if !store.columns.isAccessible(row) { throw .itemWasRemoved }
    }

    // MARK: Fields of the domain

    /// The item's key, a UUID's text unless it was given another. Never changes.
    public var itemKey: String {
        get throws(StoreError) {
            try check()
            return store.columns.keyString(row)
        }
    }

    public var name: String {
        get throws(StoreError) {
            try check()
            return CellHeap.string(store.columns.cell(row, .name))
        }
    }

    public var serialNumber: String? {
        get throws(StoreError) {
            try check()
            let cell = store.columns.cell(row, .serialNumber)
            return cell.isAbsent ? nil : CellHeap.string(cell)
        }
    }

    public var valueInDollars: Int64 {
        get throws(StoreError) {
            try check()
            return store.columns.cell(row, .valueInDollars).integerValue
        }
    }

    public var dateCreated: PropertyListDate {
        get throws(StoreError) {
            try check()
            return PropertyListDate(secondsSinceReferenceDate: store.columns.cell(row, .dateCreated).realValue)
        }
    }

    /// Where the item stands in its store, from 0.
    public var position: Int {
        get throws(StoreError) {
            guard store.columns.isLive(row) else { throw .itemWasRemoved }
            return store.columns.position(of: row)
        }
    }

    /// Sets the name. Throws `itemRemoved`, `vetoed` or `readOnly`.
    public func setName(_ name: String) throws(StoreError) {
        try store.set(row, .name, .string(name))
    }

    public func setSerialNumber(_ serialNumber: String?) throws(StoreError) {
        try store.set(row, .serialNumber, serialNumber.map(PropertyListValue.string))
    }

    public func setValueInDollars(_ value: Int64) throws(StoreError) {
        try store.setCell(row, .valueInDollars, .integer(value))
    }

    public func setDateCreated(_ date: PropertyListDate) throws(StoreError) {
        try store.set(row, .dateCreated, .date(date))
    }

    // MARK: Any field

    /// A field's value by name; nil for an absent field.
    public func value(forField name: String) throws(StoreError) -> PropertyListValue? {
        try check()
        guard let field = store.columns.existingField(named: name) else { return nil }
        return store.columns.value(row, field)
    }

    /// A field's value by number; nil for an absent field.
    public func value(for field: ItemField) throws(StoreError) -> PropertyListValue? {
        try check()
        return store.columns.value(row, field)
    }

    /// Sets a field by name; nil removes a custom field, and empties `serialNumber`.
    ///
    /// - Throws: ``StoreError``: `invalidValue` naming the field, `readOnlyField` for `itemKey`, `itemRemoved`,
    ///   `vetoed`, `readOnly`.
    public func setValue(_ value: PropertyListValue?, forField name: String) throws(StoreError) {
        try check()
        try store.set(row, try store.columns.fieldForAssignment(name, value), value)
    }

    /// Sets a field by number; as ``setValue(_:forField:)``.
    public func setValue(_ value: PropertyListValue?, for field: ItemField) throws(StoreError) {
        try store.set(row, field, value)
    }

    /// Calls `body` with a text field's bytes, UTF-8, without making a `String`; with nil when the field is absent or
    /// holds something else. The bytes must not be kept.
    public func withUTF8<Result>(
        of field: ItemField, _ body: (UnsafeBufferPointer<UInt8>?) -> Result
    ) throws(StoreError) -> Result {
        try check()
        if field == .itemKey { return store.columns.withKey(row) { body($0) } }
        let cell = store.columns.cell(row, field)
        return cell.isText ? cell.withText { body($0) } : body(nil)
    }

    /// Sets a text field from UTF-8 bytes, without making a `String` where no observer needs one.
    ///
    /// - Throws: ``StoreError``: `invalidValue` for bytes that are not UTF-8, and all that
    ///   ``setValue(_:forField:)`` throws.
    public func setUTF8(_ bytes: UnsafeBufferPointer<UInt8>, for field: ItemField) throws(StoreError) {
        try store.setUTF8(row, field, bytes)
    }

    /// The names of the custom fields that the item has, in byte order.
    public var customFieldNames: [String] {
        get throws(StoreError) {
            try check()
            return store.columns.customFields(row).map { store.columns.fieldNames[Int($0)] }.sorted {
                $0.utf8.lexicographicallyPrecedes($1.utf8)
            }
        }
    }

    /// All the fields, as values for a new item; with the key.
    public var allFields: ItemFields {
        get throws(StoreError) {
            try check()
            return store.columns.fields(of: row)
        }
    }

    // MARK: As a whole

    /// A deep copy with a new key, appended to the store.
    public func copy() throws(StoreError) -> Item {
        try check()
        var fields = store.columns.fields(of: row)
        // Noted first: what observes the new item may commit it.
        let key = store.noteCopy(of: try itemKey)
        fields.itemKey = key
        return try store.createItem(fields)
    }

    /// Takes the item out of its store.
    public func remove() throws(StoreError) {
        try store.removeItem(self)
    }
}

extension Item: Hashable {
    /// Items are equal when they are the same object.
    public static func == (left: Item, right: Item) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

extension Item: CustomStringConvertible {
    /// `Fluffy Bear (1A2B3): Worth $78, recorded on 2026-11-21 04:13:00 +0000`, or `removed item`.
    public var description: String {
        guard !isRemoved else { return "removed item" }
        let table = store.columns.fields(of: row)
        let date = table.dateCreated ?? PropertyListDate(secondsSinceReferenceDate: 0)
        return
            "\(table.name) (\(table.serialNumber ?? "")): Worth $\(table.valueInDollars), recorded on \(date.text)"
    }
}
