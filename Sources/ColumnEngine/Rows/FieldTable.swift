/// The names of fields and their numbers: the declared ones first, then the key, then custom ones as they appear.
package struct FieldTable {
    /// By number.
    package private(set) var names: [String]
    private var numbers: [String: UInt32] = [:]

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
        let number = UInt32(names.count)
        names.append(name)
        numbers[name] = number
        return ItemField(rawValue: number)
    }
}
