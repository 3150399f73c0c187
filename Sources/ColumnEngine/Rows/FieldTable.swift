/// The names of fields and their numbers: the declared ones first, then the key, then custom ones as they appear.
package struct FieldTable {
    /// By number.
    package let declared: [FieldDeclaration]
    /// The number of the key, `itemKey`, which is no column.
    let key: ItemField
    /// The declared field that a new item has the moment of its creation in.
    let stamped: ItemField?

    package private(set) var names: [String]
    private var numbers: [String: UInt32] = [:]

    package init(_ declared: [FieldDeclaration]) {
        self.declared = declared
        key = ItemField(rawValue: UInt32(declared.count))
        stamped = declared.firstIndex { $0.isStamped }.map { ItemField(rawValue: UInt32($0)) }
        names = declared.map(\.name) + ["itemKey"]
        for (number, name) in names.enumerated() { numbers[name] = UInt32(number) }
    }

    func name(of field: ItemField) -> String {
        names[Int(field.rawValue)]
    }

    /// What is declared of a field; nil for the key and custom fields.
    func declaration(_ field: ItemField) -> FieldDeclaration? {
        field.rawValue < key.rawValue ? declared[Int(field.rawValue)] : nil
    }

    /// Whether a field takes texts: declared as text, or custom.
    @inline(__always)
    func takesText(_ field: ItemField) -> Bool {
        field.rawValue < key.rawValue ? declared[Int(field.rawValue)].kind == .text : field != key
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
