import ColumnEngine
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
        switch try columns.key(text) {
        case .field(let field): .field(field)
        case .expression(let expression, let text): .expression(expression, text: text)
        case .function: preconditionFailure("no text is a function")
        }
    }

    /// The key as the rows have it. A function is not asked about an item that an earlier one has removed.
    func rowKey(_ key: ItemKey) -> RowKey {
        switch key {
        case .field(let field): .field(field)
        case .expression(let expression, let text): .expression(expression, text: text)
        case .function(let function):
            .function { [self] row in
                guard columns.isLive(row) else { return nil }
                return try function(item(row: row))
            }
        }
    }
}
