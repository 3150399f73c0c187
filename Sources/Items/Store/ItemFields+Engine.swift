public import ColumnEngine
import ItemArchive
import PropertyList

// Converts the engine's records, which are fields by name, to `ItemFields`.

extension ItemChange {
    /// The fields of an inserted item, or the last fields of a removed one; nil for other kinds.
    public var fields: ItemFields? {
        get { values.map(ItemFields.init(stored:)) }
        set { values = newValue?.values }
    }

    /// A new item with its fields and key, at a position counted from 0 or, if nil, at the end.
    public static func insert(_ fields: ItemFields, at position: Int? = nil) -> ItemChange {
        var change = insert(fields.values, at: position)
        change.name = fields.name
        return change
    }
}

extension ItemCommit {
    /// All fields of the changed item.
    public func fields(_ entry: Entry) -> ItemFields { ItemFields(stored: values(entry)) }
}

extension ItemSnapshot {
    /// The items' fields, for a persistence that stores whole records.
    public func fields(at position: Int) -> ItemFields { ItemFields(stored: values(at: position)) }
}

extension ItemLoader {
    /// Adds an item at the end.
    ///
    /// - Throws: ``StoreError``: `duplicateKey`, `invalidValue`.
    public func add(_ fields: ItemFields) throws(StoreError) { try add(fields.values) }
}

extension ColumnStore {
    func fields(of row: UInt32) -> ItemFields { ItemFields(stored: dictionary(of: row, marksAbsent: true)) }
}

extension ItemDraft {
    /// Sets all fields of a record.
    func set(_ fields: ItemFields) throws(StoreError) {
        try set(.string(fields.name), for: .name)
        if let serial = fields.serialNumber { try set(.string(serial), for: .serialNumber) }
        try set(.integer(fields.valueInDollars), for: .valueInDollars)
        if let date = fields.dateCreated { try set(.date(date), for: .dateCreated) }
        if !fields.carried.isEmpty { try carry(fields.carried) }
        if let key = fields.itemKey { try set(.string(key), for: .itemKey) }
        for (name, value) in fields.custom {
            if [FieldDeclaration].domain.contains(where: { $0.name == name }) || name == "itemKey" {
                throw StoreError(
                    .invalidValue(field: name), "\(name) is a field of every item and cannot be a custom one")
            }
            try set(value, forField: name)
        }
    }
}
