/// Which role may use which collection of a database, as its owner says. A role sees the rows of its collections alone: the
/// server's policies for the rows see to that, for every program.
package enum SharedRights {
    /// What a role may do with a collection.
    package struct Right: Sendable, Hashable {
        package let role: String
        /// Whether it may change items, and not only read them.
        package let writes: Bool
    }

    /// Opens one collection to a role: it reads the collection, and changes items through functions alone, if it may. Tables of
    /// an older program, where each role uses all collections, are migrated before: those roles keep what there is.
    ///
    /// - Parameters:
    ///   - role: an existing role; its members get the same.
    ///   - writes: whether it may change items; what an earlier grant said is replaced.
    ///   - address: the collection's address.
    /// - Returns: the roles of an older program's tables that keep all collections; empty if these were migrated already.
    /// - Throws: ``SharedError``.
    package static func grant(
        _ role: String, writes: Bool, _ address: SharedAddress
    ) throws(SharedError) -> [String] {
        try changing(address) { (connection, number) throws(PostgresError) in
            try connection.run(
                "select cubby.open_to($1, $2, \(writes))", [.int4(number), .text(role)])
        }.retained
    }

    /// Closes one collection to a role, which loses all rights in the database's collections with its last one.
    ///
    /// - Returns: the roles through which it may still use the collection, because it is their member or a superuser.
    /// - Throws: ``SharedError``: `unusable` if the collection is not open to the role.
    package static func revoke(_ role: String, _ address: SharedAddress) throws(SharedError) -> [String] {
        try changing(address) { (connection, number) throws(PostgresError) in
            let known = try list(connection, number)
            let closed = try connection.run("select cubby.close_to($1, $2)", [.int4(number), .text(role)])
            guard try closed.bytes(0, 0) == [1] else {
                let roles = known.map { VisibleText.line($0.role) }.joined(separator: ", ")
                throw PostgresError(
                    .unusable,
                    "the collection is not open to the role \(role.quoted())"
                        + (roles.isEmpty ? "" : ": it is open to \(roles)"))
            }
            let memberships = try connection.run(
                "select m.role from cubby.member m join pg_catalog.pg_roles r on r.rolname = $2 where m.collection = $1 "
                    + "and pg_has_role(r.oid, to_regrole(quote_ident(m.role)), 'member') order by m.role",
                [.int4(number), .text(role)])
            return try names(memberships)
        }.value
    }

    /// The roles that a collection is open to, besides its owner and superusers.
    static func list(_ connection: PostgresConnection, _ number: Int32) throws(PostgresError) -> [Right] {
        let rows = try connection.run(
            "select role, writes from cubby.member where collection = $1 order by role", [.int4(number)])
        var rights: [Right] = []
        for row in 0..<rows.rowCount {
            rights.append(Right(role: try rows.text(row, 0), writes: try rows.bytes(row, 1) == [1]))
        }
        return rights
    }

    /// Changes the rights in a collection, of which older tables get them before, as a whole.
    private static func changing<Value>(
        _ address: SharedAddress, _ body: (PostgresConnection, Int32) throws(PostgresError) -> Value
    ) throws(SharedError) -> (value: Value, retained: [String]) {
        try SharedOwnership.withCollection(address) { (connection, number) throws(PostgresError) in
            try SharedSchema.checkServer(connection)
            // A failure ends the connection, and the server takes back what was done.
            try connection.runScript("begin")
            var retained: [String] = []
            if try !SharedTables(connection).keepRights {
                try connection.runScript(SharedSchema.definitions)
                retained = try names(connection.run("select distinct role from cubby.member order by role"))
            }
            let value = try body(connection, number)
            try connection.runScript("commit")
            return (value, retained)
        }
    }

    private static func names(_ rows: PostgresResult) throws(PostgresError) -> [String] {
        var names: [String] = []
        for row in 0..<rows.rowCount { names.append(try rows.text(row, 0)) }
        return names
    }
}
