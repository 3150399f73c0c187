public import Items

extension ScriptHost {
    /// The host's items as models whose keys are made for them, on the host's thread.
    public func collection<Model>(of type: Model.Type) -> LocalItemCollection<Model> { LocalItemCollection(items) }

    /// The host's items as models whose `id` is the key: a script sees the same items, a model's properties as fields.
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
