import Items

/// Help on what is declared of the items' fields: `help(item)`, `help("price")`.
enum FieldHelp {
    /// The help on a field by its name, alone or behind `Item.`; nil if nothing is declared of it.
    static func text(_ subject: String, _ items: ItemStore) -> String? {
        guard items.hasDeclaredFields else { return nil }
        let name = subject.hasPrefix("Item.") ? String(subject.dropFirst("Item.".count)) : subject
        return items.declarations[name].map { "Item.\(self.name($0)): \($0.kind.rawValue)\n  \($0.documentation)\n" }
    }

    /// The declared fields, in order, as a part of the help on an item; empty if there are none.
    static func list(_ items: ItemStore) -> String {
        let fields = items.declaredFields
        if fields.isEmpty { return "" }
        return "\ndeclared fields\n"
            + fields.map { "  .\(name($0))  \($0.kind.rawValue)\n      \($0.documentation)\n" }.joined()
    }

    /// A field's name on one line.
    static func name(_ field: FieldDeclaration) -> String { VisibleText.line(field.name.shortened(to: 200)) }
}
