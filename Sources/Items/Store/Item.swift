import ColumnEngine
public import PropertyList

/// An item of a store; the same object as long as it is referenced.
///
/// An `Item` stores no fields: it refers to a row of its store. Every change goes through the store, which notifies
/// observers, keeps the history and writes the journal. A removed item is safe to use: each access throws
/// `item was removed`. Undoing the removal makes the same object valid again. Not `Sendable`: it belongs to the thread
/// that owns the store.
public final class Item {
    /// The store that the item belongs to.
    package let store: ItemStore
    let row: UInt32

    init(store: ItemStore, row: UInt32) {
        self.store = store
        self.row = row
    }

    deinit {
        store.columns.handleWasReleased(row)
    }

    /// Whether the item is not in its store.
    public var isRemoved: Bool { !store.columns.isAccessible(row) }

    var reference: ItemReference { store.reference(row) }

    /// The item's key, a UUID's text unless another key was given. Never changes.
    public var itemKey: String {
        get throws(StoreError) { store.columns.keyString(try store.row(reference)) }
    }

    /// The name in quotes, or the key of an item without one: for messages.
    package var label: String {
        get throws(StoreError) { store.columns.label(try store.row(reference)) }
    }

    /// The item's position in its store, counted from 0.
    public var position: Int {
        get throws(StoreError) {
            guard store.columns.isLive(row) else { throw .itemWasRemoved }
            return store.columns.position(of: row)
        }
    }

    // MARK: Any field

    /// A field's value by name; nil for an absent field.
    public func value(forField name: String) throws(StoreError) -> PropertyListValue? {
        let row = try store.row(reference)
        return store.columns.existingField(named: name).flatMap { store.columns.value(row, $0) }
    }

    /// A field's value by number; nil for an absent field.
    package func value(for field: ItemField) throws(StoreError) -> PropertyListValue? {
        store.columns.value(try store.row(reference), field)
    }

    /// Sets a field by name; nil removes a custom field, or one that an item may lack.
    ///
    /// - Throws: `StoreError`: `invalidValue` naming the field, `readOnlyField` for `itemKey`, `itemRemoved`,
    ///   `vetoed`, `readOnly`.
    public func setValue(_ value: PropertyListValue?, forField name: String) throws(StoreError) {
        let row = try store.row(reference)
        try store.set(row, try store.columns.fieldForAssignment(name, value), value)
    }

    /// Adds an amount, an integer or a real, to a field's number; a field without a value counts as 0. A field that is
    /// declared as money has whole cents afterwards.
    ///
    /// In a collection that is shared with other hosts an increment follows whatever they have done to the field meanwhile,
    /// and conflicts with nothing: of two hosts that add 1, both count. Undoing it subtracts the amount again.
    ///
    /// - Returns: the number afterwards.
    /// - Throws: `StoreError`: `invalidValue` for a field with another value than a number, for a sum that is more than
    ///   an integer holds, and for one that is not what is declared; as ``setValue(_:forField:)``.
    @discardableResult
    public func increment(_ name: String, by amount: some NumericItemValue = 1) throws(StoreError) -> PropertyListValue
    {
        try store.increment(name, of: reference, by: amount.fieldValue ?? .null)
    }

    /// Sets a field by number; as ``setValue(_:forField:)``.
    package func setValue(_ value: PropertyListValue?, for field: ItemField) throws(StoreError) {
        try store.setValue(value, for: field, of: reference)
    }

    /// Calls `body` with a text field's UTF-8 bytes, without making a `String`; with nil if the field is absent or not
    /// a text. The bytes are only valid during the call.
    package func withUTF8<Result>(
        of field: ItemField, _ body: (UnsafeBufferPointer<UInt8>?) -> Result
    ) throws(StoreError) -> Result {
        try store.withText(of: field, reference, body)
    }

    /// Sets a text field from UTF-8 bytes; makes a `String` only if an observer needs one.
    ///
    /// - Throws: `StoreError`: `invalidValue` for bytes that are not UTF-8, and the errors of
    ///   ``setValue(_:forField:)``.
    package func setUTF8(_ bytes: UnsafeBufferPointer<UInt8>, for field: ItemField) throws(StoreError) {
        try store.setUTF8(bytes, for: field, of: reference)
    }

    /// The names of the item's custom fields, in byte order.
    public var customFieldNames: [String] {
        get throws(StoreError) {
            store.columns.customFields(try store.row(reference)).map { store.columns.fieldNames[Int($0)] }.sorted {
                $0.utf8.lexicographicallyPrecedes($1.utf8)
            }
        }
    }

    /// All fields including the key, as values for a new item.
    package var allFields: ItemFields {
        get throws(StoreError) { store.columns.fields(of: try store.row(reference)) }
    }

    // MARK: As a whole

    /// A deep copy with a new key and the same attachments, appended to the store.
    ///
    /// - Throws: `StoreError`; there is no copy then.
    public func copy() throws(StoreError) -> Item {
        var fields = try allFields
        let key = try itemKey
        // Recorded first: an observer of the new item may commit it.
        fields.itemKey = store.recordCopy(of: key)
        guard let attachments = store.attachments, attachments.hasBytes(forKey: key) else {
            return try store.createItem(fields)
        }
        let bytes = try attachments.allBytes(forKey: key)
        return try StoreError.answering {
            try store.allOrNone {
                let copy = try store.createItem(fields)
                try attachments.setAllBytes(bytes, forKey: copy.itemKey)
                return copy
            }
        }
    }

    /// Removes the item from its store.
    package func remove() throws(StoreError) {
        try store.removeItem(self)
    }
}

extension Item: Hashable {
    /// Items are equal if they are the same object.
    public static func == (left: Item, right: Item) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
