public import ColumnEngine
import Glibc
public import PropertyList

/// A household's items: the fields that the application and its archives have, and what is named after them.
///
/// Nothing else in this module or below it names a field.
extension ItemSchema {
    /// The fields of a household's items, with the names that they have in archives of this application's editions.
    public static let household = ItemSchema(
        [
            .text("name", otherNames: ["itemName", "possessionName"]),
            .text("serialNumber", isOptional: true, otherNames: ["serialnumber", "serialName"]),
            .integer("valueInDollars", otherNames: ["valueDollars", "value"]),
            .date("dateCreated", isStamped: true),
        ],
        keyNames: ["itemKey", "imageKey", "itemUUIDKey"], imageKeyName: "imageKey",
        classNames: ["possession", "possessions"])
}

extension ItemField {
    /// An item's name.
    @inlinable package static var name: ItemField { ItemField(rawValue: 0) }
    /// Its serial number.
    @inlinable package static var serialNumber: ItemField { ItemField(rawValue: 1) }
    /// Its value in dollars.
    @inlinable package static var valueInDollars: ItemField { ItemField(rawValue: 2) }
    /// The time of its creation.
    @inlinable package static var dateCreated: ItemField { ItemField(rawValue: 3) }
    /// Its key, which is unique.
    @inlinable package static var itemKey: ItemField { ItemField(rawValue: 4) }

    /// A field of the household by its name's bytes; nil for any other name. All names differ in length.
    package init?(domain name: UnsafeBufferPointer<UInt8>) {
        let field: ItemField
        let expected: StaticString
        switch name.count {
        case 4: (field, expected) = (.name, "name")
        case 7: (field, expected) = (.itemKey, "itemKey")
        case 11: (field, expected) = (.dateCreated, "dateCreated")
        case 12: (field, expected) = (.serialNumber, "serialNumber")
        case 14: (field, expected) = (.valueInDollars, "valueInDollars")
        default: return nil
        }
        guard let bytes = name.baseAddress, memcmp(bytes, expected.utf8Start, name.count) == 0 else { return nil }
        self = field
    }
}

extension ItemFields {
    /// Creates the fields of a household's item; the store supplies a value where nil.
    public init(
        name: String = "", serialNumber: String? = nil, valueInDollars: Int64 = 0,
        dateCreated: PropertyListDate? = nil, itemKey: String? = nil, custom: PropertyListFields = [:]
    ) {
        self.init(["name": .string(name), "valueInDollars": .integer(valueInDollars)], custom: custom)
        self.serialNumber = serialNumber
        self.dateCreated = dateCreated
        self.itemKey = itemKey
    }

    /// Empty if not given.
    package var name: String {
        get { if case .string(let text)? = declared["name"] { text } else { "" } }
        set { declared["name"] = .string(newValue) }
    }
    /// None if not given.
    package var serialNumber: String? {
        get { if case .string(let text)? = declared["serialNumber"] { text } else { nil } }
        set { declared["serialNumber"] = newValue.map { .string($0) } }
    }
    /// 0 if not given.
    package var valueInDollars: Int64 {
        get { if case .integer(let number)? = declared["valueInDollars"] { number } else { 0 } }
        set { declared["valueInDollars"] = .integer(newValue) }
    }
    /// The moment of creation if nil.
    package var dateCreated: PropertyListDate? {
        get { if case .date(let date)? = declared["dateCreated"] { date } else { nil } }
        set { declared["dateCreated"] = newValue.map { .date($0) } }
    }

    /// The values of the fields of every item that are of other kinds, by name, as an application's archive has them;
    /// null for a field that the item lacks. Setting the field removes its value here.
    package var carried: PropertyListFields {
        var carried: PropertyListFields = [:]
        for (name, value) in declared where ItemSchema.household.field(named: name)?.kind.takes(value) == false {
            carried[name] = value
        }
        return carried
    }

    /// Sets one field by name.
    ///
    /// - Throws: `StoreError` with `invalidValue` naming the field.
    public mutating func set(_ value: PropertyListValue?, forField name: String) throws(StoreError) {
        if name == "itemKey" {
            guard case .string? = value else { throw FieldValidation.error(name, "a string", value) }
            declared[name] = value
        } else if let kind = ItemSchema.household.field(named: name)?.kind {
            declared[name] = try FieldValidation.checked(value, kind.kind, isOptional: kind.isOptional, named: name)
        } else {
            try FieldValidation.checkName(name)
            custom[name] = value
        }
    }
}

/// A household's item.
extension Item {
    /// The name. Throws `invalidValue` if an application's archive has another value, or none, which
    /// ``value(forField:)`` gives; so do the next three.
    public var name: String {
        get throws(StoreError) {
            try checkHousehold()
            guard let text = try text(.name) else { throw try store.error(.name, of: reference) }
            return text
        }
    }

    /// The serial number, if it has one.
    public var serialNumber: String? {
        get throws(StoreError) {
            try checkHousehold()
            return try text(.serialNumber)
        }
    }

    /// The value in dollars.
    public var valueInDollars: Int64 {
        get throws(StoreError) {
            try checkHousehold()
            guard let value = try store.integer(of: .valueInDollars, reference) else {
                throw try store.error(.valueInDollars, of: reference)
            }
            return value
        }
    }

    /// The time of creation.
    public var dateCreated: PropertyListDate {
        get throws(StoreError) {
            try checkHousehold()
            guard let date = try store.date(of: .dateCreated, reference) else {
                throw try store.error(.dateCreated, of: reference)
            }
            return date
        }
    }

    /// Refuses the use of a household's fields on an item that has others: its own are by ``value(forField:)``.
    private func checkHousehold() throws(StoreError) {
        if store.schema.isHousehold { return }
        throw StoreError(
            .unknownField("name"),
            "the items of this store have not the fields of a household: use value(forField:) and setValue(_:forField:)"
        )
    }

    /// The text that names the item for people; nil if it has none.
    package var title: String? {
        guard let name = store.titleName, case .string(let text)? = (try? value(forField: name)) ?? nil else {
            return nil
        }
        return text
    }

    /// A text; nil if the item has none.
    private func text(_ field: ItemField) throws(StoreError) -> String? {
        let cell = try store.cell(field, of: reference)
        if cell.isAbsent { return nil }
        guard cell.isText else { throw try store.error(field, of: reference) }
        return CellHeap.string(cell)
    }

    /// Sets the name. Throws `itemRemoved`, `vetoed` or `readOnly`.
    package func setName(_ name: String) throws(StoreError) {
        try checkHousehold()
        try setValue(.string(name), for: .name)
    }

    /// Changes the serial number. Throws when an observer refuses.
    package func setSerialNumber(_ serialNumber: String?) throws(StoreError) {
        try checkHousehold()
        try setValue(serialNumber.map(PropertyListValue.string), for: .serialNumber)
    }

    /// Changes the value in dollars. Throws when an observer refuses.
    package func setValueInDollars(_ value: Int64) throws(StoreError) {
        try checkHousehold()
        try store.setInteger(value, for: .valueInDollars, of: reference)
    }

    /// Changes the time of creation. Throws when an observer refuses.
    package func setDateCreated(_ date: PropertyListDate) throws(StoreError) {
        try checkHousehold()
        try setValue(.date(date), for: .dateCreated)
    }
}

extension Item: CustomStringConvertible {
    /// `Fluffy Bear (1A2B3): Worth $78, recorded on 2026-11-21 04:13:00 +0000`, or `removed item`.
    public var description: String { description { $0.text } }

    /// The same with a custom format of dates.
    package func description(of date: (PropertyListDate) -> String) -> String {
        guard !isRemoved else { return "removed item" }
        if !store.schema.isHousehold { return VisibleText.line(store.columns.titleOrKey(row)) }
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

extension ItemStore {
    /// Appends an item named by an adjective and a noun, with a value below 100 and a serial number such as `1A2B3`.
    @discardableResult
    package func randomItem() throws(StoreError) -> Item {
        let adjectives = ["Fluffy", "Rusty", "Shiny"]
        let nouns = ["Bear", "Spork", "Mac"]
        let name = adjectives[columns.keySource.number(below: 3)] + " " + nouns[columns.keySource.number(below: 3)]
        var serial = ""
        for place in 0..<5 {
            let first: UInt8 = place % 2 == 0 ? 0x30 : 0x41
            let kinds: UInt64 = place % 2 == 0 ? 10 : 26
            serial.unicodeScalars.append(Unicode.Scalar(first + UInt8(columns.keySource.number(below: kinds))))
        }
        let value = Int64(columns.keySource.number(below: 100))
        return try createItem(ItemFields(name: name, serialNumber: serial, valueInDollars: value))
    }
}
