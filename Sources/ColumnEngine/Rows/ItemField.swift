/// The number of a field within one store: the result of looking up its name once, for access without hashing.
public struct ItemField: Hashable, Sendable {
    /// The field's number, which stays the same while the process runs.
    public let rawValue: UInt32

    @inlinable
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }
}
