/// What the owner of a shared collection does with it as a whole.
package enum SharedOwnership {
    /// A host that has used a collection.
    package struct Host: Sendable, Hashable {
        package let name: String
        /// The beginning of its identifier, which tells hosts of one name apart.
        package let identifier: String
        /// When it connected last, as the server writes it.
        package let connected: String
        /// The commits that it made, of those that the log has.
        package let commits: Int
    }

    /// What a collection has.
    package struct Contents: Sendable, Hashable {
        package let items: Int
        package let pictures: Int
        package let commits: Int
        package let hosts: Int
    }

    /// The hosts of a collection, the one that connected last first.
    ///
    /// - Throws: ``SharedError``.
    package static func hosts(_ address: SharedAddress) throws(SharedError) -> [Host] {
        try withCollection(address) { (connection, number) throws(PostgresError) in try hosts(connection, number) }
    }

    /// The same of the collection with a number in the tables, at most as many as given.
    static func hosts(
        _ connection: PostgresConnection, _ number: Int32, limit: Int64 = .max
    ) throws(PostgresError) -> [Host] {
        let rows = try connection.run(
            "select h.name, left(h.id::text, 8), date_trunc('second', h.connected_at)::text, "
                + "(select count(*) from cubby.log l where l.collection = h.collection and l.host = h.id) "
                + "from cubby.host h where h.collection = $1 order by h.connected_at desc limit $2",
            [.int4(number), .int8(limit)])
        return try (0..<rows.rowCount).map { (row) throws(PostgresError) in
            Host(
                name: try rows.text(row, 0), identifier: try rows.text(row, 1),
                connected: try rows.text(row, 2), commits: Int(clamping: try rows.number(row, 3)))
        }
    }

    /// Removes hosts from the list. What they committed stays; one that connects again is listed again.
    ///
    /// - Parameters:
    ///   - name: the name of the hosts, or the beginning of an identifier as ``hosts(_:)`` has it.
    ///   - address: the collection's address.
    /// - Returns: how many were removed.
    /// - Throws: ``SharedError``.
    package static func forget(_ name: String, _ address: SharedAddress) throws(SharedError) -> Int {
        try withCollection(address) { (connection, number) throws(PostgresError) in
            try connection.run(
                "delete from cubby.host h where h.collection = $1 and (h.name = $2 or left(h.id::text, 8) = $2) "
                    + "returning h.id", [.int4(number), .text(name)]
            ).rowCount
        }
    }

    /// Gives a collection another name. Its hosts keep what they have, and find it by an address with that name.
    ///
    /// - Throws: ``SharedError``: `badAddress` for a name that no address can have, `unusable` when another collection has it.
    package static func rename(_ address: SharedAddress, to name: String) throws(SharedError) {
        do throws(SharedAddressError) { try SharedAddress.check(collection: name) } catch {
            throw SharedError(.badAddress, error.description)
        }
        try withCollection(address) { (connection, number) throws(PostgresError) in
            let isTaken = try connection.run("select from cubby.collection where name = $1", [.text(name)]).rowCount > 0
            if isTaken {
                throw PostgresError(.unusable, "there is a collection \"\(name)\" already: choose another name")
            }
            try connection.run(
                "update cubby.collection set name = $2 where id = $1", [.int4(number), .text(name)])
        }
    }

    /// Counts what a collection has.
    ///
    /// - Throws: ``SharedError``.
    package static func contents(_ address: SharedAddress) throws(SharedError) -> Contents {
        try withCollection(address) { (connection, number) throws(PostgresError) in
            let counts = try connection.run(
                "select (select count(*) from cubby.item where collection = $1), "
                    + "(select count(*) from cubby.picture where collection = $1 and gone is null), "
                    + "(select count(*) from cubby.log where collection = $1), "
                    + "(select count(*) from cubby.host where collection = $1)", [.int4(number)])
            return Contents(
                items: Int(clamping: try counts.number(0, 0)), pictures: Int(clamping: try counts.number(0, 1)),
                commits: Int(clamping: try counts.number(0, 2)), hosts: Int(clamping: try counts.number(0, 3)))
        }
    }

    /// Removes a collection with all that the tables have of it, those of an older or newer program, too: all of it or
    /// nothing.
    ///
    /// - Throws: ``SharedError``.
    package static func drop(_ address: SharedAddress) throws(SharedError) {
        try withCollection(address) { (connection, number) throws(PostgresError) in
            // The collection's row first: a host's commit waits for it, and then finds that it is gone.
            let removal =
                """
                do $$
                declare
                    part regclass;
                begin
                    perform 1 from cubby.collection where id = \(number) for update;
                    if to_regprocedure('cubby.unpublish(int)') is not null then
                        perform cubby.unpublish(\(number));
                    end if;
                    for part in
                        select c.oid::regclass from pg_catalog.pg_class c, pg_catalog.pg_attribute a
                            where c.relnamespace = 'cubby'::regnamespace and c.relkind = 'r' and a.attrelid = c.oid
                                and a.attname = 'collection' and not a.attisdropped
                    loop
                        execute format('delete from %s where collection = \(number)', part);
                    end loop;
                    delete from cubby.collection where id = \(number);
                end $$
                """
            try SharedPublication.explaining { () throws(PostgresError) in try connection.runScript(removal) }
        }
    }

    static func withCollection<Value>(
        _ address: SharedAddress, _ body: (PostgresConnection, Int32) throws(PostgresError) -> Value
    ) throws(SharedError) -> Value {
        try SharedSchema.asOwner(address) { (connection) throws(PostgresError) in
            try SharedSchema.check(connection, address)
            let found = try connection.run(
                "select id from cubby.collection where name = $1", [.text(address.collection)])
            guard found.rowCount == 1 else { throw SharedSchema.missingCollection(address) }
            // Hosts may have many items and commits.
            connection.timeLimit = 3600
            return try body(connection, Int32(clamping: try found.number(0, 0)))
        }
    }
}

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
        return try (0..<rows.rowCount).map { (row) throws(PostgresError) in
            Right(role: try rows.text(row, 0), writes: try rows.bytes(row, 1) == [1])
        }
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
        try (0..<rows.rowCount).map { (row) throws(PostgresError) in try rows.text(row, 0) }
    }
}
