/// What else is part of an item store's transactions: its changes happen with the items' or not at all.
public protocol TransactionParticipant: AnyObject {
    /// A transaction begins, or a savepoint within one.
    func openSavepoint()

    /// The outermost transaction is about to be committed: the last moment to refuse it, which rolls it back.
    func prepareToCommit() throws(StoreError)

    /// The innermost one ends, and its changes stay; those of the outermost have happened.
    ///
    /// - Returns: numbers of those that can be taken back, oldest first; see `reverseChange(_:)`.
    func closeSavepoint() -> [UInt32]

    /// The innermost one ends, and its changes have not happened.
    func rollBackSavepoint()

    /// Takes back a change of this number, or does it again: each call is the reverse of the one before.
    func reverseChange(_ number: UInt32)

    /// A change of this number will not be taken back any more.
    func forgetChange(_ number: UInt32)
}
