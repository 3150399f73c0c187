/// The number of a field within one store: what a field's name is looked up as, once, for access without hashing.
public struct ItemField: Hashable, Sendable {
    /// The field's number, which is the same for the life of the process.
    public let rawValue: UInt32

    @inlinable
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }
}
