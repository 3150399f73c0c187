/// A read-only view of a persistence whose owner, another process, continues to commit.
package protocol FollowingPersistence: ItemPersistence {
    /// The owner's commits since the opening or the last call, oldest first. It takes microseconds if there are none.
    ///
    /// - Returns: nil if they are no longer available one by one: then all items have to be read again.
    /// - Throws: ``StoreError`` with `inputOutput`, `corruptJournal`.
    func takeOwnersCommits() throws(StoreError) -> [OwnersCommit]?

    /// The same persistence, to be opened again.
    func reopened() -> any FollowingPersistence

    /// Continues from the state that another opening of the same persistence has reached.
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
