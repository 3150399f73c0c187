/// A persistence that folds its changes into a document now and then: a file of all items, replaced whole.
public protocol DocumentPersistence: ItemPersistence {
    /// Whether the document exists.
    var hasArchive: Bool { get }
    /// The document's path, where it has one.
    var archivePath: String? { get }
    /// Whether so much was appended since the document was written that it should be written anew.
    var isJournalLong: Bool { get }
    /// Whether the document has more of its items than fields hold, so that a copy has to remember its source.
    var holdsMoreThanFields: Bool { get }

    /// Whether the document can be replaced at the moment.
    var canReplace: Bool { get }

    /// Prepares to write a snapshot as the new document. Commits may follow before it is finished.
    ///
    /// - Parameters:
    ///   - snapshot: all items.
    ///   - revision: the collection's revision that they are.
    /// - Returns: what writes it.
    /// - Throws: ``StoreError`` with `readOnly`, `inputOutput`.
    func beginReplacement(_ snapshot: ItemSnapshot, at revision: ItemRevision) throws(StoreError) -> any ItemReplacement

    /// Puts a written replacement in the document's place, durably; what was appended before its snapshot is part of it.
    func finish(_ replacement: any ItemReplacement) throws(StoreError)

    /// Gives up a replacement that could not be written.
    func abandon(_ replacement: any ItemReplacement)
}

extension DocumentPersistence {
    public var isJournalLong: Bool { false }
    public var holdsMoreThanFields: Bool { false }
    public var document: (any DocumentPersistence)? { self }
    public var canReplace: Bool { true }
}

/// A new document in the making.
public protocol ItemReplacement: AnyObject, Sendable {
    /// Writes it, on any thread, in a place of its own.
    func write() throws(StoreError)
}
