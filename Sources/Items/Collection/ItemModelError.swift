/// An item that does not decode as a model, with the field that is missing or has another kind of value.
///
/// Other programs and scripts may store any fields. If it ends a read, it is the `StoreError.cause`.
public struct ItemModelError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The item's key.
    public let itemKey: String
    /// The field, with nested names and indexes: `publisher.city`, `tags[1]`; empty for the item as a whole.
    public let field: String
    /// The problem, in one sentence.
    public let message: String

    /// The message with the item and the field.
    public var description: String { "item \(itemKey)\(field.isEmpty ? "" : ", field \(field)"): \(message)" }
}
