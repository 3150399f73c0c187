/// The kind of a field's values.
package enum FieldKind {
    case text, integer, date, mixed
}

extension FieldKind {
    /// The kind in words, as in "is not an integer".
    package var named: String {
        switch self {
        case .text, .mixed: "a string"
        case .integer: "an integer"
        case .date: "a date"
        }
    }
}
