/// The names of fields and their numbers: the declared ones first, then the key, then custom ones as they appear.
package struct FieldTable {
    /// By number.
    package private(set) var names: [String]
    private var numbers: [String: UInt32] = [:]

    /// The name of the field that says which bytes go with an item; see `ColumnStore+Attachments.swift`. No script and no
    /// file can name it: ``FieldValidation/checkName(_:)`` refuses it.
    package static let attachmentName = "$image"
    /// The name for people of a field's name: changes are told under it.
    package static func shownName(of name: String) -> String { name == attachmentName ? "image" : name }
    /// That field; nil while no item has had it.
    package private(set) var attachment: ItemField?

    package init(_ declared: [FieldDeclaration]) {
        names = declared.map(\.name) + ["itemKey"]
        for (number, name) in names.enumerated() { numbers[name] = UInt32(number) }
    }

    func name(of field: ItemField) -> String {
        names[Int(field.rawValue)]
    }

    /// The field, if anything ever had it.
    func existing(_ name: String) -> ItemField? { numbers[name].map(ItemField.init(rawValue:)) }

    /// The field, made when it is new.
    mutating func field(named name: String) -> ItemField {
        if let number = numbers[name] { return ItemField(rawValue: number) }
        if name == Self.attachmentName, let attachment { return attachment }
        let number = UInt32(names.count)
        names.append(name)
        if name == Self.attachmentName {
            attachment = ItemField(rawValue: number)
        } else {
            numbers[name] = number
        }
        return ItemField(rawValue: number)
    }
}
