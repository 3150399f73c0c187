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

/// An observer of committed changes.
///
/// An ``ItemStoreObserver`` is notified of every change immediately, including those of a dry run or of a transaction
/// that fails later. A commit observer is notified once per commit, in order, after the changes are in the journal. Use
/// a commit observer to maintain a copy elsewhere.
///
/// ```swift
/// final class Mirror: ItemCommitObserver {
///     func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) {
///         for change in commit where change.kind == .remove { forget(change.itemKey) }
///     }
/// }
/// store.addCommitObserver(mirror)
/// ```
public protocol ItemCommitObserver: AnyObject {
    /// Called when a commit is in the journal. Changes by the observer are part of the next commit, reported later.
    func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit)
}

/// The counts of changes by a bulk change, an undo, a redo or a rollback.
public struct ItemStoreChanges: Sendable, Hashable {
    /// The cause of a bulk notification.
    package enum Cause: String, Sendable {
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
    package var cause: Cause
    /// The number of added items.
    public var inserted = 0
    /// The number of changed fields.
    public var updated = 0
    /// The number of removed items.
    public var removed = 0
    /// The number of moved items.
    package var moved = 0

    /// Whether nothing changed.
    package var isEmpty: Bool { inserted + updated + removed + moved == 0 }

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
            case .declare: break
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
