import Files

/// What of a collection grows on the server, and what delays its clean-up.
struct SharedGrowth {
    /// Lines of a ``SharedStatus``, and its advice.
    private(set) var pairs: [(String, String)] = []
    private(set) var advice: [String] = []

    init(_ connection: PostgresConnection, _ number: Int32) throws(PostgresError) {
        try readGrowth(connection, number)
        try readUpkeep(connection)
    }

    /// Adds sizes, copies and growth.
    private mutating func readGrowth(_ connection: PostgresConnection, _ number: Int32) throws(PostgresError) {
        let sizes = try connection.run(
            "select pg_size_pretty(pg_total_relation_size('cubby.item')), pg_size_pretty(pg_total_relation_size('cubby.log')), "
                + "pg_size_pretty(pg_total_relation_size('cubby.picture')), pg_size_pretty(pg_database_size(current_database()))"
        )
        pairs.append(
            (
                "disk",
                "items \(try sizes.text(0, 0)), log \(try sizes.text(0, 1)), pictures \(try sizes.text(0, 2)), of all collections; the database \(try sizes.text(0, 3))"
            ))
        let copies = try connection.run(
            """
            select pg_size_pretty(
                    (select coalesce(sum(octet_length(i.rank) + octet_length(i.record)), 0) from cubby.item i
                        where i.collection = $1)::int8),
                count(*), count(*) filter (where h.connected_at < (
                    select l.at from cubby.log l where l.collection = $1 and l.revision = c.floor))
                from cubby.collection c join cubby.host h on h.collection = c.id where c.id = $1
            """, [.int4(number)])
        let (hosts, old) = (try copies.number(0, 1), try copies.number(0, 2))
        pairs.append(
            (
                "copies",
                "\(Int(clamping: hosts).counted("host")), to each of which \(try copies.text(0, 0)) went at its first start"
                    + (old > 0
                        ? "; \(old) of them connected last before the log begins: a start fetches all items anew" : "")
            ))
        let growth = try connection.run(
            """
            select count(*), pg_size_pretty(coalesce(sum(octet_length(l.record) + pg_column_size(l.keys)), 0)::int8)
                from cubby.log l where l.collection = $1 and l.at > clock_timestamp() - interval '1 day'
            """, [.int4(number)])
        let made = Int(clamping: try growth.number(0, 0))
        pairs.append(("growth", "\(made.counted("commit")), \(try growth.text(0, 1)) in the log in the last day"))
    }

    /// Adds what waits to be tidied up, and what keeps the server from it.
    private mutating func readUpkeep(_ connection: PostgresConnection) throws(PostgresError) {
        let dead = try connection.run(
            """
            select relname, n_dead_tup, n_live_tup from pg_catalog.pg_stat_all_tables
                where schemaname = 'cubby' and n_dead_tup > 0 order by n_dead_tup desc, relname
            """)
        var tables: [String] = []
        for row in 0..<dead.rowCount {
            let (count, live) = (try dead.number(row, 1), try dead.number(row, 2))
            tables.append("\(try dead.text(row, 0)) \(count) beside \(live)")
            if count > Self.manyRows, count > live {
                advice.append(
                    "More rows of the table \(try dead.text(row, 0)) are dead than live: a long snapshot holds them, or autovacuum does not keep up (vacuum cubby.\(try dead.text(row, 0)))."
                )
            }
        }
        pairs.append(("dead rows", tables.isEmpty ? "none" : tables.joined(separator: ", ")))
        // A standby has no queue of its own.
        if try connection.run("select pg_is_in_recovery()").bytes(0, 0) == [0] {
            let queue = try connection.run("select ceil(pg_notification_queue_usage() * 100)::int8").number(0, 0)
            pairs.append(("notify", queue == 0 ? "none waits" : "\(queue) % of the server's queue"))
            if queue >= 50 {
                advice.append(
                    "The server's queue of notifications is \(queue) % full, and when it is full no commit is made: a connection that listens has stayed in a transaction. The server's log names it."
                )
            }
        }
        try readSnapshots(connection)
    }

    /// Dead rows below this number are usual: autovacuum comes later.
    private static let manyRows: Int64 = 10_000
    /// A snapshot that is older, in seconds, is told of.
    private static let longSnapshot: Int64 = 600

    /// Adds the oldest snapshot besides this connection's, as far as the role may see it.
    private mutating func readSnapshots(_ connection: PostgresConnection) throws(PostgresError) {
        let found = try connection.run(
            """
            select held.what, held.age::int8, held.seconds::int8 from (
                select 'process ' || pid || coalesce(', ' || nullif(application_name, ''), '') as what,
                        age(backend_xmin) as age, extract(epoch from clock_timestamp() - xact_start) as seconds
                    from pg_catalog.pg_stat_activity
                    where backend_xmin is not null and pid <> pg_backend_pid()
                        and (datname is null or datname = current_database())
                union all select 'the replication slot ' || slot_name, age(xmin), null
                    from pg_catalog.pg_replication_slots where xmin is not null
                union all select 'the prepared transaction ' || gid, age(transaction),
                        extract(epoch from clock_timestamp() - prepared)
                    from pg_catalog.pg_prepared_xacts where database = current_database()
                ) held order by held.age desc, held.seconds desc nulls last, held.what limit 1
            """)
        let hidden = try connection.run(
            "select count(*) from pg_catalog.pg_stat_activity where query = '<insufficient privilege>' "
                + "and datname = current_database()"
        ).number(0, 0)
        var text = "none is held"
        if found.rowCount > 0 {
            let seconds = try found.integer(0, 2)
            let holder = VisibleText.line(try found.text(0, 0))
            text =
                "the oldest is held by \(holder), \(Int(clamping: try found.number(0, 1)).counted("transaction")) back"
                + (seconds.map { ", for \($0) s" } ?? "")
            if let seconds, seconds >= Self.longSnapshot {
                advice.append(
                    "A snapshot is held for \(seconds / 60) minutes (\(holder)): rows that were replaced since stay on the disk until it ends."
                )
            }
        }
        if hidden > 0 {
            text +=
                "; \(Int(clamping: hidden).counted("session")) of other roles cannot be seen by this one (pg_read_all_stats)"
        }
        pairs.append(("snapshots", text))
    }
}

/// Which commits the log of a collection keeps. Hosts that were away for longer fetch all items anew.
package enum LogRetention: Sendable, Hashable, CustomStringConvertible {
    case all
    /// Those of so many days.
    case days(Int)
    /// So many, the last ones.
    case commits(Int)

    package var description: String {
        switch self {
        case .all: "all commits are kept"
        case .days(let count): "the commits of the last \(count.counted("day")) are kept"
        case .commits(let count): "the last \(count.counted("commit")) and those of the last day are kept"
        }
    }
}

/// The log of a collection as the server has it, and what of it is to be kept.
package struct SharedRetention: Sendable, Hashable {
    package let retention: LogRetention
    /// The log has the commits after this revision.
    package let floor: UInt64
    /// The latest revision.
    package let head: UInt64

    /// The commits that the log has.
    package var commits: Int { Int(clamping: head - min(floor, head)) }

    init(
        _ connection: PostgresConnection, _ number: Int32, _ tables: SharedTables
    ) throws(PostgresError) {
        let policy = tables.keepRetention ? "keep_days, keep_commits" : "null::int4, null::int8"
        let rows = try connection.run(
            "select head, floor, \(policy) from cubby.collection where id = $1", [.int4(number)])
        (head, floor) = (try rows.revision(0, 0), try rows.revision(0, 1))
        if let days = try rows.integer(0, 2) {
            retention = .days(Int(clamping: days))
        } else if let count = try rows.integer(0, 3) {
            retention = .commits(Int(clamping: count))
        } else {
            retention = .all
        }
    }

    /// The commits that a step removes: other hosts' commits wait meanwhile, for some milliseconds.
    package static let step = 1000

    /// Removes the commits that need not be kept, oldest first, a step at a time.
    ///
    /// - Parameters:
    ///   - address: the collection's address.
    ///   - retention: what is to be kept from now on, by hosts too; what is stated already if nil.
    ///   - didRemove: called with the number of removed commits after each step.
    /// - Returns: the log as it is then.
    /// - Throws: ``SharedError``.
    package static func trim(
        _ address: SharedAddress, keeping retention: LogRetention? = nil, didRemove: (Int) -> Void = { _ in }
    ) throws(SharedError) -> SharedRetention {
        try SharedOwnership.withCollection(address) { (connection, number) throws(PostgresError) in
            let tables = try SharedTables(connection)
            guard tables.keepRetention else {
                throw PostgresError(
                    .unusable,
                    "the tables, of an older program, keep all commits: cubby shared migrate '\(address.description)' "
                        + "comes before")
            }
            if let retention { try state(retention, connection, number) }
            var removed = 0
            repeat {
                let rows = try connection.run(
                    "select cubby.shorten_log($1, $2)", [.int4(number), .int4(Int32(step))], isPrepared: true)
                removed = Int(clamping: try rows.number(0, 0))
                if removed > 0 { didRemove(removed) }
            } while removed > 0
            return try SharedRetention(connection, number, tables)
        }
    }

    private static func state(
        _ retention: LogRetention, _ connection: PostgresConnection, _ number: Int32
    ) throws(PostgresError) {
        var (days, commits): (PostgresValue, PostgresValue) = (.null, .null)
        switch retention {
        case .all: break
        case .days(let count): days = .int8(Int64(count))
        case .commits(let count): commits = .int8(Int64(count))
        }
        try connection.run(
            "update cubby.collection set keep_days = $2::int8, keep_commits = $3::int8 where id = $1",
            [.int4(number), days, commits])
    }
}
