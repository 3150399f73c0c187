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
    public let store: ItemStore
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

    private var reference: ItemReference { store.reference(row) }

    // MARK: Fields of the domain

    /// The item's key, a UUID's text unless another key was given. Never changes.
    public var itemKey: String {
        get throws(StoreError) { store.columns.keyString(try store.row(reference)) }
    }

    /// The name. Throws `invalidValue` if an application's archive has another value, or none, which
    /// ``value(forField:)`` gives; so do the next three.
    public var name: String {
        get throws(StoreError) {
            let cell = try store.cell(.name, of: reference)
            guard cell.isText else { throw try store.error(.name, of: reference) }
            return CellHeap.string(cell)
        }
    }

    /// The serial number, if it has one.
    public var serialNumber: String? {
        get throws(StoreError) {
            let cell = try store.cell(.serialNumber, of: reference)
            if cell.isAbsent { return nil }
            guard cell.isText else { throw try store.error(.serialNumber, of: reference) }
            return CellHeap.string(cell)
        }
    }

    /// The value in dollars.
    public var valueInDollars: Int64 {
        get throws(StoreError) {
            guard let value = try store.valueInDollars(of: reference) else {
                throw try store.error(.valueInDollars, of: reference)
            }
            return value
        }
    }

    /// The time of creation.
    public var dateCreated: PropertyListDate {
        get throws(StoreError) {
            guard let date = try store.dateCreated(of: reference) else {
                throw try store.error(.dateCreated, of: reference)
            }
            return date
        }
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

    /// Sets the name. Throws `itemRemoved`, `vetoed` or `readOnly`.
    public func setName(_ name: String) throws(StoreError) {
        try setValue(.string(name), for: .name)
    }

    /// Changes the serial number. Throws when an observer refuses.
    public func setSerialNumber(_ serialNumber: String?) throws(StoreError) {
        try setValue(serialNumber.map(PropertyListValue.string), for: .serialNumber)
    }

    /// Changes the value in dollars. Throws when an observer refuses.
    public func setValueInDollars(_ value: Int64) throws(StoreError) {
        try store.setValueInDollars(value, of: reference)
    }

    /// Changes the time of creation. Throws when an observer refuses.
    public func setDateCreated(_ date: PropertyListDate) throws(StoreError) {
        try setValue(.date(date), for: .dateCreated)
    }

    // MARK: Any field

    /// A field's value by name; nil for an absent field.
    public func value(forField name: String) throws(StoreError) -> PropertyListValue? {
        let row = try store.row(reference)
        return store.columns.existingField(named: name).flatMap { store.columns.value(row, $0) }
    }

    /// A field's value by number; nil for an absent field.
    public func value(for field: ItemField) throws(StoreError) -> PropertyListValue? {
        store.columns.value(try store.row(reference), field)
    }

    /// Sets a field by name; nil removes a custom field, and empties `serialNumber`.
    ///
    /// - Throws: `StoreError`: `invalidValue` naming the field, `readOnlyField` for `itemKey`, `itemRemoved`,
    ///   `vetoed`, `readOnly`.
    public func setValue(_ value: PropertyListValue?, forField name: String) throws(StoreError) {
        let row = try store.row(reference)
        try store.set(row, try store.columns.fieldForAssignment(name, value), value)
    }

    /// Sets a field by number; as ``setValue(_:forField:)``.
    public func setValue(_ value: PropertyListValue?, for field: ItemField) throws(StoreError) {
        try store.setValue(value, for: field, of: reference)
    }

    /// Calls `body` with a text field's UTF-8 bytes, without making a `String`; with nil if the field is absent or not
    /// a text. The bytes are only valid during the call.
    public func withUTF8<Result>(
        of field: ItemField, _ body: (UnsafeBufferPointer<UInt8>?) -> Result
    ) throws(StoreError) -> Result {
        try store.withText(of: field, reference, body)
    }

    /// Sets a text field from UTF-8 bytes; makes a `String` only if an observer needs one.
    ///
    /// - Throws: `StoreError`: `invalidValue` for bytes that are not UTF-8, and the errors of
    ///   ``setValue(_:forField:)``.
    public func setUTF8(_ bytes: UnsafeBufferPointer<UInt8>, for field: ItemField) throws(StoreError) {
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
    public var allFields: ItemFields {
        get throws(StoreError) { store.columns.fields(of: try store.row(reference)) }
    }

    // MARK: As a whole

    /// A deep copy with a new key, appended to the store.
    public func copy() throws(StoreError) -> Item {
        var fields = try allFields
        // Recorded first: an observer of the new item may commit it.
        fields.itemKey = store.recordCopy(of: try itemKey)
        return try store.createItem(fields)
    }

    /// Removes the item from its store.
    public func remove() throws(StoreError) {
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

extension Item: CustomStringConvertible {
    /// `Fluffy Bear (1A2B3): Worth $78, recorded on 2026-11-21 04:13:00 +0000`, or `removed item`.
    public var description: String { description { $0.text } }

    /// The same with a custom format of dates.
    package func description(of date: (PropertyListDate) -> String) -> String {
        guard !isRemoved else { return "removed item" }
        func text(_ field: ItemField) -> String {
            switch store.columns.value(row, field) {
            case nil where field == .serialNumber: ""
            case .string(let text)? where field == .name || field == .serialNumber: text
            case .utf16? where field == .name || field == .serialNumber: store.columns.value(row, field)?.text ?? ""
            case .date(let moment)?: date(moment)
            case let value: FieldValidation.describe(value)
            }
        }
        return "\(text(.name)) (\(text(.serialNumber))): "
            + "Worth $\(text(.valueInDollars)), recorded on \(text(.dateCreated))"
    }
}
