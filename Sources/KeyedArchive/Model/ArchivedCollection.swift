/// An array or set of an archive, with an identity.
public final class ArchivedCollection {
    /// The kinds of collections.
    public enum Kind: Sendable, Hashable {
        /// NSArray.
        case array
        /// NSSet.
        case set
        /// NSOrderedSet.
        case orderedSet
        /// A set with a count for each element; always mutable.
        case countedSet
    }

    /// The kind of collection.
    public let kind: Kind
    /// Whether the class is the mutable one.
    public let isMutable: Bool
    /// The elements in the archive's order; nil stands for nil.
    public var elements: [ArchiveValue?]
    /// The counts of a counted set, by index; empty for other kinds.
    public var counts: [Int]

    /// Creates a collection; only a counted set has counts.
    public init(_ kind: Kind = .array, isMutable: Bool = false, elements: [ArchiveValue?] = [], counts: [Int] = []) {
        self.kind = kind
        self.isMutable = isMutable
        self.elements = elements
        self.counts = counts
    }

    deinit {
        ReferenceChain.free(takeReferences())
    }

    /// The collection's class in an archive.
    public var archivedClass: ArchivedClass {
        switch kind {
        case .array: isMutable ? .mutableArray : .array
        case .set: isMutable ? .mutableSet : .set
        case .orderedSet: isMutable ? .mutableOrderedSet : .orderedSet
        case .countedSet: .countedSet
        }
    }
}
