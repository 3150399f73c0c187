/// A persistence that is read beside its owner, another process, which goes on committing.
package protocol FollowingPersistence: ItemPersistence {
    /// The owner's commits since the opening or the last call, oldest first. Without any it takes microseconds.
    ///
    /// - Returns: nil when they cannot be had one by one any more: then all items have to be read anew.
    /// - Throws: ``StoreError`` with `inputOutput`, `corruptJournal`.
    func takeOwnersCommits() throws(StoreError) -> [OwnersCommit]?

    /// The same persistence, to be opened anew.
    func reopened() -> any FollowingPersistence

    /// Goes on from where another opening of the same persistence has come to.
    func goOn(from other: any FollowingPersistence)
}

/// A commit of the owner.
package struct OwnersCommit: Sendable {
    package var revision: ItemRevision
    package var changes: [ItemChange]

    package init(revision: ItemRevision, changes: [ItemChange]) {
        (self.revision, self.changes) = (revision, changes)
    }
}
