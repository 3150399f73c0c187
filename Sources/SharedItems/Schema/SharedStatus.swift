import ColumnEngine

/// The server's state of a collection, as lines for users.
package struct SharedStatus: Sendable {
    /// Names and their values, in order; a value without a name continues the previous one.
    package private(set) var pairs: [(String, String)] = []
    /// The pairs as lines, aligned.
    package var lines: [String] { pairs.alignedLines }
    /// Unsafe settings, and how to fix them.
    package private(set) var advice: [String] = []

    /// Queries the server.
    ///
    /// - Throws: ``SharedError``.
    package init(_ address: SharedAddress) throws(SharedError) {
        do throws(PostgresError) {
            let connection = try PostgresConnection(address, waiter: BlockingWaiter())
            defer { connection.close() }
            try read(address, connection)
        } catch {
            throw SharedError(error, address)
        }
    }

    private mutating func read(_ address: SharedAddress, _ connection: PostgresConnection) throws(PostgresError) {
        let version = connection.serverVersion
        pairs.append(("server", "PostgreSQL \(SharedSchema.versionText(version))"))
        pairs.append(("transport", connection.encryption ?? "not encrypted"))
        try SharedSchema.checkServer(connection)
        if let encoding = connection.encoding, encoding != "UTF8" {
            advice.append(
                "The database has the encoding \(encoding), which lacks characters of other ones: move the collection to a database with UTF8, with cubby shared pull and push."
            )
        }
        pairs.append(("format", "\(try SharedSchema.check(connection, address))"))
        let tables = try SharedTables(connection)
        if !tables.keepDeclarations {
            advice.append(
                "The tables are of an older program, and keep no declarations of fields: cubby shared migrate adds them."
            )
        }
        // There may be many items and commits to count.
        connection.timeLimit = 3600
        let collection = try connection.run(
            "select c.id, c.head, c.floor, (select count(*) from cubby.item i where i.collection = c.id), "
                + "(select max(l.at)::text from cubby.log l where l.collection = c.id and l.revision = c.head) "
                + "from cubby.collection c where c.name = $1", [.text(address.collection)])
        guard collection.rowCount == 1 else {
            throw SharedSchema.missingCollection(address)
        }
        let number = Int32(clamping: try collection.number(0, 0))
        let count = Int(clamping: try collection.number(0, 3))
        pairs.append(("collection", "\(address.collection), \(count.counted("item"))"))
        if let record = try SharedFields.found(in: address.collection, connection) {
            describe("fields") { () throws(StoreError) in
                try SharedFields.schema(record).names.joined(separator: ", ") + ", and what is declared"
            }
        }
        if tables.keepDeclarations {
            let record = try SharedFields.declared(in: number, connection)
            describe("declared") { () throws(StoreError) in
                try SharedFields.declarations(record).all.map(\.name).joined(separator: ", ")
            }
            let declared = (try? SharedFields.declarations(record))?.all.filter { !$0.isFree }.map(\.name) ?? []
            if let published = try SharedPublication.status(connection, number, declared: declared) {
                pairs.append(("published", published.line))
                if let text = published.advice { advice.append(text) }
            }
        }
        let head = try collection.number(0, 1)
        let moment = try collection.withBytes(0, 4) { (bytes) throws(PostgresError) in
            bytes.map { String(decoding: $0, as: UTF8.self) }
        }
        pairs.append(("revision", "\(head)" + (moment.map { ", made \($0)" } ?? "")))
        let log = try SharedRetention(connection, number, tables)
        pairs.append(("log", "\(log.commits.counted("commit")) after revision \(log.floor), \(log.retention)"))
        let growth = try SharedGrowth(connection, number)
        pairs += growth.pairs
        advice += growth.advice
        if tables.keepRights {
            let rights = try SharedRights.list(connection, number).map {
                VisibleText.line($0.role) + ($0.writes ? "" : " (reads)")
            }
            pairs.append(("open to", (["its owner"] + rights).joined(separator: ", ")))
        } else {
            advice.append(
                "The tables are of an older program: each role that was let in uses all collections. cubby shared grant, revoke and migrate change that."
            )
        }
        try readSafety(connection)
        for (place, host) in try SharedOwnership.hosts(connection, number, limit: 50).enumerated() {
            let name = VisibleText.line(host.name)
            let text = "\(name), last connected \(host.connected), \(host.commits.counted("commit"))"
            pairs.append((place == 0 ? "hosts" : "", text))
        }
    }

    /// Adds what a record on the server says, unless that is nothing; or that it cannot be read, which hosts meet when they
    /// start.
    private mutating func describe(_ name: String, _ text: () throws(StoreError) -> String) {
        do throws(StoreError) {
            let text = try text()
            if !text.isEmpty { pairs.append((name, VisibleText.line(text))) }
        } catch {
            pairs.append((name, "cannot be read: \(error.message)"))
            advice.append(
                error.code == .newerFormat
                    ? "A newer program made the record of the collection's fields: install a newer cubby."
                    : "The record of the collection's fields is damaged, and no host can start without a copy of the items: restore it from a backup, or from a standby."
            )
        }
    }

    /// Adds the connected standbys, as far as the role may see them.
    private mutating func readReplication(_ connection: PostgresConnection) throws(PostgresError) {
        if try connection.run("select pg_is_in_recovery()").bytes(0, 0) == [1] {
            pairs.append(("replication", "this server is a standby"))
            advice.append(
                "This server is a standby, which takes no commits: name the primary, or all servers, in the address.")
            return
        }
        let standbys = try connection.run(
            "select coalesce(application_name, '?'), coalesce(sync_state, 'hidden from this role'), "
                + "coalesce(round(extract(epoch from replay_lag) * 1000)::int8, -1) from pg_stat_replication limit 20")
        for row in 0..<standbys.rowCount {
            let lag = try standbys.number(row, 2)
            let text = "\(VisibleText.line(try standbys.text(row, 0))), \(try standbys.text(row, 1))"
            pairs.append((row == 0 ? "replication" : "", text + (lag < 0 ? "" : ", \(lag) ms behind")))
        }
    }

    /// Whether a connected standby is a synchronous one; true if the role may not see that.
    private func hasSynchronousStandby(_ connection: PostgresConnection) throws(PostgresError) -> Bool {
        let found = try connection.run(
            "select count(*) filter (where sync_state in ('sync', 'quorum') or sync_state is null) > 0 "
                + "from pg_stat_replication")
        return try found.bytes(0, 0) == [1]
    }

    /// Adds the server's protection against losing commits.
    private mutating func readSafety(_ connection: PostgresConnection) throws(PostgresError) {
        let settings = try connection.run(
            "select current_setting('fsync'), current_setting('synchronous_commit'), "
                + "current_setting('synchronous_standby_names'), current_setting('full_page_writes')")
        let (fsync, commit, standbys) = (try settings.text(0, 0), try settings.text(0, 1), try settings.text(0, 2))
        pairs.append(
            (
                "durability",
                "fsync \(fsync), synchronous_commit \(commit), synchronous standbys \(standbys.isEmpty ? "none" : standbys)"
            ))
        try readReplication(connection)
        if fsync != "on" || commit == "off" {
            advice.append(
                "A power cut of the server can lose commits that hosts were told of: set fsync and synchronous_commit on."
            )
        }
        if commit == "local", !standbys.isEmpty {
            advice.append(
                "Commits do not wait for the synchronous standbys (synchronous_commit is local): a failover to one of them can lose commits that hosts were told of."
            )
        }
        if !standbys.isEmpty, try !hasSynchronousStandby(connection) {
            advice.append(
                "synchronous_standby_names is set, and no standby that is connected is one of them: commits wait until one is."
            )
        }
        if standbys.isEmpty {
            advice.append(
                "There is no synchronous standby: a failover to another server can lose commits (synchronous_standby_names)."
            )
        }
    }
}
