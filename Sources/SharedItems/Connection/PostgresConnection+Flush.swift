/// What the server has flushed to its disk, and its synchronous standbys have: no crash and no failover takes that back.
///
/// A transaction can end before it is flushed, and its locks with it. Another one that ends after a flush has everything
/// flushed that was visible before: all who wait at the same time share one.
extension PostgresConnection {
    /// A transaction that changes nothing, and ends with a flush.
    private static let flush: Command = ("select pg_logical_emit_message(true, 'cubby', '')", [])

    /// The same command, whose transaction ends without waiting for a flush. One more column is behind its rows.
    static func leavingFlush(_ command: Command) -> Command {
        ("select c.*, set_config('synchronous_commit', 'off', true) from (\(command.sql)) as c", command.parameters)
    }
    /// A query for ``mayFlush``.
    static let asksWhetherItMayFlush =
        "(select bool_and(has_function_privilege(p.oid, 'execute')) from pg_proc p where p.proname = "
        + "'pg_logical_emit_message' and p.pronamespace = 'pg_catalog'::regnamespace)"

    /// Runs a command, and returns its rows when what it has read or written is flushed. It takes one round trip.
    ///
    /// - Parameter command: the command; outside of a transaction.
    /// - Returns: the rows.
    /// - Throws: ``PostgresError`` of the command; one that is in doubt if the flush failed.
    func rowsFlushed(of command: Command) throws(PostgresError) -> PostgresResult {
        guard mayFlush else { return try run(command.sql, command.parameters, isPrepared: true) }
        let results = try runTransactions([[command], [Self.flush]])
        guard results.count == 2, let rows = try results[0].get().last else {
            throw PostgresResult.badAnswer("no rows")
        }
        guard case .failure(let error) = results[1] else { return rows }
        // It is there, and a power cut may take it back: as if the answer had not come.
        close()
        throw PostgresError(.disconnected, "the server did not say that its log is flushed (\(error.message))")
    }

    /// Has everything flushed that was visible before.
    func flush() throws(PostgresError) {
        if mayFlush { try run(Self.flush.sql, isPrepared: true) }
    }
}
