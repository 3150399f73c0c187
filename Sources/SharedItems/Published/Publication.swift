import ColumnEngine
import Files
import ItemArchive
import PropertyList

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
        _ body: () throws(PostgresError) -> Value
    ) throws(StoreError) -> Value {
        do throws(StoreError) { return try asking(body) } catch {
            guard knowsOtherPublication(error) else { throw error }
            disconnect()
            throw StoreError(
                .disconnected, "the collection is published otherwise since this host connected: it connects again",
                cause: error)
        }
    }
}
