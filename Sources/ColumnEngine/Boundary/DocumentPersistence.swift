/// A persistence that folds its changes into a document from time to time: a file of all items, replaced as a whole.
public protocol DocumentPersistence: ItemPersistence {
    /// Whether the document exists.
    var hasArchive: Bool { get }
    /// The document's path, if it has one.
    var archivePath: String? { get }
    /// Whether so many changes were appended since the document was written that it should be rewritten.
    var isJournalLong: Bool { get }
    /// Whether the document holds item data beyond the fields, so that a copy has to remember its source.
    var holdsMoreThanFields: Bool { get }

    /// Whether the document can be replaced now.
    var canReplace: Bool { get }

    /// Prepares to write a snapshot as the new document. Commits may follow before it is finished.
    ///
    /// - Parameters:
    ///   - snapshot: all items.
    ///   - revision: the collection's revision of the snapshot.
    /// - Returns: the replacement, which writes it.
    /// - Throws: ``StoreError`` with `readOnly`, `inputOutput`.
    func beginReplacement(_ snapshot: ItemSnapshot, at revision: ItemRevision) throws(StoreError) -> any ItemReplacement

    /// Durably replaces the document with a written replacement, which has all changes appended before its snapshot.
    func finish(_ replacement: any ItemReplacement) throws(StoreError)

    /// Discards a replacement that could not be written.
    func abandon(_ replacement: any ItemReplacement)
}

extension DocumentPersistence {
    public var isJournalLong: Bool { false }
    public var holdsMoreThanFields: Bool { false }
    public var document: (any DocumentPersistence)? { self }
    public var canReplace: Bool { true }
}

/// A new document being written.
public protocol ItemReplacement: AnyObject, Sendable {
    /// Writes it, on any thread, to a temporary place.
    func write() throws(StoreError)
}
