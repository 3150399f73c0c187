import ColumnEngine

/// An observer of commits: of changes that happened, and of no others.
///
/// ``ItemStoreObserver`` hears of every change at once, of one within a dry run or a transaction that fails later, too. A
/// commit observer hears of the changes when they are in the journal, once, in the order of the commits. A copy that is
/// kept elsewhere follows a commit observer.
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
    /// A commit is in the journal. What the observer changes is part of the next commit, which is told after this one.
    func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit)
}
