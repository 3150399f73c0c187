import ColumnEngine

/// Transactions on a collection that other hosts change, too.
extension ItemStore {
    /// What of the others' commits stands in the way of a transaction's own; the raw value is the name for scripts.
    public enum Isolation: String, Sendable, CaseIterable {
        /// Any change of what it read.
        case serializable
        /// A change of the same fields.
        case snapshot
    }

    /// How often a transaction runs again, if nothing else is said.
    public static let defaultRetries = 10

    /// A transaction that others overtook so often keeps them out the next time.
    private static let attemptsBeforeHolding = 3

    /// Runs a body as a transaction, and again when others changed meanwhile what it read. In a store that is this host's
    /// own it runs once, and so it does within another transaction.
    ///
    /// - Parameters:
    ///   - isolation: what stands in its way.
    ///   - retries: how often it runs again at most.
    ///   - body: what changes items; it may run more than once.
    /// - Returns: what the body gives.
    /// - Throws: what the body throws; `StoreError` with `conflict` after the last attempt.
    public func transaction<Result>(
        isolation: Isolation, retries: Int = defaultRetries, _ body: () throws -> Result
    ) throws -> Result {
        guard remote != nil, !isInTransaction else { return try transaction(body) }
        // What came before is no part of it, and is not rolled back with it.
        try commit()
        isSnapshotIsolated = isolation == .snapshot
        defer { isSnapshotIsolated = false }
        var attempts = 0
        while true {
            if attempts == Self.attemptsBeforeHolding { try remote?.hold() }
            defer { remote?.release() }
            try applyRemoteCommits()
            do { return try transaction(body) } catch let error as StoreError {
                guard error.code == .conflict, attempts < retries, !isInTransaction else { throw error }
                attempts += 1
            }
        }
    }

    /// Whether the collection's server answered last; true for a store that has none.
    public var isConnected: Bool { remote?.isConnected ?? true }

    /// Whether commits are taken: by the server, or until it is back.
    public var takesCommits: Bool { remote.map { $0.isConnected || $0.keepsCommits } ?? true }
}
