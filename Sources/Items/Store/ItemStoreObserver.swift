import ColumnEngine
public import PropertyList

/// An observer of a store's changes, called before and after each; it may refuse or rewrite a change.
///
/// A `will…` method that throws refuses the change: changes that it made itself are rolled back, and the change throws
/// `vetoed`. Within `performBulkChange` the `did…` methods of single changes are not called; `didChangeMany` is, once.
/// A change by undo, redo or a rollback is only reported by `didChangeMany`.
public protocol ItemStoreObserver: AnyObject {
    /// An item is about to be appended. Its fields can be read and set; it is not in the store yet.
    func itemStore(_ store: ItemStore, willInsert item: Item) throws
    /// An item was added.
    func itemStore(_ store: ItemStore, didInsert item: Item)
    /// A field is about to change. `new` may be rewritten; it is validated again.
    func itemStore(
        _ store: ItemStore, willUpdate item: Item, field: String, old: PropertyListValue?, new: inout PropertyListValue?
    ) throws
    /// A field of an item has changed.
    func itemStore(
        _ store: ItemStore, didUpdate item: Item, field: String, old: PropertyListValue?, new: PropertyListValue?)
    /// An item is about to be removed; throwing an error refuses the removal.
    func itemStore(_ store: ItemStore, willRemove item: Item) throws
    /// An item was removed: reading it throws, so its last fields are passed.
    func itemStore(_ store: ItemStore, didRemove item: Item, fields: ItemFields)
    /// Many items changed at once.
    func itemStore(_ store: ItemStore, didChangeMany changes: ItemStoreChanges)
}

extension ItemStoreObserver {
    public func itemStore(_ store: ItemStore, willInsert item: Item) throws {}
    public func itemStore(_ store: ItemStore, didInsert item: Item) {}
    public func itemStore(
        _ store: ItemStore, willUpdate item: Item, field: String, old: PropertyListValue?, new: inout PropertyListValue?
    ) throws {}
    public func itemStore(
        _ store: ItemStore, didUpdate item: Item, field: String, old: PropertyListValue?, new: PropertyListValue?
    ) {}
    public func itemStore(_ store: ItemStore, willRemove item: Item) throws {}
    public func itemStore(_ store: ItemStore, didRemove item: Item, fields: ItemFields) {}
    public func itemStore(_ store: ItemStore, didChangeMany changes: ItemStoreChanges) {}
}

/// The counts of changes by a bulk change, an undo, a redo or a rollback.
public struct ItemStoreChanges: Sendable, Hashable {
    /// The cause of a bulk notification.
    public enum Cause: String, Sendable {
        /// One call changed them, such as an import.
        case bulkChange
        /// A step was undone.
        case undo
        /// A step was redone.
        case redo
        /// A transaction was rolled back.
        case rollback
    }

    /// The cause of the changes.
    public var cause: Cause
    /// The number of added items.
    public var inserted = 0
    /// The number of changed fields.
    public var updated = 0
    /// The number of removed items.
    public var removed = 0
    /// The number of moved items.
    public var moved = 0

    /// Whether nothing changed.
    public var isEmpty: Bool { inserted + updated + removed + moved == 0 }

    init(_ cause: Cause, _ changes: some Sequence<Change>) {
        self.cause = cause
        add(changes)
    }

    mutating func add(_ changes: some Sequence<Change>) {
        for change in changes {
            switch change.kind {
            case .append: inserted += change.count
            case .insert: inserted += 1
            case .remove: removed += 1
            case .set: updated += 1
            case .move: moved += 1
            }
        }
    }

    /// The counts of the inverse changes.
    var inverted: ItemStoreChanges {
        var inverted = self
        (inverted.inserted, inverted.removed) = (removed, inserted)
        return inverted
    }
}

extension ItemStore {
    /// Adds an observer of changes, retained until removed.
    public func addObserver(_ observer: any ItemStoreObserver) {
        observers.append(observer)
        isWatched = true
    }

    /// Removes an observer.
    public func removeObserver(_ observer: any ItemStoreObserver) {
        observers.removeAll { $0 === observer }
        isWatched = !observers.isEmpty || latestCommit != nil
    }

    /// Runs a body and notifies observers of its changes once, by `didChangeMany`, at its end. The `will…` methods are
    /// called as usual. Bulk changes nest: the outermost one notifies.
    public func performBulkChange<Result>(_ body: () throws -> Result) rethrows -> Result {
        beginBulkChange()
        defer { endBulkChange() }
        return try body()
    }

    /// Begins a bulk change; end it with ``endBulkChange()``.
    public func beginBulkChange() {
        if bulkDepth == 0 { bulkChanges = ItemStoreChanges(.bulkChange, []) }
        bulkDepth += 1
    }

    /// Ends a bulk change, and notifies observers after the outermost one.
    public func endBulkChange() {
        guard bulkDepth > 0 else { return }
        bulkDepth -= 1
        if bulkDepth == 0, !bulkChanges.isEmpty { tellMany(bulkChanges) }
    }

    /// Calls each observer in a separate savepoint: if one throws, its changes are rolled back, and the change is
    /// refused.
    func askObservers(_ ask: (any ItemStoreObserver) throws -> Void) throws(StoreError) {
        for observer in observers {
            openSavepoint()
            do {
                try ask(observer)
                closeSavepoint()
            } catch {
                rollBackSavepoint()
                if let error = error as? StoreError, case .vetoed = error.code { throw error }
                let reason = "\(error)"
                throw StoreError(.vetoed(reason: reason), "the change was refused: \(reason)", cause: error)
            }
        }
    }

    func tellInserted(_ row: UInt32) {
        if bulkDepth > 0 {
            bulkChanges.inserted += 1
            return
        }
        let item = item(row: row)
        for observer in observers { observer.itemStore(self, didInsert: item) }
    }

    func tellMany(_ changes: ItemStoreChanges) {
        guard !changes.isEmpty else { return }
        for observer in observers { observer.itemStore(self, didChangeMany: changes) }
    }
}
