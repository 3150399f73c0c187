/// The names of fields and their numbers: the declared ones first and `itemKey`, custom ones as they appear.
package struct FieldTable {
    /// By number.
    package static let declared = [
        FieldDeclaration(name: "name", kind: .text, unset: Cell(.shortText)),
        FieldDeclaration(name: "serialNumber", kind: .text, unset: .absent),
        FieldDeclaration(name: "valueInDollars", kind: .integer, unset: .integer(0)),
        FieldDeclaration(name: "dateCreated", kind: .date, unset: .date(0)),
    ]

    package private(set) var names = declared.map(\.name) + ["itemKey"]
    private var numbers: [String: UInt32]

    package init() {
        numbers = [:]
        for (number, name) in names.enumerated() {
            numbers[name] = UInt32(number)
        }
    }

    func name(of field: ItemField) -> String {
        names[Int(field.rawValue)]
    }

    /// The field, if anything ever had it.
    func existing(_ name: String) -> ItemField? {
        // No two of the domain are of one length.
        let domain: ItemField? =
            switch name.utf8.count {
            case 4: .name
            case 7: .itemKey
            case 11: .dateCreated
            case 12: .serialNumber
            case 14: .valueInDollars
            default: nil
            }
        if let domain, names[Int(domain.rawValue)] == name { return domain }
        return numbers[name].map(ItemField.init(rawValue:))
    }

    /// The field, made when it is new.
    mutating func field(named name: String) -> ItemField {
        if let number = numbers[name] { return ItemField(rawValue: number) }
        let number = UInt32(names.count)
        names.append(name)
        numbers[name] = number
        return ItemField(rawValue: number)
    }
}
