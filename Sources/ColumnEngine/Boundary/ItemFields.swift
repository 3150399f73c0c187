public import PropertyList

/// The values that a new item begins with; what is not given gets its default.
public struct ItemFields: Sendable, Hashable {
    /// Empty if not given.
    public var name: String
    /// None if not given.
    public var serialNumber: String?
    /// 0 if not given.
    public var valueInDollars: Int64
    /// The moment of creation if nil.
    public var dateCreated: PropertyListDate?
    /// A new UUID if nil; must not be in use.
    public var itemKey: String?
    /// Custom fields by name.
    public var custom: [String: PropertyListValue]

    public init(
        name: String = "", serialNumber: String? = nil, valueInDollars: Int64 = 0,
        dateCreated: PropertyListDate? = nil, itemKey: String? = nil, custom: [String: PropertyListValue] = [:]
    ) {
        self.name = name
        self.serialNumber = serialNumber
        self.valueInDollars = valueInDollars
        self.dateCreated = dateCreated
        self.itemKey = itemKey
        self.custom = custom
    }

    /// The declared fields of an item whose key is known, by their cells.
    init(itemKey: String, _ cell: (ItemField) -> Cell) {
        let serial = cell(.serialNumber)
        self.init(
            name: CellHeap.string(cell(.name)), serialNumber: serial.isAbsent ? nil : CellHeap.string(serial),
            valueInDollars: cell(.valueInDollars).integerValue,
            dateCreated: PropertyListDate(secondsSinceReferenceDate: cell(.dateCreated).realValue), itemKey: itemKey)
    }

    /// The fields by name, as a record of a file or a table of a script gives them; `itemKey` and `dateCreated` too.
    ///
    /// - Throws: ``StoreError`` that names the first field whose value it cannot take.
    public init(_ values: [String: PropertyListValue]) throws(StoreError) {
        self.init()
        for (name, value) in values { try set(value, forField: name) }
    }

    /// Sets one field by name.
    ///
    /// - Throws: ``StoreError`` with `invalidValue` that names the field.
    public mutating func set(_ value: PropertyListValue?, forField field: String) throws(StoreError) {
        switch field {
        case "name":
            guard case .string(let text)? = try FieldValidation.checked(value, for: .name, named: field) else { return }
            name = text
        case "serialNumber":
            serialNumber = nil
            if case .string(let text)? = try FieldValidation.checked(value, for: .serialNumber, named: field) {
                serialNumber = text
            }
        case "valueInDollars":
            guard case .integer(let number)? = try FieldValidation.checked(value, for: .valueInDollars, named: field)
            else { return }
            valueInDollars = number
        case "dateCreated":
            guard case .date(let date)? = try FieldValidation.checked(value, for: .dateCreated, named: field)
            else { return }
            dateCreated = date
        case "itemKey":
            guard case .string(let text)? = value else { throw FieldValidation.refusal(field, "a string", value) }
            itemKey = text
        default:
            try FieldValidation.checkName(field)
            custom[field] = value
        }
    }
}
