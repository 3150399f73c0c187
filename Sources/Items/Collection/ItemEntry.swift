/// A model with the key of its item.
public struct ItemEntry<Model: Sendable>: Sendable {
    /// The item's key.
    public let key: String
    /// The model.
    public var model: Model

    /// Creates an entry.
    public init(key: String, model: Model) { (self.key, self.model) = (key, model) }
}

extension ItemEntry: Equatable where Model: Equatable {}
extension ItemEntry: Hashable where Model: Hashable {}
