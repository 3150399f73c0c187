import ColumnEngine

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
