import ColumnEngine

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

    /// Whether an earlier change of the same step holds what was there before, so that taking that one back is enough.
    func isRepeated(_ number: UInt32) -> Bool

    /// The step that changes belonged to has ended; the next ones belong to another.
    func endStep()

    /// Bytes that are kept for the time when a change is taken back: they count towards ``HistoryLimits/bytes``.
    func byteCount(ofChange number: UInt32) -> Int

    /// Items have left the store, which is in the journal: what belongs to them leaves with them.
    ///
    /// - Parameter keys: of the items; another item may be in the store under one of them.
    /// - Returns: numbers of the changes, oldest first.
    func removeContents(ofItems keys: Set<String>) -> [UInt32]

    /// Makes all changes so far survive a power cut, after the journal's records do.
    func synchronize()
}

extension TransactionParticipant {
    public func isRepeated(_ number: UInt32) -> Bool { false }

    public func endStep() {}

    public func byteCount(ofChange number: UInt32) -> Int { 0 }

    public func removeContents(ofItems keys: Set<String>) -> [UInt32] { [] }

    public func synchronize() {}
}
