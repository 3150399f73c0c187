public import PropertyList

/// The storage of a store's items: the boundary between a store and its persistent data.
///
/// The store passes each commit's changes and the revision that they are based on; the persistence returns the
/// collection's next revision. It is called on one thread, the store's.
public protocol ItemPersistence: AnyObject {
    /// Whether appending and replacing are refused.
    var isReadOnly: Bool { get }

    /// Passes the stored data to the loader: items, then the changes since. Called once, on an empty store.
    ///
    /// - Throws: ``StoreError``, above all `inUse`, `inputOutput`, `corruptArchive`.
    func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport

    /// Stores the changes of one commit: all of them or, if it throws, none.
    ///
    /// - Parameters:
    ///   - commit: readable until the call returns.
    ///   - durable: whether to wait until the changes survive a power cut.
    /// - Returns: the collection's revision including the commit.
    /// - Throws: ``StoreError``: `conflict` when the collection has changes that the store has not received by
    ///   `ItemStore.apply(_:cause:revision:)`; the store then rolls the commit back. After any other error the next
    ///   commit tries again.
    func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision

    /// Ensures that the appended changes survive a power cut.
    func synchronize() throws(StoreError)

    /// The absolute paths of its files in the container, which scripts cannot write; none by default.
    /// They need not exist yet.
    var closedPaths: [String] { get }
}

extension ItemPersistence {
    public var closedPaths: [String] { [] }

    /// The persistence itself, if it keeps a document.
    package var document: (any DocumentPersistence)? {
        (self as? any DocumentPersistence).flatMap { $0.keepsDocument ? $0 : nil }
    }
    /// The persistence itself, if other hosts change its collection, too.
    package var remote: (any RemotePersistence)? { self as? any RemotePersistence }
}

/// A persistence that folds its changes into a document from time to time: a file of all items, replaced as a whole.
package protocol DocumentPersistence: ItemPersistence {
    /// Whether it keeps one; true by default.
    var keepsDocument: Bool { get }
    /// Whether the document exists.
    var hasArchive: Bool { get }
    /// The document's path, if it has one.
    var archivePath: String? { get }
    /// Those of the closed paths that scripts may read; none by default.
    var readablePaths: [String] { get }
    /// Whether so many changes were appended since the document was written that it should be rewritten.
    var isJournalLong: Bool { get }
    /// Whether the document holds item data beyond the fields, so that a copy has to remember its source.
    var holdsMoreThanFields: Bool { get }

    /// The objects that the document holds in items' fields, and that their values do not have, or not exactly: exports and
    /// copies of the items lack them. None by default.
    ///
    /// - Parameters:
    ///   - rows: the items.
    ///   - columns: their values.
    /// - Returns: the objects, by item and field.
    /// - Throws: ``StoreError`` with `corruptArchive` if the objects cannot be read.
    func unheldObjects(of rows: [UInt32], in columns: ColumnStore) throws(StoreError) -> [UnheldObject]

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
    package var isJournalLong: Bool { false }
    package var holdsMoreThanFields: Bool { false }
    package var keepsDocument: Bool { true }
    package var readablePaths: [String] { [] }
    package var canReplace: Bool { true }
    package func unheldObjects(of rows: [UInt32], in columns: ColumnStore) throws(StoreError) -> [UnheldObject] { [] }
}

/// An object of an application's archive that the value of its field does not have, or not exactly.
package struct UnheldObject: Sendable, Hashable {
    /// The item's row.
    package let row: UInt32
    /// The field's name.
    package let field: String
    /// What the value lacks: the object's class, or the digits of a decimal.
    package let kind: String

    package init(row: UInt32, field: String, kind: String) { (self.row, self.field, self.kind) = (row, field, kind) }
}

/// A new document being written.
package protocol ItemReplacement: AnyObject, Sendable {
    /// Writes it, on any thread, to a temporary place.
    func write() throws(StoreError)
}

/// A read-only view of a persistence whose owner, another process, continues to commit.
package protocol FollowingPersistence: ItemPersistence {
    /// The owner's commits since the opening or the last call, oldest first. It takes microseconds if there are none.
    ///
    /// - Returns: nil if they are no longer available one by one: then all items have to be read again.
    /// - Throws: ``StoreError`` with `inputOutput`, `corruptJournal`.
    func takeOwnersCommits() throws(StoreError) -> [OwnersCommit]?

    /// The same persistence, to be opened again.
    func reopened() -> any FollowingPersistence

    /// Continues from the state that another opening of the same persistence has reached.
    func resume(from other: any FollowingPersistence)
}

/// A commit of the owner.
package struct OwnersCommit: Sendable {
    package var revision: ItemRevision
    package var changes: [ItemChange]

    package init(revision: ItemRevision, changes: [ItemChange]) {
        (self.revision, self.changes) = (revision, changes)
    }
}

/// The failures that a commit survives.
public enum CommitDurability: String, Sendable, CaseIterable {
    /// Each commit survives the end of the process: the kernel has it.
    case process
    /// Each commit survives a power cut: the disk has it.
    case power
}

/// A persistence in this process's memory: for temporary stores, and for tests.
public final class MemoryPersistence: ItemPersistence {
    /// The changes of each commit, oldest first, if they are kept.
    package private(set) var commits: [[ItemChange]] = []
    /// Set to make every append and synchronization fail with this error.
    package var failure: StoreError?
    public let isReadOnly: Bool

    private let keepsCommits: Bool
    private var revision: ItemRevision

    /// - Parameters:
    ///   - keepsCommits: whether another store can be loaded from this persistence.
    ///   - isReadOnly: whether the store refuses changes.
    ///   - commits: the initial commits.
    public init(keepsCommits: Bool = false, isReadOnly: Bool = false, commits: [[ItemChange]] = []) {
        self.keepsCommits = keepsCommits
        self.isReadOnly = isReadOnly
        self.commits = commits
        revision = ItemRevision(rawValue: UInt64(commits.count))
    }

    public func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport {
        var report = ItemLoadReport()
        for changes in commits { try loader.replay(changes) }
        report.replayedRecords = commits.count
        report.revision = revision
        return report
    }

    public func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision {
        if isReadOnly { throw .storeIsReadOnly }
        if let failure { throw failure }
        try commit.checkFollows(revision)
        if keepsCommits {
            var changes: [ItemChange] = []
            commit.forEach { changes.append($0) }
            commits.append(changes)
        }
        revision = revision.next
        return revision
    }

    public func synchronize() throws(StoreError) {
        if let failure { throw failure }
    }
}

/// The items of another persistence as of their loading, for a run that leaves nothing: commits succeed, and nothing is
/// written. Its document is the other's, which is read and never replaced.
package final class ScratchPersistence: DocumentPersistence {
    package let isReadOnly = false
    package let canReplace = false
    private let origin: any ItemPersistence
    private var revision = ItemRevision.initial

    /// - Parameter origin: what is loaded; it is never appended to.
    package init(_ origin: any ItemPersistence) { self.origin = origin }

    package func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport {
        let report = try origin.load(into: loader)
        revision = report.revision
        return report
    }

    package func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision {
        try commit.checkFollows(revision)
        revision = revision.next
        return revision
    }

    package func synchronize() throws(StoreError) {}

    package var closedPaths: [String] { origin.closedPaths }
    package var keepsDocument: Bool { origin.document != nil }
    package var hasArchive: Bool { origin.document?.hasArchive == true }
    package var archivePath: String? { origin.document?.archivePath }
    package var readablePaths: [String] { origin.document?.readablePaths ?? [] }
    package var holdsMoreThanFields: Bool { origin.document?.holdsMoreThanFields == true }

    package func beginReplacement(
        _ snapshot: ItemSnapshot, at revision: ItemRevision
    ) throws(StoreError) -> any ItemReplacement { throw .storeIsReadOnly }

    package func finish(_ replacement: any ItemReplacement) throws(StoreError) { throw .storeIsReadOnly }
    package func abandon(_ replacement: any ItemReplacement) {}
}

/// Loads an empty store for a persistence: items first, then changes. Nothing is logged; observers are not notified.
public struct ItemLoader {
    package let store: ColumnStore

    package init(_ store: ColumnStore) {
        self.store = store
    }

    /// Reserves capacity for a number of items.
    package func reserve(_ count: Int) {
        store.table.reserve(count)
        store.order.reserve(count)
        let hasher = store.index.hasher
        store.index.reserve(count) { [store] in store.keyHash($0, hasher) }
    }

    /// Appends an item. A missing field gets its default; values of other kinds than a field's are carried.
    ///
    /// - Parameter values: the item's fields by name, including `itemKey`; null for a field that it lacks.
    /// - Throws: ``StoreError``: `duplicateKey`, `invalidValue`.
    public func add(_ values: PropertyListFields) throws(StoreError) {
        let draft = try store.makeDraft()
        try draft.orDiscarded { () throws(StoreError) in
            try store.fill(draft, with: values)
            try insert(draft)
        }
    }

    /// Applies the changes of one commit.
    ///
    /// - Throws: ``StoreError``, as `ItemStore.apply(_:cause:revision:)`; the store is then unchanged.
    public func replay(_ changes: some Sequence<ItemChange>) throws(StoreError) {
        try replaying { () throws(StoreError) in
            for change in changes { try store.perform(change) }
        }
    }

    /// Declares fields, in the place of all declarations before.
    package func declare(_ declarations: FieldDeclarations) throws(StoreError) {
        try replaying { () throws(StoreError) in store.declare(declarations) }
    }

    /// Runs a body that replays changes: they are rolled back if it throws, and otherwise committed.
    package func replaying(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        let start = store.log.changes.count
        do throws(StoreError) { try body() } catch {
            _ = store.rollBack(to: start)
            throw error
        }
        store.forgetLog()
    }

    /// Removes all loaded items.
    package func removeAll() throws(StoreError) {
        try replaying { () throws(StoreError) in
            for row in store.order.slots where row != ItemOrder.hole { store.takeOut(row) }
        }
    }

    /// The items loaded so far, for another thread.
    package func snapshot() -> ItemSnapshot { ItemSnapshot(store) }

    /// A new row to be filled, without a key.
    package func makeDraft() -> ItemDraft {
        let (row, isNew) = store.table.makeRow()
        if isNew { store.order.addRow() }
        return ItemDraft(store: store, row: row)
    }

    /// Appends a filled row.
    package func insert(_ draft: ItemDraft) throws(StoreError) {
        let key = store.keyHash(draft.row)
        if let other = store.holder(ofKeyOf: draft.row, key) {
            let text = store.table.keyString(other)
            throw StoreError(.duplicateKey(text), "two items have the itemKey \(text)")
        }
        store.restore(draft.row, at: store.order.count)
    }
}

/// The findings on opening a store.
public struct ItemLoadReport: Sendable, Hashable {
    /// Items in the archive.
    package var archivedItems = 0
    /// Commits of the journal that were not in the archive.
    package var replayedRecords = 0
    /// The collection's revision.
    public var revision = ItemRevision.initial
    /// Whether the archive is damaged, and was read only in part.
    package var isSalvaged = false
    /// Problems, in words for the user; unusable parts are quarantined.
    package var notices: [String] = []
    /// What is carried in the archive and not shown exactly, in words for the user; nothing is lost.
    package var remarks: [String] = []
    /// Files that damaged parts were moved to.
    package var quarantinedFiles: [String] = []

    /// Creates an empty report.
    public init() {}
}

/// The source of the elements of a mapped document's columns, which are read at the first access.
///
/// Unreadable elements, since bytes on a disk can change, read as empty fields; the source's owner reports them.
package protocol RowSource: AnyObject {
    /// The values of its cells that neither fit into a cell nor lie in the document.
    var values: FaultedValues { get }
    /// Whether something was unreadable.
    var isDamaged: Bool { get }

    /// The same rows for another thread, with the current values of the store's cells.
    func copy() -> any RowSource

    /// Reads one element of a column into its place.
    func load(_ column: MappedColumn, _ row: UInt32, to element: UnsafeMutableRawPointer)

    /// A declared field's cell of a row; equal to the element read by ``load(_:_:to:)``.
    func cell(_ row: UInt32, of field: ItemField) -> Cell

    /// Reads elements of a column of numbers for some rows of 64, if that is cheaper than row by row.
    ///
    /// - Parameters:
    ///   - column: the column.
    ///   - absent: the rows, a bit each.
    ///   - first: the first bit's row, a multiple of 64.
    ///   - elements: the address of the first element.
    /// - Returns: whether it read them.
    func load(_ column: MappedColumn, _ absent: UInt64, from first: Int, to elements: UnsafeMutableRawPointer) -> Bool

    /// Reads the elements of some rows of a text column in a batch. Those that cannot be read in this way are left
    /// ``Cell/archived``; nothing is cached or reported.
    func texts(_ column: MappedColumn, _ rows: UnsafeBufferPointer<UInt32>, into cells: UnsafeMutablePointer<Cell>)

    /// Prepares to read fields beyond the domain's row by row with ``cell(_:column:)``.
    func beginColumns(_ fields: [UInt32])

    /// The cell of a row in one of these fields, by its place; absent if it is unreadable.
    func cell(_ row: UInt32, column: Int) -> Cell

    func endColumns()

    /// The row's key, read from the document, if it is a readable UUID; nothing is cached or reported.
    func uuid(_ row: UInt32) -> PackedKey?
}
