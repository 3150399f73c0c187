public import ColumnEngine
import ItemArchive
public import PropertyList

/// The initial values of a new item, or all of an item; fields that are not given get defaults.
public struct ItemFields: Sendable, Hashable {
    /// The fields of every item by name, and `itemKey`; null for a field that the item lacks.
    var declared: PropertyListFields
    /// Custom fields by name.
    package var custom: PropertyListFields

    init(_ declared: PropertyListFields, custom: PropertyListFields) {
        (self.declared, self.custom) = (declared, custom)
    }

    /// Creates fields by name from stored values.
    init(stored values: PropertyListFields, _ schema: ItemSchema = .household) {
        (declared, custom) = ([:], [:])
        for (name, value) in values {
            if schema.has(name) { declared[name] = value } else { custom[name] = value }
        }
    }

    /// A new UUID if nil; must not be in use.
    public var itemKey: String? {
        get { if case .string(let text)? = declared["itemKey"] { text } else { nil } }
        set { declared["itemKey"] = newValue.map { .string($0) } }
    }

    /// The given fields by name, including `itemKey`; null for a field that the item lacks.
    public var values: PropertyListFields { custom.merging(declared) { $1 } }
}

// Converts the engine's records, which are fields by name, to `ItemFields`.

extension ItemChange {
    /// The fields of an inserted item, or the last fields of a removed one; nil for other kinds.
    package var fields: ItemFields? {
        get { values.map { ItemFields(stored: $0) } }
        set { values = newValue?.values }
    }

    /// A new item with its fields and key, at a position counted from 0 or, if nil, at the end.
    public static func insert(_ fields: ItemFields, at position: Int? = nil) -> ItemChange {
        var change = insert(fields.values, at: position)
        change.name = fields.name
        return change
    }
}

extension ItemSnapshot {
    /// The items' fields, for a persistence that stores whole records.
    package func fields(at position: Int) -> ItemFields { ItemFields(stored: values(at: position), schema) }
}

extension ItemLoader {
    /// Adds an item at the end.
    ///
    /// - Throws: ``StoreError``: `duplicateKey`, `invalidValue`.
    public func add(_ fields: ItemFields) throws(StoreError) { try add(fields.values) }
}

extension ColumnStore {
    func fields(of row: UInt32) -> ItemFields { ItemFields(stored: dictionary(of: row, marksAbsent: true), schema) }
}

extension ItemDraft {
    /// Sets all fields of a record.
    func set(_ fields: ItemFields) throws(StoreError) {
        let schema = schema
        var carried: PropertyListFields = [:]
        for (name, value) in fields.declared {
            if schema.field(named: name)?.kind.takes(value) == false {
                carried[name] = value
            } else {
                try set(value, forField: name)
            }
        }
        if !carried.isEmpty { try carry(carried) }
        for (name, value) in fields.custom {
            if schema.has(name) {
                throw StoreError(
                    .invalidValue(field: name), "\(name) is a field of every item and cannot be a custom one")
            }
            try set(value, forField: name)
        }
    }
}
