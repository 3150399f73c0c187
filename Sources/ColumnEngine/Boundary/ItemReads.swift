/// The reads of a serializable transaction: a commit of another host that changed some of them conflicts with it.
public enum ItemReads: Sendable, Hashable {
    /// Keys, in UTF-8: those of items, and those looked up in vain.
    case keys(Set<[UInt8]>)
    /// A read that may depend on every item: the result of a query, a position.
    case whole
}
