import ColumnEngine

/// A zeroing reference to a store: nil once the store is gone.
///
/// A weak reference would do the same. But an object that has one counts its references in a table beside it from then
/// on, and a store is retained and released with every field that is read.
public final class ItemStoreReference {
    /// Unchecked: the store sets it to nil when it goes.
    public internal(set) unowned(unsafe) var store: ItemStore?
}
