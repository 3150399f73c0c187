import PropertyList

/// A new value for an attribute of many items: `.set(Book.shelf, to: "A3")`.
public struct ItemAssignment<Model>: Sendable {
    let field: String
    let value: PropertyListValue?

    /// Sets an attribute; nil removes an optional's value. Sets a whole field, never a part of a nested struct.
    public static func set<Value>(_ attribute: ItemAttribute<Model, Value>, to value: Value) -> Self {
        ItemAssignment(field: attribute.name, value: value.fieldValue)
    }
}
