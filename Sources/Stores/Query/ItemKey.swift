public import PredicateFormat
public import PropertyList

/// What a query groups, sorts or adds up by.
public enum ItemKey {
    case field(ItemField)
    /// An expression of the predicate language, and its text.
    case expression(FormatExpression, text: String)
    case function((Item) throws -> PropertyListValue?)
}

extension ItemStore {
    /// The key that a text is: the field of that name if there is one, else an expression over fields.
    ///
    /// - Throws: ``StoreError`` with `unknownField` for a name that no item has; ``FormatPredicateError`` for an expression that
    ///   cannot be read.
    public func key(_ text: String) throws -> ItemKey {
        if let field = fields.existing(text) { return .field(field) }
        // A name alone is meant as a field.
        if text.utf8.allSatisfy({
            $0 == UInt8(ascii: "_") || $0 >= 0x80 || Character(UnicodeScalar($0)).isLetter
                || Character(UnicodeScalar($0)).isNumber
        }) {
            _ = try queriedField(text)
        }
        let expression = try FormatExpression(format: text)
        for name in expression.fields.sorted() { _ = try queriedField(name) }
        return .expression(expression, text: text)
    }

    /// The key's text, for people.
    func text(of key: ItemKey) -> String {
        switch key {
        case .field(let field): name(of: field)
        case .expression(_, let text): text
        case .function: "a function"
        }
    }
}
