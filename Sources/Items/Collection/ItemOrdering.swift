import PredicateFormat

/// A sort criterion for a model's items; equal ones keep the store's order.
public struct ItemOrdering<Model>: Sendable {
    let path: PredicateKeyPath
    let isDescending: Bool

    /// Lowest first; items without a value precede all others. Text is sorted by its bytes.
    public static func ascending<Value>(_ attribute: ItemAttribute<Model, Value>) -> Self
    where Value.Wrapped: OrderedItemValue {
        ItemOrdering(path: attribute.path, isDescending: false)
    }

    /// Highest first; items without a value follow all others.
    public static func descending<Value>(_ attribute: ItemAttribute<Model, Value>) -> Self
    where Value.Wrapped: OrderedItemValue {
        ItemOrdering(path: attribute.path, isDescending: true)
    }
}
