public import ColumnEngine
import ItemArchive
public import PropertyList

/// The initial values of a new item; fields that are not given get defaults.
public struct ItemFields: Sendable, Hashable {
    /// Empty if not given.
    public var name: String { didSet { carried["name"] = nil } }
    /// None if not given.
    public var serialNumber: String? { didSet { carried["serialNumber"] = nil } }
    /// 0 if not given.
    public var valueInDollars: Int64 { didSet { carried["valueInDollars"] = nil } }
    /// The moment of creation if nil.
    public var dateCreated: PropertyListDate? { didSet { carried["dateCreated"] = nil } }
    /// A new UUID if nil; must not be in use.
    public var itemKey: String?
    /// Custom fields by name.
    public var custom: PropertyListFields
    /// The values of the fields of every item that are of other kinds, by name, as an application's archive has them;
    /// null for a field that the item lacks. Setting the field removes its value here.
    public private(set) var carried: PropertyListFields = [:]

    /// Creates the fields of an item; the store supplies a value where nil.
    public init(
        name: String = "", serialNumber: String? = nil, valueInDollars: Int64 = 0,
        dateCreated: PropertyListDate? = nil, itemKey: String? = nil, custom: PropertyListFields = [:]
    ) {
        self.name = name
        self.serialNumber = serialNumber
        self.valueInDollars = valueInDollars
        self.dateCreated = dateCreated
        self.itemKey = itemKey
        self.custom = custom
    }

    /// Sets one field by name.
    ///
    /// - Throws: `StoreError` with `invalidValue` naming the field.
    public mutating func set(_ value: PropertyListValue?, forField field: String) throws(StoreError) {
        switch field {
        case "itemKey":
            guard case .string? = value else { throw FieldValidation.error(field, "a string", value) }
            setStored(value, field)
        default:
            if let declared = [FieldDeclaration].domain.first(where: { $0.name == field }) {
                let isOptional = declared.unset.isAbsent
                return setStored(
                    try FieldValidation.checked(value, declared.kind, isOptional: isOptional, named: field), field)
            }
            try FieldValidation.checkName(field)
            custom[field] = value
        }
    }

    /// Sets a field to a stored value.
    private mutating func setStored(_ value: PropertyListValue?, _ field: String) {
        switch (field, value) {
        case ("name", .string(let text)?): name = text
        case ("serialNumber", .string(let text)?): serialNumber = text
        case ("serialNumber", nil): serialNumber = nil
        case ("valueInDollars", .integer(let number)?): valueInDollars = number
        case ("dateCreated", .date(let date)?): dateCreated = date
        case ("itemKey", .string(let text)?): itemKey = text
        case ("name", _), ("serialNumber", _), ("valueInDollars", _), ("dateCreated", _):
            carried[field] = value ?? .null
        default: custom[field] = value
        }
    }

    /// Creates fields by name from stored values.
    init(stored values: PropertyListFields) {
        self.init()
        for (name, value) in values { setStored(value, name) }
    }

    /// The given fields by name, including `itemKey`; null for a field that the item lacks.
    public var values: PropertyListFields {
        var values = custom
        values["name"] = .string(name)
        values["serialNumber"] = serialNumber.map { .string($0) }
        values["valueInDollars"] = .integer(valueInDollars)
        values["dateCreated"] = dateCreated.map { .date($0) }
        values["itemKey"] = itemKey.map { .string($0) }
        for (name, value) in carried { values[name] = value }
        return values
    }
}

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
