/// What else is part of an item store's transactions: its changes happen with the items' or not at all.
public protocol TransactionParticipant: AnyObject {
    /// A transaction begins, or a savepoint within one.
    func openSavepoint()

    /// The outermost transaction is about to be committed: the last moment to refuse it, which rolls it back.
    func prepareToCommit() throws(StoreError)

    /// The innermost one ends, and its changes stay; those of the outermost have happened.
    func closeSavepoint()

    /// The innermost one ends, and its changes have not happened.
    func rollBackSavepoint()
}
