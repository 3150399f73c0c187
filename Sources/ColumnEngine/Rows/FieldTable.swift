import PropertyList

/// The names of fields and their numbers: the declared ones first, then the key, then custom ones as they appear.
package struct FieldTable {
    /// By number.
    package private(set) var names: [String]
    private var numbers: [ExactText: UInt32] = [:]

    /// The name of the field of an item's attachments; see `ColumnStore+Attachments.swift`. Scripts and files cannot
    /// use it: ``FieldValidation/checkName(_:)`` refuses it.
    package static let attachmentName = "$image"
    /// The name for users under which a field's changes are reported.
    package static func shownName(of name: String) -> String { name == attachmentName ? "image" : name }
    /// The field of attachments; nil while no item has had it.
    package private(set) var attachment: ItemField?

    package init(_ declared: [FieldDeclaration]) {
        names = declared.map(\.name) + ["itemKey"]
        for (number, name) in names.enumerated() { numbers[ExactText(name)] = UInt32(number) }
    }

    func name(of field: ItemField) -> String {
        names[Int(field.rawValue)]
    }

    /// The field, if any item ever had it.
    func existing(_ name: String) -> ItemField? { numbers[ExactText(name)].map(ItemField.init(rawValue:)) }

    /// The field; made if it is new.
    mutating func field(named name: String) -> ItemField {
        if let number = numbers[ExactText(name)] { return ItemField(rawValue: number) }
        if name == Self.attachmentName, let attachment { return attachment }
        let number = UInt32(names.count)
        names.append(name)
        if name == Self.attachmentName {
            attachment = ItemField(rawValue: number)
        } else {
            numbers[ExactText(name)] = number
        }
        return ItemField(rawValue: number)
    }
}
