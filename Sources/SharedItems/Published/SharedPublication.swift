package import ColumnEngine
import Files
import ItemArchive
import PropertyList

/// The items of a collection as rows of a table, for programs that know nothing of Cubby: the owner begins and ends that, hosts
/// write the rows of each commit in its transaction.
package struct SharedPublication: Sendable, Hashable {
    /// The schema of the table `items`.
    package let schema: String
    /// The columns of fields, in order.
    package let columns: [PublishedColumn]
    /// The items that the table has.
    package let items: Int
    /// The keys of items whose records are damaged on the server: they got no rows.
    package let damaged: [String]

    /// The items that are written at once: hosts' commits wait meanwhile, for some milliseconds.
    private static let piece: Int64 = 500

    /// Publishes a collection, or has a published one follow what is declared by now. Hosts go on meanwhile: from the beginning
    /// they write the rows of what they change, and this writes the others in pieces.
    ///
    /// - Parameters:
    ///   - address: the collection's address.
    ///   - name: the schema for the table; if nil the one that it has, at first one of the collection's name.
    ///   - household: the fields of every item of a collection that does not say others.
    ///   - progress: called with the number of items that are written, and of all.
    /// - Returns: what is published.
    /// - Throws: ``SharedError``. What was written is kept, and the same call continues.
    package static func publish(
        _ address: SharedAddress, schema name: String? = nil, household: ItemSchema,
        progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) throws(SharedError) -> SharedPublication {
        try SharedOwnership.withCollection(address) { (connection, number) throws(PostgresError) in
            try SharedSchema.checkServer(connection)
            try SharedSchema.checkEncoding(connection)
            guard try SharedTables(connection) == .latest else {
                throw PostgresError(
                    .unusable,
                    "the tables, of an older program, cannot be published: cubby shared migrate '\(address.description)' "
                        + "comes before")
            }
            try connection.runScript("set lock_timeout = '20s'")
            try connection.runScript(SharedSchema.publication)
            let found = try SharedFields.found(in: address.collection, connection)
            let schema = try SharedFields.schema(ofCollection: found) ?? household
            let wanted = name ?? PublishedColumn.shortened(address.collection, to: PublishedColumn.nameLimit)
            let table = try define(schema, name, wanted, connection, number)
            let damaged = try fill(table, schema, connection, progress)
            let rows = try connection.run("select count(*) from \(table.items)")
            return SharedPublication(
                schema: table.publication.schema, columns: table.publication.columns,
                items: Int(clamping: try rows.number(0, 0)), damaged: damaged)
        }
    }

    /// Ends the publication of a collection, and removes its table.
    ///
    /// - Returns: the schema that the table was in; nil if the collection is not published.
    /// - Throws: ``SharedError``.
    package static func end(_ address: SharedAddress) throws(SharedError) -> String? {
        try SharedOwnership.withCollection(address) { (connection, number) throws(PostgresError) in
            guard try exists(connection) else { return nil }
            try connection.runScript("set lock_timeout = '20s'")
            return try explaining { () throws(PostgresError) in
                let rows = try connection.run("select cubby.unpublish($1)::text", [.int4(number)])
                return try rows.bytes(0, 0).map { String(decoding: $0, as: UTF8.self) }
            }
        }
    }

    private static func exists(_ connection: PostgresConnection) throws(PostgresError) -> Bool {
        try connection.run("select \(Publication.exist)").bytes(0, 0) == [1]
    }

    /// The line of a status, and advice that depends on the names of the fields that are declared; nil if the collection is
    /// not published.
    static func status(
        _ connection: PostgresConnection, _ number: Int32, declared: [String]
    ) throws(PostgresError) -> (line: String, advice: String?)? {
        guard try exists(connection), let known = try Publication(connection, number) else { return nil }
        let columns = known.columns.map { VisibleText.line($0.name) }.joined(separator: ", ")
        let fields = NameSet(known.columns.map(\.field))
        let lacking = declared.filter { !fields.contains($0) && $0 != "itemKey" }
        let tables = try connection.run(
            "select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace "
                + "where n.nspname = $1::text::name and c.relname = 'items'", [.text(known.schema)])
        var advice: String?
        if tables.rowCount == 0 {
            advice =
                "The table of the published items is missing, and no commit is made: cubby shared publish --end, then publish again."
        } else if !known.isFilled {
            advice =
                "The table of the published items does not have all of them yet: cubby shared publish ends what was begun."
        } else if !lacking.isEmpty {
            advice =
                "The table of the published items has no column for \(lacking.map { VisibleText.line($0) }.joined(separator: ", ")): cubby shared publish adds what was declared since."
        }
        return (
            "as \(VisibleText.line(known.schema)).items, with columns for \(columns.isEmpty ? "no field" : columns)",
            advice
        )
    }

    // MARK: The table

    /// Makes the table, or changes it to what is declared; from then on hosts write the rows of what they change.
    private static func define(
        _ schema: ItemSchema, _ name: String?, _ firstName: String, _ connection: PostgresConnection, _ number: Int32
    ) throws(PostgresError) -> PublishedTable {
        // A failure ends the connection, and the server takes back what was done.
        try connection.runScript("begin")
        // Commits come before or after.
        try connection.run("select from cubby.collection where id = $1 for update", [.int4(number)])
        let declarations: FieldDeclarations
        let record = try SharedFields.declared(in: number, connection)
        do throws(StoreError) { declarations = try SharedFields.declarations(record) } catch {
            throw PostgresError(
                .unusable, "what is declared of the collection's fields cannot be read: \(error.message)")
        }
        let former = try Publication(connection, number)
        let columns = PublishedColumn.all(schema, declarations, keeping: former?.columns ?? [])
        let publication = Publication(
            number: number, schema: name ?? former?.schema ?? firstName, version: (former?.version ?? 0) + 1,
            columns: columns)
        let table = PublishedTable(publication)
        let owner = try connection.run(
            "select relowner::regrole::text from pg_catalog.pg_class where oid = 'cubby.collection'::regclass")
        // Whoever reads the table must not keep the hosts waiting for long.
        try explaining { () throws(PostgresError) in
            try connection.runScript(
                "set local lock_timeout = '3s'; " + table.definition(former, owner: try owner.text(0, 0)))
        }
        try connection.run(
            """
            insert into cubby.publication as p (collection, schema, version, fields, columns, types)
                values ($1, $2::text::name, $3, $4, $5, $6)
                on conflict (collection) do update set schema = excluded.schema, version = excluded.version,
                    fields = excluded.fields, columns = excluded.columns, types = excluded.types, filled = false
            """,
            [
                .int4(number), .text(publication.schema), .int4(publication.version),
                .texts(columns.map { Array(PublishedText.name($0.field).utf8) }),
                .texts(columns.map { Array($0.name.utf8) }),
                .texts(columns.map { Array(($0.type?.rawValue ?? "").utf8) }),
            ])
        try connection.runScript(
            "select cubby.admit(m.role) from cubby.member m where to_regrole(quote_ident(m.role)) is not null; commit")
        return table
    }

    static func explaining<Value>(
        _ body: () throws(PostgresError) -> Value
    ) throws(PostgresError) -> Value {
        do throws(PostgresError) { return try body() } catch {
            switch error.kind {
            case .server("42P06"), .server("42939"):
                throw PostgresError(.unusable, "\(error.message): name another one with --schema")
            case .server("55P03"):
                throw PostgresError(
                    .unusable,
                    "another session uses the table of the published items, or keeps the collection, and nothing was changed: "
                        + "do it again when that has ended")
            case .server("2BP01"):
                throw PostgresError(
                    .unusable, "\(error.message), such as a view: remove those before; nothing was changed")
            default: throw error
            }
        }
    }

    // MARK: The items

    /// Writes the rows of all items, and returns the keys of those that cannot be read.
    private static func fill(
        _ table: PublishedTable, _ schema: ItemSchema, _ connection: PostgresConnection,
        _ progress: (Int, Int) -> Void
    ) throws(PostgresError) -> [String] {
        let number = PostgresValue.int4(table.publication.number)
        let total = Int(
            clamping: try connection.run("select count(*) from cubby.item where collection = $1", [number]).number(0, 0)
        )
        var done = 0
        var last: [UInt8] = []
        var damaged: [String] = []
        while true {
            let items = try connection.run(
                "select key, rank, version, record from cubby.item where collection = $1 and key > $2 order by key limit \(piece)",
                [number, .bytes(last)], isPrepared: true)
            if items.rowCount == 0 { break }
            var (keys, rows): ([[UInt8]], [[UInt8]]) = ([], [])
            for row in 0..<items.rowCount {
                last = try items.bytes(row, 0) ?? []
                guard let text = try text(items, row, schema, table.publication.columns) else {
                    damaged.append(last.withUnsafeBytes { try? RecordChange.key($0) } ?? last.hexadecimal)
                    continue
                }
                keys.append(last)
                rows.append(text)
            }
            try connection.runScript("begin")
            // No commit comes in between: an item that is as it was read is written, and others have written what they changed.
            try connection.run(
                "select from cubby.collection where id = $1 for update", [number], isPrepared: true)
            try connection.run(table.filling, [.byteArrays(keys), .texts(rows)], isPrepared: true)
            try connection.runScript("commit")
            done += items.rowCount
            progress(min(done, total), total)
        }
        try connection.run(
            "update cubby.publication set filled = true where collection = $1 and version = $2",
            [number, .int4(table.publication.version)])
        try connection.run(
            "select cubby.open_rows(m.collection, m.role) from cubby.member m where m.collection = $1", [number])
        return damaged
    }

    /// The row of an item; nil if its record is damaged.
    private static func text(
        _ items: PostgresResult, _ row: Int, _ schema: ItemSchema, _ columns: [PublishedColumn]
    ) throws(PostgresError) -> [UInt8]? {
        let (rank, record) = (try items.bytes(row, 1) ?? [], try items.bytes(row, 3) ?? [])
        let version = try items.revision(row, 2)
        return try? PublishedRow.text(of: record, rank: rank, schema, columns, revision: version)
    }
}

/// How a collection is published as rows, as the server says it.
struct Publication: Sendable {
    /// The collection's number in the tables.
    let number: Int32
    /// The schema of the table `items`.
    let schema: String
    /// Another one with each change of the columns.
    let version: Int32
    /// Whether the table has all items.
    let isFilled: Bool
    /// The columns of fields, in the order of the function's arguments.
    let columns: [PublishedColumn]

    /// Asks for the publication of a collection; nil if it has none. The table of publications has to be there.
    init?(_ connection: PostgresConnection, _ number: Int32) throws(PostgresError) {
        let rows = try connection.run(
            "select p.schema::text, p.version, p.filled, f.field, f.name, f.type from cubby.publication p left join lateral "
                + "unnest(p.fields, p.columns, p.types) with ordinality as f (field, name, type, place) on true "
                + "where p.collection = $1 order by f.place", [.int4(number)])
        guard rows.rowCount > 0 else { return nil }
        self.number = number
        schema = try rows.text(0, 0)
        version = Int32(clamping: try rows.number(0, 1))
        isFilled = try rows.bytes(0, 2) == [1]
        var columns: [PublishedColumn] = []
        for row in 0..<rows.rowCount {
            guard try rows.bytes(row, 3) != nil else { continue }
            columns.append(
                PublishedColumn(
                    field: PublishedText.field(named: try rows.text(row, 3)), name: try rows.text(row, 4),
                    type: PublishedType(rawValue: try rows.text(row, 5))))
        }
        self.columns = columns
    }

    init(number: Int32, schema: String, version: Int32, isFilled: Bool = false, columns: [PublishedColumn]) {
        (self.number, self.schema, self.version) = (number, schema, version)
        (self.isFilled, self.columns) = (isFilled, columns)
    }

    /// Whether a database has had publications: without the table there are none.
    static let exist = "to_regclass('cubby.publication') is not null"

    /// The name of the server's function that writes the rows of a commit.
    var function: String { "cubby.rows_\(number)" }
}

/// The rows of a commit's items.
struct PublishedCommit {
    private let publication: Publication
    private let ranks: [[UInt8]]
    private var rows: [[UInt8]] = []
    /// The keys of removed items.
    private var removed: [[UInt8]] = []

    /// - Throws: `StoreError` for columns that this program does not know.
    init(_ commit: EncodedCommit, _ publication: Publication, _ schema: ItemSchema) throws(StoreError) {
        if let column = publication.columns.first(where: { $0.type == nil }) {
            throw StoreError(
                .inputOutput,
                "the collection is published with the column \(column.name), of a type that this program does not know: "
                    + "install a newer cubby")
        }
        self.publication = publication
        ranks = commit.ranks
        rows.reserveCapacity(commit.records.count)
        for (record, rank) in zip(commit.records, ranks) {
            rows.append(try PublishedRow.text(of: record, rank: rank, schema, publication.columns))
        }
        for key in commit.removed {
            let text = try key.withBytes { (bytes) throws(StoreError) in try RecordChange.key(bytes) }
            removed.append(Array(PublishedText.name(text).utf8))
        }
    }

    /// The call that makes the commit, with its rows: one statement, so that both happen or neither.
    func command(_ command: PostgresConnection.Command) -> PostgresConnection.Command {
        let first = command.parameters.count + 1
        let places = (first..<first + 4).map { "$\($0)" }
        return (
            "select c.*, case when c.status = 0 then "
                + "\(publication.function)(\(places[0]), c.revision, \(places[1...].joined(separator: ", "))) end "
                + "from (\(command.sql)) as c (status, revision, lineage)",
            command.parameters + [
                .int4(publication.version), .texts(removed), .byteArrays(ranks), .texts(rows),
            ]
        )
    }
}

/// Commits to a collection that is published.
extension SharedPersistence {
    /// The rows of a commit's items; nil if the collection is not published.
    func publishedRows(of commit: EncodedCommit) throws(StoreError) -> PublishedCommit? {
        guard let publication = server.publication else { return nil }
        return try PublishedCommit(commit, publication, places.columns?.schema ?? ItemSchema())
    }

    /// A commit's call, with the rows of its items if there are some.
    func call(
        _ sent: SentCommit, _ rows: PublishedCommit?, _ collection: SharedCollection, remoteLimit: Int32 = 0
    ) throws(PostgresError) -> PostgresConnection.Command {
        let command = try command(sent, collection, remoteLimit: remoteLimit)
        return rows?.command(command) ?? command
    }
}

extension CollectionServer {
    /// Whether the server refused a commit because the collection is published otherwise than this host knew: since it
    /// connected, that began, ended or changed.
    func knowsOtherPublication(_ error: StoreError) -> Bool {
        switch (error.cause as? PostgresError)?.kind {
        case .server("CB005"): true
        // The function of a publication that has ended.
        case .server("42883"): publication != nil
        default: false
        }
    }

    /// Sends the server commits that waited. If the collection is published otherwise than this host knew, the connection
    /// ends: the next one asks, and sends them again.
    func askingAsPublished<Value>(
        _ commits: [EncodedCommit], _ body: () throws(PostgresError) -> Value
    ) throws(StoreError) -> Value {
        do throws(StoreError) { return try asking(body) } catch {
            guard knowsOtherPublication(error) else { throw commits.named(in: error) }
            disconnect()
            throw StoreError(
                .disconnected, "the collection is published otherwise since this host connected: it connects again",
                cause: error)
        }
    }
}
