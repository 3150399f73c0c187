public import ColumnEngine
import PropertyList
@_exported import Wording

/// The items: ordered, accessible by key, with a change history, and stored by a persistence.
///
/// Every change is made in memory immediately and recorded in the history. It reaches the journal when it is committed:
/// at the end of the outermost transaction, and when the host calls ``commit()`` (at the end of a chunk or a handler).
/// Only a transaction rolls back. Not `Sendable`: one thread owns the store.
///
/// Its parts have the state, and the store has the order in which it calls them: the rows change, the history records,
/// the publisher notifies, the replica sends or applies, the document is saved.
public final class ItemStore {
    // MARK: Parts

    /// The items' rows.
    let columns: ColumnStore
    var changeHistory = ChangeHistory()
    /// Unchecked: it is read before every change, and calls nobody while it is modified.
    @exclusivity(unchecked) var publisher = CommitPublisher()
    let replica: RemoteReplica
    let document: Document
    /// The items' attachments, included in transactions and in `undo`; none if nil. Assign it before making changes.
    public var attachments: ItemAttachments? {
        didSet {
            oldValue?.leaveStore()
            attachments?.join(self)
        }
    }

    // MARK: Settings

    /// Whether each commit waits until it survives a power cut.
    package var durability: CommitDurability
    /// The limits of `undo`.
    public var history = HistoryLimits()
    /// Called with a text for the user if a part of the mapped archive turns out to be unreadable.
    package var onDamage: ((String) -> Void)? {
        get { document.onDamage }
        set { document.onDamage = newValue }
    }
    /// Called at the end of an answer of a query with the items that it left out, because their values are of a kind
    /// that a comparison, a computation or a sort does not take: `n > 5 left out 2 items whose n is text`. An error
    /// that it throws is the answer's, or its cause. Nil: such items are not counted. Counting costs time for fields with
    /// values of several kinds alone.
    public var onLeftOut: (([ItemsLeftOut]) throws -> Void)? {
        get { columns.questions.onLeftOut }
        set { columns.questions.onLeftOut = newValue }
    }

    /// The attributes of models that the store's items have confirmed.
    var confirmedAttributes: Set<AttributeIdentity> = []

    /// A number that grows with every change; equal readings mean that nothing changed in between.
    package var version: UInt64 {
        columns.recordWholeRead()
        return columns.version
    }
    /// A reference to the store that becomes nil when the store is freed.
    package let zeroingReference = ItemStoreReference()

    /// Creates an empty store in memory.
    ///
    /// - Parameter schema: the fields of every item.
    public convenience init(schema: ItemSchema = .household) {
        self.init(persistence: MemoryPersistence(), schema, durability: .process)
    }

    private init(persistence: any ItemPersistence, _ schema: ItemSchema, durability: CommitDurability) {
        columns = ColumnStore(schema)
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
    /// - Parameters:
    ///   - persistence: stores the items.
    ///   - schema: the fields of every item.
    ///   - durability: whether each commit survives a power cut.
    /// - Returns: the store.
    /// - Throws: `StoreError` with `inUse`, `corruptArchive` or `inputOutput`. Damage that leaves a part readable is
    ///   not an error.
    public static func open(
        _ persistence: any ItemPersistence, schema: ItemSchema = .household, durability: CommitDurability = .process
    ) throws(StoreError) -> ItemStore {
        let store = ItemStore(persistence: persistence, schema, durability: durability)
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
    package func item(forKeyUTF8 key: UnsafeBufferPointer<UInt8>) -> Item? {
        columns.row(forKey: key).map(item(row:))
    }

    /// All current items in order.
    public var allItems: [Item] {
        columns.slots.filter { $0 != ItemOrder.hole }.map(item(row:))
    }

    /// The items in order, each once: those present at the start of the iteration that still exist when it reaches
    /// them. Removing, creating and moving items meanwhile is safe.
    package func each() -> ItemCursor {
        ItemCursor(self)
    }

    /// The number of a field, for access without hashing; a new name is added.
    ///
    /// - Throws: `StoreError` for an invalid field name.
    package func field(named name: String) throws(StoreError) -> ItemField {
        if let field = columns.existingField(named: name) { return field }
        try FieldValidation.checkName(name)
        return columns.field(named: name)
    }

    /// The number of a field that some item has or had; nil for others.
    package func existingField(named name: String) -> ItemField? {
        let field = columns.existingField(named: name)
        if field == nil { columns.recordWholeRead() }
        return field
    }

    /// The fields of every item.
    package var schema: ItemSchema { columns.schema }
    /// The name of the field whose text names an item for people; nil if there is none.
    package var titleName: String? {
        columns.titleField.map { columns.name(of: $0) }
    }

    /// The name of a field.
    package func name(of field: ItemField) -> String {
        columns.name(of: field)
    }

    /// The names of all fields that some item has or had, those of every item first.
    package var fieldNames: [String] {
        columns.recordWholeRead()
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
    package var rowCount: Int {
        columns.recordWholeRead()
        return columns.rowCount
    }

    /// Bytes of texts too long for their cells, including garbage.
    package var textBytes: Int {
        columns.recordWholeRead()
        return columns.textBytes
    }
}

extension ItemStore {
    /// The fields with an ordered index, in order of creation.
    package var indexedFields: [String] { columns.indexes.map { columns.name(of: $0.field) } }

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
    package func dropIndex(_ name: String) -> Bool {
        guard let field = columns.existingField(named: name),
            let place = columns.indexes.firstIndex(where: { $0.field == field })
        else {
            return false
        }
        columns.indexes.remove(at: place)
        return true
    }

    /// The size of the ordered indexes in bytes.
    package var indexBytes: Int {
        columns.recordWholeRead()
        return columns.indexes.reduce(0) { $0 + $1.byteCount }
    }
}

/// Creates, removes and moves items.
extension ItemStore {
    // MARK: Creating

    /// Appends a new item.
    ///
    /// - Throws: `StoreError`: `duplicateKey`, `invalidValue` naming the field, `vetoed`, `readOnly`.
    @discardableResult
    public func createItem(_ fields: ItemFields? = nil) throws(StoreError) -> Item {
        let draft = try beginItem()
        return try draft.orDiscarded { () throws(StoreError) in
            if let fields { try draft.set(fields) }
            return try insert(draft)
        }
    }

    /// Begins an item that is filled field by field and then inserted; for callers with bytes instead of strings.
    ///
    /// - Parameter key: the bytes of the key that the draft will get, if available: a UUID is set at once.
    /// - Returns: the draft, to be inserted or discarded.
    /// - Throws: `readOnly`, `full`.
    package func beginItem(key: UnsafeBufferPointer<UInt8>? = nil) throws(StoreError) -> ItemDraft {
        if isReadOnly { throw readOnlyError }
        return try columns.makeDraft(key: key.flatMap(PackedKey.init(uuid:)))
    }

    /// Appends an item begun with ``beginItem()``.
    ///
    /// - Throws: `duplicateKey`, `vetoed`. The draft must then still be discarded.
    package func insert(_ draft: ItemDraft) throws(StoreError) -> Item {
        try insertDraft(draft.row)
        return item(row: draft.row)
    }

    /// As ``insert(_:)``, without making an object.
    ///
    /// - Parameters:
    ///   - draft: the draft.
    ///   - keepsKey: whether its key is that of a model; else one with a kind and an id gets the key of these.
    /// - Returns: the item.
    /// - Throws: as ``insert(_:)``.
    package func insertReference(_ draft: ItemDraft, keepsKey: Bool = false) throws(StoreError) -> ItemReference {
        try insertDraft(draft.row, keepsKey: keepsKey)
        return reference(draft.row)
    }

    private func insertDraft(_ row: UInt32, keepsKey: Bool = false) throws(StoreError) {
        if !keepsKey, columns.hasKinds { try columns.setKeyOfKind(row) }
        if publisher.isWatched {
            keepLatestCommit()
            if !publisher.observers.isEmpty {
                let item = item(row: row)
                try askObservers { try $0.itemStore(self, willInsert: item) }
            }
        }
        if replica.isShared { try checkSharedKey(row) }
        try columns.appendDraft(row)
        if !publisher.observers.isEmpty { publishInserted(row) }
    }

    // MARK: Removing and moving

    /// Removes an item from the store.
    ///
    /// - Throws: `itemRemoved`, `foreignItem`, `vetoed`, `readOnly`.
    public func removeItem(_ item: Item) throws(StoreError) {
        guard item.store === self else {
            throw StoreError(.foreignItem, "the item belongs to another store")
        }
        try remove(row: item.row)
    }

    /// Removes several items; if one is refused, none is removed. Observers are notified once.
    ///
    /// - Throws: as ``removeItem(_:)``; `itemRemoved` also for an item that is given twice.
    package func removeItems(_ items: [Item]) throws(StoreError) {
        var rows: Set<UInt32> = []
        for (place, item) in items.enumerated() {
            guard item.store === self else {
                throw StoreError(.foreignItem, "item \(place + 1) of \(items.count) belongs to another store")
            }
            if columns.isLive(item.row), !rows.insert(item.row).inserted {
                throw StoreError(
                    .itemRemoved, "item \(place + 1) of \(items.count) is given twice: nothing was removed")
            }
        }
        try StoreError.answering { _ = try remove(rows: items.map(\.row)) }
    }

    func remove(row: UInt32) throws(StoreError) {
        guard columns.hasReferences else { return try takeOut(row: row) }
        try StoreError.answering { _ = try remove(atOnce: [row]) }
    }

    /// Removes items, all or none. Observers are notified once.
    ///
    /// - Returns: the number of them that were there until then: an observer may have removed one.
    /// - Throws: as ``removeItem(_:)``; `WorkStopped`.
    func remove(rows: [UInt32]) throws -> Int {
        try performBulkChange { try remove(atOnce: rows) }
    }

    private func remove(atOnce rows: [UInt32]) throws -> Int {
        if isReadOnly { throw readOnlyError }
        for row in rows where !columns.isLive(row) { throw StoreError.itemWasRemoved }
        let consequences = columns.hasReferences ? try consequences(ofRemoving: rows) : RemovalConsequences()
        if rows.count == 1, consequences.isEmpty {
            try takeOut(row: rows[0])
            return 1
        }
        return try allOrNone {
            try carryOut(consequences)
            var count = 0
            for row in rows where columns.isLive(row) {
                if Interruption.isDue { throw WorkStopped() }
                try takeOut(row: row)
                count += 1
            }
            return count
        }
    }

    /// Removes an item, whatever refers to it.
    func takeOut(row: UInt32) throws(StoreError) {
        if isReadOnly { throw readOnlyError }
        guard columns.isLive(row) else { throw .itemWasRemoved }
        keepCommitBeforeChange()
        guard publisher.observers.isEmpty else {
            let item = item(row: row)
            try askObservers { try $0.itemStore(self, willRemove: item) }
            guard columns.isLive(row) else { throw .itemWasRemoved }
            let last = columns.fields(of: row)
            columns.takeOut(row)
            if publisher.collect({ $0.removed += 1 }) { return }
            for observer in publisher.observers { observer.itemStore(self, didRemove: item, fields: last) }
            return
        }
        columns.takeOut(row)
    }

    /// Moves the item at a position to another; both are counted from 0. Does nothing if they are equal.
    ///
    /// - Throws: `positionOutOfRange`, `readOnly`.
    public func moveItem(from: Int, to: Int) throws(StoreError) {
        if isReadOnly { throw readOnlyError }
        for position in [from, to] where position < 0 || position >= count {
            throw StoreError(
                .positionOutOfRange(position: position, count: count),
                count == 0
                    ? "no item can be moved: the store is empty"
                    : "position \(position + 1) is outside the store: it has the positions 1 to \(count)")
        }
        if from == to { return }
        keepCommitBeforeChange()
        columns.move(from: from, to: to)
        publisher.collect { $0.moved += 1 }
    }
}

/// A zeroing reference to a store: nil once the store is freed.
///
/// A weak reference would have the same effect. But the first one to an object moves its reference counts to a side
/// table, and a store is retained and released with every field access.
package final class ItemStoreReference {
    /// Unchecked: the store sets it to nil when it is freed.
    package internal(set) unowned(unsafe) var store: ItemStore?
}
