import Files

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
