import ColumnEngine

/// A zeroing reference to a store: nil once the store is freed.
///
/// A weak reference would have the same effect. But the first one to an object moves its reference counts to a side
/// table, and a store is retained and released with every field access.
public final class ItemStoreReference {
    /// Unchecked: the store sets it to nil when it is freed.
    public internal(set) unowned(unsafe) var store: ItemStore?
}
