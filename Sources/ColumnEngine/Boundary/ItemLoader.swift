public import PropertyList

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
        do throws(StoreError) {
            try store.fill(draft, with: values)
            try insert(draft)
        } catch {
            draft.discard()
            throw error
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
