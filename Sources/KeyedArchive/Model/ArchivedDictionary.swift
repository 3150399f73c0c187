internal import PropertyList

/// A dictionary of an archive. Keys may be any object and are ordered.
public final class ArchivedDictionary {
    /// A key and its value.
    public struct Entry {
        /// The key; nil for a null reference.
        public var key: ArchiveValue?
        /// The value; nil for a null reference.
        public var value: ArchiveValue?

        /// Creates an entry.
        public init(key: ArchiveValue?, value: ArchiveValue?) {
            self.key = key
            self.value = value
        }
    }

    /// Whether the class is the mutable one.
    public let isMutable: Bool
    /// The entries, in the archive's order.
    public var entries: [Entry]

    /// Creates a dictionary.
    public init(isMutable: Bool = false, entries: [Entry] = []) {
        self.isMutable = isMutable
        self.entries = entries
    }

    deinit {
        ReferenceChain.free(takeReferences())
    }

    /// The value of a string key. O(n).
    public subscript(key: String) -> ArchiveValue? {
        entries.first { $0.key?.stringValue?.hasSameBytes(as: key) ?? false }?.value
    }

    /// The dictionary's class in an archive.
    public var archivedClass: ArchivedClass { isMutable ? .mutableDictionary : .dictionary }
}
