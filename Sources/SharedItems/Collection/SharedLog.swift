package import ColumnEngine
import Files
package import ItemArchive
import PropertyList

/// The commits of a shared collection, one after the other, for a program that follows it. It is not a host: it keeps no
/// items, changes nothing, and the collection does not list it.
///
///     let log = try SharedLog(address, after: 41, schema: .household)
///     while true {
///         for commit in try log.next() { … }  // The commits from revision 42 on
///         try log.wait(seconds: 60)
///     }
///
/// The revision of the last commit taken is where another reader goes on. One thread owns it.
package final class SharedLog {
    /// One commit: what a host changed in one step.
    package struct Commit: Sendable {
        /// Its number: each commit of a collection has the one before plus 1.
        package let revision: UInt64
        /// The name of the host; empty for one that was forgotten.
        package let host: String
        /// When the server made it: ISO 8601 in UTC, with microseconds.
        package let moment: String
        /// Its changes, in order.
        package let changes: [RecordChange]
    }

    private let address: SharedAddress
    /// The fields of every item: those that the collection has, if it says them.
    private var schema: ItemSchema
    private let waiter: any PostgresWaiter
    private var connection: PostgresConnection?
    /// The collection's number in the tables.
    private var number: Int32 = 0
    private var epoch: [UInt8] = []
    /// The revision of the last commit taken.
    package private(set) var revision: UInt64
    /// Identifies the commits up to it; nil until the log has said it.
    private var lineage: [UInt8]?
    /// The log has the commits after this revision.
    package private(set) var floor: UInt64 = 0
    /// The collection's latest revision, as of the last answer.
    package private(set) var head: UInt64 = 0

    /// The most commits, and the most bytes of their records but for the first, that are read at once.
    private static let (mostCommits, mostBytes) = (1000, 16 << 20)
    /// The greatest revision.
    package static let latest = UInt64(Int64.max)

    /// Connects, and finds the collection.
    ///
    /// - Parameters:
    ///   - address: the collection's address.
    ///   - revision: the commit before the first one to take; nil for the beginning of the log.
    ///   - schema: the fields of every item, for a collection that does not say others.
    ///   - waiter: waits for the socket.
    /// - Throws: ``SharedError``: `unusable` when the log lacks the next commit.
    package init(
        _ address: SharedAddress, after revision: UInt64? = nil, schema: ItemSchema,
        waiter: any PostgresWaiter = BlockingWaiter()
    ) throws(SharedError) {
        (self.address, self.schema, self.waiter) = (address, schema, waiter)
        self.revision = revision ?? 0
        try asking { (connection) throws(PostgresError) in
            if revision == nil { self.revision = floor }
            _ = try read(connection, through: Self.latest, most: 0)
        }
    }

    deinit { disconnect() }

    /// Whether there is a connection; ``next(through:)`` and ``wait(seconds:)`` make a new one.
    package var isConnected: Bool { connection?.isOpen == true }

    /// Closes the connection: the next call makes another one.
    func disconnect() { connection?.close() }

    // MARK: Commits

    /// Reads the next commits, at most 1,000.
    ///
    /// - Parameter last: the last one to take.
    /// - Returns: the commits in order; empty when there are none yet.
    /// - Throws: ``SharedError``: `disconnected`, after which a further call connects again; `unusable` for a commit that is
    ///   damaged or missing, and when the collection no longer has the history that was followed. The commits before a damaged
    ///   or missing one are returned first.
    package func next(through last: UInt64 = latest) throws(SharedError) -> [Commit] {
        let rows = try asking { (connection) throws(PostgresError) in
            try read(connection, through: last, most: Self.mostCommits)
        }
        var commits: [Commit] = []
        for row in 0..<rows.rowCount {
            do {
                guard try rows.integer(row, 4) != nil else { break }
                let found = try rows.revision(row, 4)
                guard found == revision + 1 else { throw missingCommit }
                commits.append(
                    Commit(
                        revision: found, host: try rows.text(row, 6), moment: try rows.text(row, 7),
                        changes: try changes(rows.bytes(row, 8) ?? [], found)))
                (revision, lineage) = (found, try rows.bytes(row, 5))
            } catch {
                // Those before it are intact, and come first.
                if !commits.isEmpty { return commits }
                throw (error as? SharedError) ?? SharedError(.unusable, "\(error)")
            }
        }
        if commits.isEmpty, revision < min(head, last) { throw missingCommit }
        return commits
    }

    private var missingCommit: SharedError {
        SharedError(.unusable, "revision \(revision + 1) is missing in the collection's log")
    }

    /// Asks for the next commits, and in the same query, so as of the same moment, whether the collection still has those
    /// that were taken.
    ///
    /// - Returns: rows of the collection's epoch, head and floor, the lineage of the last commit taken, and a commit's
    ///   revision, lineage, host, time and record; one row without a commit if there is none.
    private func read(
        _ connection: PostgresConnection, through last: UInt64, most: Int
    ) throws(PostgresError) -> PostgresResult {
        let command: PostgresConnection.Command = (
            """
            select c.epoch, c.head, c.floor,
                case when c.head = $2 then c.lineage when $2 = 0 then '' else
                    (select l.lineage from cubby.log l where l.collection = c.id and l.revision = $2) end,
                n.revision, n.lineage, n.name, n.at, n.record
            from cubby.collection c left join lateral (
                select l.revision, l.lineage, coalesce(h.name, '') as name,
                    to_char(l.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, l.record,
                    sum(octet_length(l.record)) over (order by l.revision) - octet_length(l.record) as bytes
                from (select * from cubby.log where collection = c.id and revision > $2 and revision <= least($3, c.head)
                    order by revision limit $4) as l
                left join cubby.host h on h.collection = l.collection and h.id = l.host
            ) as n on n.bytes <= \(Self.mostBytes)
            where c.id = $1 order by n.revision
            """,
            [
                .int4(number), .int8(Int64(clamping: revision)), .int8(Int64(clamping: last)),
                .int8(Int64(most)),
            ]
        )
        let rows = try connection.rowsFlushed(of: command)
        guard rows.rowCount > 0 else { throw SharedSchema.missingCollection(address) }
        guard try rows.bytes(0, 0) == epoch else { throw otherHistory }
        (head, floor) = (try rows.revision(0, 1), try rows.revision(0, 2))
        if revision > head {
            if lineage != nil { throw otherHistory }
            throw PostgresError(
                .unusable,
                "the collection is at revision \(head), and \(revision) is not there: it was restored, or the revision is "
                    + "of another collection")
        }
        if revision < floor {
            throw PostgresError(
                .unusable,
                "the log begins after revision \(floor), and the commits after \(revision) are gone: take the items with "
                    + "cubby shared pull, then follow without --after")
        }
        // The log may begin after the last commit taken.
        guard let found = try rows.bytes(0, 3) else { return rows }
        if let lineage, lineage != found { throw otherHistory }
        lineage = found
        return rows
    }

    private var otherHistory: PostgresError {
        PostgresError(
            .otherHistory,
            "the collection on the server has another history than the one that was followed to revision \(revision): it was "
                + "restored, made anew, or a standby without all commits took over; take the items with cubby shared pull, "
                + "then follow without --after")
    }

    private func changes(_ record: [UInt8], _ revision: UInt64) throws(SharedError) -> [RecordChange] {
        do throws(StoreError) {
            return try RecordChecksum.changes(of: record, schema)
        } catch {
            throw SharedError(
                .unusable,
                "revision \(revision) of the collection's log is damaged (\(error.message)): follow with --after \(revision) to "
                    + "leave it out")
        }
    }

    /// Waits until there may be a further commit.
    ///
    /// - Parameter seconds: the longest wait.
    /// - Throws: ``SharedError``: `disconnected`.
    package func wait(seconds: Double) throws(SharedError) {
        try asking { (connection) throws(PostgresError) in
            // libpq takes notifications whenever it reads: those that came with an answer are not in the socket any more.
            guard try connection.takeNotifications().isEmpty, let descriptor = connection.descriptor else { return }
            if try waiter.wait(for: descriptor, isWriting: false, seconds: seconds) {
                _ = try connection.takeNotifications()
            }
        }
    }

    // MARK: The connection

    private func asking<Value>(
        _ body: (PostgresConnection) throws(PostgresError) -> Value
    ) throws(SharedError) -> Value {
        do throws(PostgresError) { return try body(reached()) } catch {
            if connection?.isOpen != true { connection = nil }
            throw SharedError(error, address)
        }
    }

    private func reached() throws(PostgresError) -> PostgresConnection {
        if let connection, connection.isOpen { return connection }
        let connection = try PostgresConnection(address, waiter: waiter)
        try SharedSchema.checkServer(connection)
        try SharedSchema.check(connection, address)
        let fields = try SharedTables(connection).keepFields ? "fields" : "null::bytea"
        let rows = try connection.run(
            "select id, floor, epoch, \(fields) from cubby.collection where name = $1", [.text(address.collection)])
        guard rows.rowCount == 1, let found = try rows.bytes(0, 2) else {
            throw SharedSchema.missingCollection(address)
        }
        if !epoch.isEmpty, found != epoch { throw otherHistory }
        (number, epoch) = (Int32(clamping: try rows.number(0, 0)), found)
        floor = try rows.revision(0, 1)
        if let own = try SharedFields.schema(ofCollection: rows.bytes(0, 3)) { schema = own }
        let answer = try connection.resultOfScript(
            "begin; listen \(SharedCollection.channel(of: found)); commit; "
                + "select \(PostgresConnection.asksWhetherItMayFlush)")
        connection.mayFlush = try answer.text(0, 0) == "t"
        self.connection = connection
        return connection
    }
}

extension SharedLog.Commit {
    /// The commit as one line of JSON: `revision`, `host`, `at`, and `changes`, each with its `change` and `itemKey`.
    ///
    /// | change | further entries |
    /// | --- | --- |
    /// | `insert` | `fields`, `rank` |
    /// | `set` | `field`, `value` |
    /// | `unset` | `field` |
    /// | `move` | `rank` |
    /// | `remove` | |
    /// | `declare` | `fields`, all that is declared from then on, in order; it has no `itemKey` |
    ///
    /// Values have the forms of `PropertyListValue.losslessJSON()`. The items stand in the order of their ranks, compared as
    /// texts, and then of their keys.
    package var line: [UInt8] {
        get throws(PropertyListError) {
            var ranks: NameTable<[UInt8]> = [:]
            for case .rank(let key, let rank) in changes { ranks[key] = rank }
            var inserted: NameSet = []
            var line = LogLine(revision, host, moment)
            for change in changes {
                switch change {
                case .insert(let key, let fields, _):
                    inserted.insert(key)
                    try line.add(
                        "insert", key, ["fields": .fields(fields), "rank": .string((ranks[key] ?? []).hexadecimal)])
                case .remove(let key): try line.add("remove", key)
                case .set(let key, let field, let value?):
                    try line.add("set", key, ["field": .string(field), "value": value])
                case .set(let key, let field, nil): try line.add("unset", key, ["field": .string(field)])
                case .rank(let key, let rank):
                    if !inserted.contains(key) { try line.add("move", key, ["rank": .string(rank.hexadecimal)]) }
                case .declare(let declarations): try line.add("declare", nil, ["fields": declarations.record])
                // The log has ranks instead of positions.
                case .move: continue
                }
            }
            return line.ended
        }
    }
}

/// The line of a commit, while it is written.
private struct LogLine {
    private var text = JSONText(.compact)
    private var isFirst = true

    init(_ revision: UInt64, _ host: String, _ moment: String) {
        text.append("{")
        for (place, (key, value)) in [
            ("revision", "\(revision)"), ("host", JSONText.quoted(host)), ("at", JSONText.quoted(moment)),
        ]
        .enumerated() {
            text.next(1, isFirst: place == 0)
            text.key(key)
            text.append(value)
        }
        text.next(1, isFirst: false)
        text.key("changes")
        text.append("[")
    }

    mutating func add(
        _ change: String, _ key: String?, _ entries: KeyValuePairs<String, PropertyListValue> = [:]
    ) throws(PropertyListError) {
        text.next(2, isFirst: isFirst)
        isFirst = false
        text.append("{")
        text.key("change")
        text.append(JSONText.quoted(change))
        if let key {
            text.next(3, isFirst: false)
            text.key("itemKey")
            text.append(JSONText.quoted(key))
        }
        for (name, value) in entries {
            text.next(3, isFirst: false)
            text.key(name)
            text.append(json: try value.losslessJSON())
        }
        text.append("}")
    }

    /// The line with its end.
    var ended: [UInt8] { text.bytes + Array("]}\n".utf8) }
}

/// A value of a unique field that an item gets, as the server compares it: of two commits that did not know of each
/// other and claim the same value, the second has to be checked on the first.
///
/// It is a hash beside the keys of items, with which no key begins. Two values with one hash cost a further check.
enum UniqueClaim {
    private static let code: UInt8 = 0x20

    /// The claim of a value; nil for none, and for values that a unique field cannot have.
    static func bytes(of value: PropertyListValue, in field: String) -> [UInt8]? {
        var writer = RecordWriter()
        writer.text(field)
        switch value {
        case .string(let text):
            if text.isEmpty { return nil }
            writer.value(value)
        case .integer, .wideInteger, .utf16, .date: writer.value(value)
        // Equal numbers of two kinds are equal.
        case .real(let number): writer.value(whole(number) ?? value)
        case .single(let number): writer.value(whole(Double(number)) ?? .real(Double(number)))
        case .null, .boolean, .data, .uid, .array, .set, .dictionary: return nil
        }
        return [code] + withUnsafeBytes(of: Checksum.hash(writer.bytes).littleEndian) { Array($0) }
    }

    private static func whole(_ number: Double) -> PropertyListValue? {
        Int128(exactly: number).map { Int64(exactly: $0).map { .integer($0) } ?? .wideInteger($0) }
    }

    /// The claim of an item to which others may refer. A commit that refers to it makes it, and one that removes it: the
    /// second of two is checked on the first.
    static func item(_ kind: String, _ id: String) -> [UInt8] {
        bytes(of: .string("\(kind):\(id)"), in: "") ?? []
    }

    /// The claims of the items to which a value refers.
    static func references(by value: PropertyListValue?, _ declaration: FieldDeclaration) -> [[UInt8]] {
        guard let kind = declaration.references?.kind else { return [] }
        return (value?.referredIDs ?? []).compactMap(ItemKind.text(of:)).map { item(kind, $0) }
    }

    /// The claims of a commit's changes.
    static func all(_ changes: [PendingCommit.Change], _ columns: ColumnStore) -> [[UInt8]] {
        let unique = columns.uniqueFields.map { columns.name(of: $0) }
        let references = columns.references.map(\.declaration)
        if unique.isEmpty, references.isEmpty { return [] }
        var claims: Set<[UInt8]> = []
        for change in changes.lazy.map(\.change) {
            for declaration in references {
                switch change.kind {
                case .insert: claims.formUnion(Self.references(by: change.values?[declaration.name], declaration))
                case .update where change.field == declaration.name:
                    claims.formUnion(Self.references(by: change.new, declaration))
                case .remove:
                    let kind = declaration.references?.kind ?? ""
                    guard change.values?[ItemKind.fieldName]?.text ?? kind == kind else { continue }
                    let ids = [
                        change.values?[ItemKind.idName].flatMap(ItemKind.text(of:)),
                        ItemKind.id(kind, inKey: change.itemKey), change.itemKey,
                    ]
                    claims.formUnion(ids.compactMap { $0 }.map { item(kind, $0) })
                case .update, .move, .declare: continue
                }
            }
            for field in unique {
                let value: PropertyListValue? =
                    switch change.kind {
                    case .insert: change.values?[field]
                    case .update: change.field == field ? change.new : nil
                    case .remove, .move, .declare: nil
                    }
                if let claim = value.flatMap({ bytes(of: $0, in: field) }) { claims.insert(claim) }
            }
        }
        return Array(claims)
    }
}
