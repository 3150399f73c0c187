import PropertyList

/// A value for an attribute, to be given to many items: `.set(Book.shelf, to: "A3")`.
public struct ItemAssignment<Model>: Sendable {
    let field: String
    let value: PropertyListValue?

    /// Gives an attribute a value; nil removes an optional's. A whole field is set, no part of a nested struct.
    public static func set<Value>(_ attribute: ItemAttribute<Model, Value>, to value: Value) -> Self {
        ItemAssignment(field: attribute.name, value: value.fieldValue)
    }
}
