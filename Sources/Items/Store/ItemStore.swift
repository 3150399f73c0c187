import ColumnEngine
import PropertyList

/// The items: in order, by key, changed with a history, and kept by a persistence.
///
/// Every change is in memory at once, in the history, and in the journal when it is committed: at the end of the
/// outermost transaction, and whenever the host calls ``commit()`` (the end of a chunk or a handler). Only a
/// transaction rolls back. Not `Sendable`: one thread owns the store.
public final class ItemStore {
    // MARK: Contents

    /// The items' rows.
    let columns = ColumnStore(.domain)

    // MARK: History

    /// What goes with the items: part of the transactions, and of what `undo` takes back. Nothing does if nil. Assign it
    /// before anything changes.
    public var attachments: ItemAttachments? {
        didSet {
            oldValue?.leaveStore()
            attachments?.join(self)
        }
    }
    /// What changed of the attachments since the last commit.
    var attachmentStep = AttachmentStep()
    /// How many groups the commit under way has put onto a stack; whether items left with them.
    var unsettled = (groups: 0, hasRemovals: false)
    /// What other users of the collection have changed meanwhile.
    var foreignChanges = ForeignChanges()
    var undoStack = ChangeHistory()
    var redoStack = ChangeHistory()
    /// How far back `undo` reaches.
    public var history = HistoryLimits()

    // MARK: Observers

    @exclusivity(unchecked) var observers: [any ItemStoreObserver] = []
    /// Whether a change takes more than changing: it has observers, or a commit refers to the values.
    @exclusivity(unchecked) var isWatched = false
    var commitObservers: [any ItemCommitObserver] = []
    /// Told how many items each commit concerns, when it is made. A prompt shows that; counting takes O(changes).
    package var commitCounter: ((ItemStoreCommit.Cause, ItemCommitTally) -> Void)?
    /// Commits that their observers are still to be told of, oldest first.
    var untoldCommits: [ItemStoreCommit] = []
    var isTellingCommits = false
    /// How many bodies under way have the telling wait for their end.
    var tellingDelays = 0
    /// The latest commit, while an observer holds it: until the next change its values are the store's.
    weak var latestCommit: ItemStoreCommit?
    /// Why the next commit is made.
    var commitCause = ItemStoreCommit.Cause.script
    /// How many commits came before the next one in a chain of answers; asked when it is made.
    package var commitGeneration: () -> Int = { 0 }
    /// The log's length at the begin of the outermost bulk change.
    var bulkDepth = 0
    var bulkChanges = ItemStoreChanges(.bulkChange, [])

    // MARK: Persistence

    let persistence: any ItemPersistence
    /// The persistence, when it keeps a document of all items.
    let document: (any DocumentPersistence)?
    /// The persistence, when other hosts change the collection, too.
    let remote: (any RemotePersistence)?
    /// Whether a commit is on its way to the others.
    var isSendingCommit = false
    /// Whether the transaction under way minds changes of the same fields only.
    var isSnapshotIsolated = false
    /// Whether commits of others were put beneath the changes of the commit that is on its way.
    var isMerged = false
    /// Commits of others that a failed commit could not be put behind.
    var unappliedCommits: [RemoteCommit] = []
    /// The collection's revision: that of the last commit, or of what was last applied.
    public internal(set) var revision = ItemRevision.initial
    /// Whether each commit waits until it survives a power cut.
    public var durability: Durability
    /// What opening found.
    public internal(set) var loadReport = ItemLoadReport()
    /// Called when a part of the mapped archive turns out to be unreadable, with a text for the user.
    public var onDamage: ((String) -> Void)?
    /// Whether something is committed that the document does not have; false without a document.
    var hasCommittedChanges = false
    /// The heap's bytes of text when a commit was last handed over.
    var committedTextBytes = 0
    var isSaving = false

    /// A number that grows with every change; two equal readings mean that nothing changed in between.
    public var version: UInt64 {
        columns.noteWholeRead()
        return columns.version
    }
    /// A reference to the store that becomes nil with it.
    public let zeroingReference = ItemStoreReference()

    /// An empty store in memory.
    public convenience init() {
        self.init(persistence: MemoryPersistence(), durability: .process)
    }

    private init(persistence: any ItemPersistence, durability: Durability) {
        self.persistence = persistence
        document = persistence.document
        remote = persistence.remote
        self.durability = durability
        isReadOnly = persistence.isReadOnly
        // Weak: a persistence may hold the columns.
        columns.remembersCopies = { [weak document] in document?.holdsMoreThanFields == true }
        zeroingReference.store = self
    }

    deinit {
        zeroingReference.store = nil
    }

    /// Opens the store that a persistence keeps.
    ///
    /// - Throws: `StoreError` with `inUse`, `corruptArchive` or `inputOutput`. Damage that a part can be saved from is no
    ///   error: ``loadReport`` tells of it.
    public static func open(
        _ persistence: any ItemPersistence, durability: Durability = .process
    ) throws(StoreError) -> ItemStore {
        let store = ItemStore(persistence: persistence, durability: durability)
        store.columns.onDamage = { [store = store.zeroingReference] text in
            store.store?.loadReport.notices.append(text)
            store.store?.onDamage?(text)
        }
        let report = try persistence.load(into: ItemLoader(store.columns))
        store.loadReport = report
        store.isReadOnly = persistence.isReadOnly
        store.revision = report.revision
        store.committedTextBytes = store.columns.textBytes
        // What came from a server is not in the document yet.
        let isNew = store.remote != nil && store.document?.hasArchive == false && store.count > 0
        store.hasCommittedChanges =
            store.document != nil && (report.replayedRecords > 0 || report.isSalvaged || isNew)
        return store
    }

    /// Whether the store refuses every change: opened so, or while the collection's server does not answer.
    public internal(set) var isReadOnly: Bool

    /// What a change is refused with.
    var readOnlyError: StoreError {
        if isSendingCommit {
            return StoreError(
                .readOnly, "a commit is on its way to the server: items can be changed when it has answered")
        }
        guard let remote else { return .storeIsReadOnly }
        return StoreError(.readOnly, remote.readOnlyReason)
    }

    /// The path of the archive; nil for a store that has none.
    public var archivePath: String? { document?.archivePath }

    /// Remembers what an item is going to be copied from, when the archive holds more of it than its fields.
    ///
    /// - Returns: the key that the copy has to get; nil for any.
    func noteCopy(of source: String) -> String? {
        guard document?.holdsMoreThanFields == true else { return nil }
        let copy = columns.keySource.uuid().uuidString
        columns.noteCopy(of: source, as: copy)
        return copy
    }

    // MARK: Reading

    /// The number of items. O(1).
    public var count: Int { columns.count }

    /// The item at a position from 0; nil outside the store.
    ///
    /// O(1), and O(log n) behind a place where an item was removed not long ago.
    public subscript(position: Int) -> Item? {
        guard position >= 0, position < columns.count else { return nil }
        return item(row: columns.row(at: position))
    }

    /// The item with a key. O(1).
    public func item(forKey key: String) -> Item? {
        var key = key
        return key.withUTF8 { columns.row(forKey: $0) }.map(item(row:))
    }

    /// The item whose key has these bytes. O(1), without making a `String`.
    public func item(forKeyUTF8 key: UnsafeBufferPointer<UInt8>) -> Item? {
        columns.row(forKey: key).map(item(row:))
    }

    /// All items in order, as they are now.
    public var allItems: [Item] {
        var items: [Item] = []
        items.reserveCapacity(columns.count)
        for row in columns.slots where row != ItemOrder.hole { items.append(item(row: row)) }
        return items
    }

    /// The items in order, each once: those there were when the iteration began and that are there when it comes to
    /// them. Removing, creating and moving items meanwhile is safe.
    public func each() -> ItemCursor {
        ItemCursor(self)
    }

    /// The number of a field, made if the name is new; for access without hashing.
    ///
    /// - Throws: `StoreError` for a name that no field can have.
    public func field(named name: String) throws(StoreError) -> ItemField {
        if let field = columns.existingField(named: name) { return field }
        try FieldValidation.checkName(name)
        return columns.field(named: name)
    }

    /// The number of a field that some item has or had; nil for any other name.
    public func existingField(named name: String) -> ItemField? {
        let field = columns.existingField(named: name)
        if field == nil { columns.noteWholeRead() }
        return field
    }

    /// The name of a field.
    public func name(of field: ItemField) -> String {
        columns.name(of: field)
    }

    /// The names of all fields that some item has or had, those of the domain first.
    public var fieldNames: [String] {
        columns.noteWholeRead()
        return columns.visibleFieldNames
    }

    // MARK: Rows

    /// The one object for a row.
    @inline(__always)
    func item(row: UInt32) -> Item {
        if let handle = columns.handle(row) {
            return Unmanaged<Item>.fromOpaque(handle).takeUnretainedValue()
        }
        let item = Item(store: self, row: row)
        columns.setHandle(row, Unmanaged.passUnretained(item).toOpaque())
        return item
    }
}

extension ItemStore {
    /// Rows that exist, in use or not: what memory the columns take.
    public var rowCount: Int {
        columns.noteWholeRead()
        return columns.rowCount
    }

    /// Bytes of texts that are too long for their cells, garbage included.
    public var textBytes: Int {
        columns.noteWholeRead()
        return columns.textBytes
    }
}
