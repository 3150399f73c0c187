import PredicateFormat

/// What a model's items are sorted by; equal ones keep the store's order.
public struct ItemOrdering<Model>: Sendable {
    let path: PredicateKeyPath
    let isDescending: Bool

    /// Lowest first; items without a value before all others. Text is sorted by its bytes.
    public static func ascending<Value>(_ attribute: ItemAttribute<Model, Value>) -> Self
    where Value.Wrapped: OrderedItemValue {
        ItemOrdering(path: attribute.path, isDescending: false)
    }

    /// Highest first; items without a value behind all others.
    public static func descending<Value>(_ attribute: ItemAttribute<Model, Value>) -> Self
    where Value.Wrapped: OrderedItemValue {
        ItemOrdering(path: attribute.path, isDescending: true)
    }
}
