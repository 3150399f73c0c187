/// An item that is no model: which, and the field that is missing or holds something else.
///
/// Other programs and scripts may write items of any fields. `StoreError.cause` has it where reading stopped.
public struct ItemModelError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The item's key.
    public let itemKey: String
    /// The field, with the names and positions within it: `publisher.city`, `tags[1]`; empty for the item as a whole.
    public let field: String
    /// What is wrong, in one sentence.
    public let message: String

    /// The sentence with the item and the field.
    public var description: String { "item \(itemKey)\(field.isEmpty ? "" : ", field \(field)"): \(message)" }
}
