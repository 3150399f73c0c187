/// What a serializable transaction read: a commit of another host that changed some of it stands in the transaction's way.
public enum ItemReads: Sendable, Hashable {
    /// Keys, in UTF-8: those of items, and such as no item had.
    case keys(Set<[UInt8]>)
    /// Something that may depend on every item: the answer of a query, a position.
    case whole
}
