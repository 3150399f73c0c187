/// A dictionary of an archive. Keys may be any object and are ordered.
public final class ArchivedDictionary {
    /// A key and its value.
    public struct Entry {
        public var key: ArchiveValue?
        public var value: ArchiveValue?

        public init(key: ArchiveValue?, value: ArchiveValue?) {
            self.key = key
            self.value = value
        }
    }

    public let isMutable: Bool
    public var entries: [Entry]

    public init(isMutable: Bool = false, entries: [Entry] = []) {
        self.isMutable = isMutable
        self.entries = entries
    }

    deinit {
        ReferenceChain.free(takeReferences())
    }

    /// The value of a string key. O(n).
    public subscript(key: String) -> ArchiveValue? {
        entries.first { $0.key?.stringValue == key }?.value
    }

    /// The dictionary's class in an archive.
    public var archivedClass: ArchivedClass { isMutable ? .mutableDictionary : .dictionary }
}
