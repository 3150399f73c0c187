/// A collection's revision: a number that grows with each commit. Numbers of one collection can be compared.
public struct ItemRevision: RawRepresentable, Sendable, Hashable, Comparable {
    public var rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Before the first commit.
    public static let initial = ItemRevision(rawValue: 0)

    /// The revision after one more commit.
    public var next: ItemRevision { ItemRevision(rawValue: rawValue &+ 1) }

    public static func < (first: ItemRevision, second: ItemRevision) -> Bool { first.rawValue < second.rawValue }
}
