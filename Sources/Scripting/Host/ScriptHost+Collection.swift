public import Items

extension ScriptHost {
    /// The host's items as models with generated keys, on the host's thread.
    public func collection<Model>(of type: Model.Type) -> LocalItemCollection<Model> { LocalItemCollection(items) }

    /// The host's items as models whose `id` is the key. Scripts have the same items, with the properties as fields.
    public func collection<Model: Identifiable>(of type: Model.Type) -> LocalItemCollection<Model>
    where Model.ID: ItemIdentifier {
        LocalItemCollection(items)
    }

    /// The host's items as models with a key of their own.
    public func collection<Model>(
        of type: Model.Type, key: ItemAttribute<Model, some ItemIdentifier>
    ) -> LocalItemCollection<Model> {
        LocalItemCollection(items, key: key)
    }
}
