/// An array or set of an archive, with an identity that owners can share.
public final class ArchivedCollection {
    public enum Kind: Sendable, Hashable {
        case array, set, orderedSet
        /// A set that counts how often each element was added; always mutable.
        case countedSet
    }

    public let kind: Kind
    public let isMutable: Bool
    /// The elements in the archive's order. An element that is nil in the archive stays, as nil.
    public var elements: [ArchiveValue?]
    /// How often each element of a counted set was added, by its index; empty for other kinds.
    public var counts: [Int]

    public init(_ kind: Kind = .array, isMutable: Bool = false, elements: [ArchiveValue?] = [], counts: [Int] = []) {
        self.kind = kind
        self.isMutable = isMutable
        self.elements = elements
        self.counts = counts
    }

    deinit {
        ReferenceChain.free(takeReferences())
    }

    /// The class that the archive names.
    public var archivedClass: ArchivedClass {
        switch kind {
        case .array: isMutable ? .mutableArray : .array
        case .set: isMutable ? .mutableSet : .set
        case .orderedSet: isMutable ? .mutableOrderedSet : .orderedSet
        case .countedSet: .countedSet
        }
    }
}
