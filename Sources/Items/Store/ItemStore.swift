import ColumnEngine
import PropertyList

@_exported import Wording

/// The items: ordered, accessible by key, with a change history, and stored by a persistence.
///
/// Every change is made in memory immediately and recorded in the history. It reaches the journal when it is committed:
/// at the end of the outermost transaction, and when the host calls ``commit()`` (at the end of a chunk or a handler).
/// Only a transaction rolls back. Not `Sendable`: one thread owns the store.
public final class ItemStore {
    // MARK: Contents

    /// The items' rows.
    let columns = ColumnStore(.domain)

    // MARK: History

    /// The items' attachments, included in transactions and in `undo`; none if nil. Assign it before making changes.
    public var attachments: ItemAttachments? {
        didSet {
            oldValue?.leaveStore()
            attachments?.join(self)
        }
    }
    var changeHistory = ChangeHistory()

    // MARK: Observers

    /// Unchecked: it is read before every change, and calls nobody while it is modified.
    @exclusivity(unchecked) var publisher = CommitPublisher()

    // MARK: Persistence

    let replica: RemoteReplica
    let document: Document
    /// Whether each commit waits until it survives a power cut.
    public var durability: Durability
    /// Called at the end of an answer of a query with the items that it left out, because their values are of a kind that
    /// a comparison, a computation or a sort does not take: `n > 5 left out 2 items whose n is text`. An error that it
    /// throws is the answer's. Nil: such items are not counted. Counting costs time for fields with values of several
    /// kinds alone.
    public var onLeftOut: (([ItemsLeftOut]) throws -> Void)? {
        get { columns.questions.onLeftOut }
        set { columns.questions.onLeftOut = newValue }
    }

    /// A number that grows with every change; equal readings mean that nothing changed in between.
    public var version: UInt64 {
        columns.noteWholeRead()
        return columns.version
    }
    /// A reference to the store that becomes nil when the store is freed.
    public let zeroingReference = ItemStoreReference()

    /// Creates an empty store in memory.
    public convenience init() {
        self.init(persistence: MemoryPersistence(), durability: .process)
    }

    private init(persistence: any ItemPersistence, durability: Durability) {
        replica = RemoteReplica(persistence, of: columns)
        document = Document(persistence.document, of: columns)
        self.durability = durability
        isReadOnly = persistence.isReadOnly
        zeroingReference.store = self
    }

    deinit {
        zeroingReference.store = nil
    }

    /// Opens the store of a persistence.
    ///
    /// - Throws: `StoreError` with `inUse`, `corruptArchive` or `inputOutput`. Damage that leaves a part readable is
    ///   not an error: see ``loadReport``.
    public static func open(
        _ persistence: any ItemPersistence, durability: Durability = .process
    ) throws(StoreError) -> ItemStore {
        let store = ItemStore(persistence: persistence, durability: durability)
        let report = try persistence.load(into: ItemLoader(store.columns))
        store.isReadOnly = persistence.isReadOnly
        store.replica.wasLoaded(report)
        store.document.wasLoaded(report, isShared: store.replica.isShared)
        return store
    }

    /// Whether the store refuses every change: opened read-only, or while the collection's server does not respond.
    public internal(set) var isReadOnly: Bool

    // MARK: Reading

    /// The number of items. O(1).
    public var count: Int { columns.count }

    /// The item at a position counted from 0; nil outside the store.
    ///
    /// O(1), and O(log n) after the position of a recent removal.
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

    /// All current items in order.
    public var allItems: [Item] {
        var items: [Item] = []
        items.reserveCapacity(columns.count)
        for row in columns.slots where row != ItemOrder.hole { items.append(item(row: row)) }
        return items
    }

    /// The items in order, each once: those present at the start of the iteration that still exist when it reaches
    /// them. Removing, creating and moving items meanwhile is safe.
    public func each() -> ItemCursor {
        ItemCursor(self)
    }

    /// The number of a field, for access without hashing; a new name is added.
    ///
    /// - Throws: `StoreError` for an invalid field name.
    public func field(named name: String) throws(StoreError) -> ItemField {
        if let field = columns.existingField(named: name) { return field }
        try FieldValidation.checkName(name)
        return columns.field(named: name)
    }

    /// The number of a field that some item has or had; nil for others.
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

    /// The unique object for a row.
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
    /// The number of rows, in use or not, for which the columns have memory.
    public var rowCount: Int {
        columns.noteWholeRead()
        return columns.rowCount
    }

    /// Bytes of texts too long for their cells, including garbage.
    public var textBytes: Int {
        columns.noteWholeRead()
        return columns.textBytes
    }
}

extension ItemStore {
    /// The fields with an ordered index, in order of creation.
    public var indexedFields: [String] { columns.indexes.map { columns.name(of: $0.field) } }

    /// Makes an ordered index on a field, used automatically by queries; does nothing if there is one. `itemKey` always
    /// has an index for equality, and may have an ordered one as well.
    ///
    /// The field may be one that no item has yet: the index covers future items.
    ///
    /// - Parameters:
    ///   - name: the field's.
    ///   - lazily: builds it for the first query that uses it, and not now.
    /// - Returns: whether it is new.
    /// - Throws: `StoreError` for an invalid field name.
    /// - Complexity: O(n log n) for n items.
    @discardableResult
    public func createIndex(_ name: String, lazily: Bool = false) throws(StoreError) -> Bool {
        columns.createIndex(try field(named: name), lazily: lazily)
    }

    /// Removes the ordered index on a field.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func dropIndex(_ name: String) -> Bool {
        guard let field = columns.existingField(named: name),
            let place = columns.indexes.firstIndex(where: { $0.field == field })
        else {
            return false
        }
        columns.indexes.remove(at: place)
        return true
    }

    /// The size of the ordered indexes in bytes.
    public var indexBytes: Int {
        columns.noteWholeRead()
        return columns.indexes.reduce(0) { $0 + $1.byteCount }
    }
}

/// A zeroing reference to a store: nil once the store is freed.
///
/// A weak reference would have the same effect. But the first one to an object moves its reference counts to a side
/// table, and a store is retained and released with every field access.
public final class ItemStoreReference {
    /// Unchecked: the store sets it to nil when it is freed.
    public internal(set) unowned(unsafe) var store: ItemStore?
}
