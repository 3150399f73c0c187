import ColumnEngine

/// Transactions on a shared collection.
extension ItemStore {
    /// Which commits of others conflict with a transaction; the raw value is the name for scripts.
    public enum Isolation: String, Sendable, CaseIterable {
        /// Any change of data that it read.
        case serializable
        /// A change of the same fields.
        case snapshot
    }

    /// The default number of retries of a transaction.
    public static let defaultRetries = 10

    /// After this many conflicts, the next attempt keeps others out.
    private static let attemptsBeforeHolding = 3

    /// Runs a body as a transaction, and again if others changed data that it read in the meantime. Runs once in an
    /// unshared store, and within another transaction.
    ///
    /// - Parameters:
    ///   - isolation: which commits of others conflict with it.
    ///   - retries: the maximum number of retries.
    ///   - body: changes items; it may run more than once.
    /// - Returns: the result of the body.
    /// - Throws: errors of the body; `StoreError` with `conflict` after the last attempt.
    public func transaction<Result>(
        isolation: Isolation, retries: Int = defaultRetries, _ body: () throws -> Result
    ) throws -> Result {
        guard remote != nil, !isInTransaction else { return try transaction(body) }
        // Earlier changes are not part of the transaction, and not rolled back with it.
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

    /// Whether the collection's server responded last time; true for a store without one.
    public var isConnected: Bool { remote?.isConnected ?? true }

    /// Whether commits are accepted: by the server, or for later sending.
    public var takesCommits: Bool { remote.map { $0.isConnected || $0.keepsCommits } ?? true }
}
