public import PredicateFormat
public import PropertyList
import Wording

/// A key by which a query groups, sorts or aggregates.
public enum QueryKey<Element> {
    /// The value of a field.
    case field(ItemField)
    /// An expression of the predicate language, and its text.
    case expression(FormatExpression, text: String)
    /// The result of a function.
    case function((Element) throws -> PropertyListValue?)

    /// The same key for other elements.
    package func map<Other>(_ element: @escaping (Other) -> Element?) -> QueryKey<Other> {
        switch self {
        case .field(let field): .field(field)
        case .expression(let expression, let text): .expression(expression, text: text)
        case .function(let function): .function { try element($0).flatMap(function) }
        }
    }
}

/// The key of a query of rows.
package typealias RowKey = QueryKey<UInt32>

extension ColumnStore {
    /// Parses a key: the field of that name if it exists, otherwise an expression over fields.
    ///
    /// - Throws: ``StoreError`` with `unknownField` for a name that no item has; ``FormatPredicateError`` for a
    ///   malformed expression, and for one that has a value for no item because of the kinds of their values.
    package func key(_ text: String) throws -> RowKey {
        if let field = fields.existing(text) { return .field(field) }
        // An empty store has no fields, and accepts every key.
        let isEmpty = count == 0
        // A single name means a field.
        if !isEmpty,
            text.utf8.allSatisfy({
                $0 == UInt8(ascii: "_") || $0 >= 0x80 || Character(UnicodeScalar($0)).isLetter
                    || Character(UnicodeScalar($0)).isNumber
            })
        {
            try checkQueried(text)
        }
        let expression = try FormatExpression(format: text)
        for name in expression.fieldNames { try checkQueried(name) }
        if !isEmpty { try check(expression, text: text) }
        return .expression(expression, text: text)
    }

    /// The key's text, for users.
    func text(of key: RowKey) -> String {
        switch key {
        case .field(let field): fields.name(of: field)
        case .expression(_, let text): text
        case .function: "a function"
        }
    }

    /// Refuses a name that no item has. An empty store knows no custom fields: it only refuses a name that resembles
    /// one of the domain's.
    private func checkQueried(_ name: String) throws(StoreError) {
        if count == 0, NearestNames.nearest(to: name, among: fields.names).isEmpty { return }
        _ = try queriedField(name)
    }

    /// The field named by a query.
    package func queriedField(_ name: String) throws(StoreError) -> ItemField {
        if let field = fields.existing(name) { return field }
        noteWholeRead()
        let nearest = NearestNames.nearest(to: name, among: fields.names)
        let hint = nearest.isEmpty ? "" : ": did you mean \(nearest.joined(separator: " or "))?"
        throw StoreError(.unknownField(name), "no item has a field \(name)\(hint)")
    }
}
