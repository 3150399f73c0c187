import PropertyList

/// The items: in order, by key, changed with a history, and kept by a persistence.
///
/// Every change is in memory at once, in the history, and in the journal when it is committed: at the end of the
/// outermost transaction, and whenever the host calls ``commit()`` (the end of a chunk or a handler). Only a
/// transaction rolls back. Not `Sendable`: one thread owns the store.
public final class ItemStore {
    // MARK: Contents

    // Exclusive access to these is not checked at run time: it costs more than the access, one thread owns the store, and
    // no method lends one of them to code that comes back to the store.

    @exclusivity(unchecked) var table = ItemTable()
    @exclusivity(unchecked) var order = ItemOrder()
    @exclusivity(unchecked) var index = KeyIndex()
    @exclusivity(unchecked) var keyHasher = KeyHasher()
    @exclusivity(unchecked) var heap = CellHeap()
    @exclusivity(unchecked) var fields = FieldTable()
    @exclusivity(unchecked) var keySource = KeySource()
    /// Where rows come from that nobody has touched yet; nil when no archive is mapped.
    @exclusivity(unchecked) var rowSource: RowSource?
    @exclusivity(unchecked) var indexes: [OrderedIndex] = []

    // MARK: History

    /// Changes since the last commit that went through, oldest first.
    @exclusivity(unchecked) var log: [Change] = []
    /// Whether an item was taken out since the last commit.
    @exclusivity(unchecked) var hasRemovals = false
    /// Where groups of the log end that undo takes back one by one.
    @exclusivity(unchecked) var sealed: [Int] = []
    /// The log's length at the begin of each open transaction.
    @exclusivity(unchecked) var savepoints: [Int] = []
    /// Whose changes are part of the transactions: the pictures of an application.
    public weak var participant: (any TransactionParticipant)?
    /// What the participant has changed since the last commit, by its numbers, oldest first.
    var participantChanges: [UInt32] = []
    /// How many groups the commit under way has put onto a stack; whether items left with them.
    var unsettled = (groups: 0, hasRemovals: false)
    /// What other users of the collection have changed meanwhile.
    var foreignChanges = ForeignChanges()
    var undoStack = ChangeHistory()
    var redoStack = ChangeHistory()
    /// How far back `undo` reaches.
    public var history = HistoryLimits()
    /// Iterations under way; while there are some, no row is given to a new item.
    @exclusivity(unchecked) var cursorCount = 0
    var rowsToFree: [UInt32] = []

    // MARK: Observers

    @exclusivity(unchecked) var observers: [any ItemStoreObserver] = []
    /// Whether a change takes more than changing: it has observers, or a commit refers to the values.
    @exclusivity(unchecked) var isWatched = false
    var commitObservers: [any ItemCommitObserver] = []
    /// Commits that their observers are still to be told of, oldest first.
    var untoldCommits: [ItemStoreCommit] = []
    var isTellingCommits = false
    /// How many bodies under way have the telling wait for their end.
    var tellingDelays = 0
    /// The latest commit, while somebody holds it: until the next change its values are the store's.
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
    /// The collection's revision: that of the last commit, or of what was last applied.
    public internal(set) var revision = ItemRevision.initial
    /// Which items the archive has in their rows' places.
    @exclusivity(unchecked) var archivedPlaces = ArchivedPlaces()
    /// By the key of a copy, the key of the item that it was made from: what fields do not hold is in the archive alone.
    private(set) var copies: [String: String] = [:]
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
    @exclusivity(unchecked) public internal(set) var version: UInt64 = 0
    /// The store for those who may outlive it.
    public let zeroingReference = ItemStoreReference()
    /// The epoch: how many items have left the store. At a stable address, for readers that poll it.
    let epochCounter: UnsafeMutablePointer<UInt64>

    /// An empty store in memory.
    public convenience init() {
        self.init(persistence: MemoryPersistence(), durability: .process)
    }

    private init(persistence: any ItemPersistence, durability: Durability) {
        self.persistence = persistence
        document = persistence as? any DocumentPersistence
        self.durability = durability
        isReadOnly = persistence.isReadOnly
        epochCounter = .allocate(capacity: 1)
        epochCounter.initialize(to: 0)
        zeroingReference.store = self
    }

    deinit {
        zeroingReference.store = nil
        epochCounter.deallocate()
    }

    /// Opens the store that a persistence keeps.
    ///
    /// - Throws: ``StoreError`` with `inUse`, `corruptArchive` or `inputOutput`. Damage that a part can be saved from is no
    ///   error: ``loadReport`` tells of it.
    public static func open(
        _ persistence: any ItemPersistence, durability: Durability = .process
    ) throws(StoreError) -> ItemStore {
        let store = ItemStore(persistence: persistence, durability: durability)
        let loader = ItemLoader(store)
        let report = try persistence.load(into: loader)
        store.loadReport = report
        store.revision = report.revision
        store.committedTextBytes = store.heap.textBytes
        store.hasCommittedChanges = store.document != nil && (report.replayedRecords > 0 || report.isSalvaged)
        return store
    }

    /// Whether the store refuses every change.
    public let isReadOnly: Bool

    /// The path of the archive; nil for a store that has none.
    public var archivePath: String? { document?.archivePath }

    /// Remembers what an item is going to be copied from, when the archive holds more of it than its fields.
    ///
    /// - Returns: the key that the copy has to get; nil for any.
    func noteCopy(of source: String) -> String? {
        guard document?.holdsMoreThanFields == true else { return nil }
        let copy = keySource.uuid().uuidString
        noteCopy(of: source, as: copy)
        return copy
    }

    /// Remembers what an item was copied from.
    func noteCopy(of source: String, as copy: String) {
        if document?.holdsMoreThanFields == true { copies[copy] = copies[source] ?? source }
    }

    // MARK: Reading

    /// The number of items. O(1).
    public var count: Int { order.count }

    /// The item at a position from 0; nil outside the store.
    ///
    /// O(1), and O(log n) behind a place where an item was removed not long ago.
    public subscript(position: Int) -> Item? {
        guard position >= 0, position < order.count else { return nil }
        return item(row: order.row(at: position))
    }

    /// The item with a key. O(1).
    public func item(forKey key: String) -> Item? {
        var key = key
        return key.withUTF8 { row(forKey: $0) }.map(item(row:))
    }

    /// The item whose key has these bytes. O(1), without making a `String`.
    public func item(forKeyUTF8 key: UnsafeBufferPointer<UInt8>) -> Item? {
        row(forKey: key).map(item(row:))
    }

    /// All items in order, as they are now.
    public var allItems: [Item] {
        var items: [Item] = []
        items.reserveCapacity(order.count)
        for row in order.slots where row != ItemOrder.hole { items.append(item(row: row)) }
        return items
    }

    /// The items in order, each once: those there were when the iteration began and that are there when it comes to
    /// them. Removing, creating and moving items meanwhile is safe.
    public func each() -> ItemCursor {
        ItemCursor(self)
    }

    /// The number of a field, made if the name is new; for access without hashing.
    ///
    /// - Throws: ``StoreError`` for a name that no field can have.
    public func field(named name: String) throws(StoreError) -> ItemField {
        if let field = fields.existing(name) { return field }
        try FieldValidation.checkName(name)
        return fields.field(named: name)
    }

    /// The number of a field that some item has or had; nil for any other name.
    public func existingField(named name: String) -> ItemField? {
        fields.existing(name)
    }

    /// The name of a field.
    public func name(of field: ItemField) -> String {
        fields.name(of: field)
    }

    /// The names of all fields that some item has or had, those of the domain first.
    public var fieldNames: [String] { fields.names }

    // MARK: Rows

    /// The one object for a row.
    @inline(__always)
    func item(row: UInt32) -> Item {
        if let handle = table.handles[row] { return handle.takeUnretainedValue() }
        let item = Item(store: self, row: row)
        table.handles[row] = Unmanaged.passUnretained(item)
        return item
    }

    @inline(__always)
    func isAccessible(_ row: UInt32) -> Bool {
        let state = table.states[row]
        return state == ItemTable.State.live.rawValue || state == ItemTable.State.draft.rawValue
    }

    func row(forKey key: UnsafeBufferPointer<UInt8>) -> UInt32? {
        if let packed = PackedKey(uuid: key) { return row(forKey: packed, keyHasher.hash(packed)) }
        return find(keyHasher.hash(text: key)) { row in
            guard table.textKeys[row] else { return false }
            return table.keys[row].cell.withText { $0.elementsEqual(key) }
        }
    }

    /// The row whose key is this UUID. A key that is still in the archive is compared where it lies: of most items that
    /// are looked up one field is wanted.
    @inline(__always)
    func row(forKey key: PackedKey, _ hash: UInt64) -> UInt32? {
        find(hash) { row in
            if !table.keys.isPresent(row), let archived = rowSource?.uuid(row) { return archived == key }
            // A key that cannot be read there is loaded, which reports the damage.
            table.prefetch(row)
            return table.keys[row] == key && !table.textKeys[row]
        }
    }

    @inline(__always)
    private func find(_ hash: UInt64, where matches: (UInt32) -> Bool) -> UInt32? {
        let row = index.find(hash, where: matches)
        guard row == nil, index.isDamaged else { return row }
        index.own { keyHash($0) }
        return index.find(hash, where: matches)
    }

    func keyHash(_ row: UInt32) -> UInt64 {
        table.textKeys[row]
            ? table.keys[row].cell.withText { keyHasher.hash(text: $0) } : keyHasher.hash(table.keys[row])
    }

    func value(_ row: UInt32, _ field: ItemField) -> PropertyListValue? {
        field == .itemKey ? .string(table.keyString(row)) : heap.value(table.cell(row, field))
    }

    func fields(of row: UInt32) -> ItemFields {
        let serial = table.serials[row]
        var result = ItemFields(
            name: CellHeap.string(table.names[row]), serialNumber: serial.isAbsent ? nil : CellHeap.string(serial),
            valueInDollars: table.values[row],
            dateCreated: PropertyListDate(secondsSinceReferenceDate: table.dates[row]),
            itemKey: table.keyString(row))
        table.forEachCustomCell(row) { number, cell in
            result.custom[fields.names[Int(number)]] = heap.value(cell)
        }
        return result
    }

    /// The last reference to a row's `Item` is gone.
    func itemWasReleased(_ row: UInt32) {
        table.handles[row] = nil
        if table.state(row) == .dead { free(row) }
    }

    /// The row is out of the store and out of the history.
    func rowDied(_ row: UInt32) {
        heap.discard(table.names[row])
        heap.discard(table.serials[row])
        if table.textKeys[row] { heap.discard(table.keys[row].cell) }
        table.forEachCustomCell(row) { number, cell in discard(cell, of: ItemField(rawValue: number)) }
        table.states[row] = ItemTable.State.dead.rawValue
        if table.handles[row] == nil { free(row) }
    }

    /// Notes that a field's cell is not needed any more. A dictionary keeps the texts of its column.
    func discard(_ cell: Cell, of field: ItemField) {
        if !table.keepsTexts(field) { heap.discard(cell) }
    }

    private func free(_ row: UInt32) {
        if cursorCount > 0 { rowsToFree.append(row) } else { table.freeRow(row) }
    }
}

extension ItemStore {
    /// Rows that exist, in use or not: what memory the columns take.
    public var rowCount: Int { table.rowCount }

    /// Bytes of texts that are too long for their cells, garbage included.
    public var textBytes: Int { heap.textBytes }
}
