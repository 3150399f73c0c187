public import ColumnEngine
import ItemArchive
import PropertyList

/// Items of several hosts on one collection, kept by PostgreSQL: each host has all of them in memory.
///
/// A commit is one call of a function of the server, which orders the commits of a collection by one row. Commits of others
/// come as notifications; a look at the log stands behind them. One thread owns it.
public final class SharedPersistence: RemotePersistence {
    /// Where the collection is.
    public let address: SharedAddress
    /// The name that other hosts see.
    public let hostName: String
    /// The seconds that a commit, or another question, may take.
    public var timeLimit: Double {
        didSet { connection?.timeLimit = timeLimit }
    }

    /// Identifies this host for the server, from run to run.
    let host: [UInt8]
    let waiter: any PostgresWaiter
    var connection: PostgresConnection?
    var collection: SharedCollection?
    var columns: ColumnStore?
    var ranks = RankTable()
    /// The revisions that this host made and its store has, until the store's revision is past them.
    var ownRevisions: Set<UInt64> = []
    /// The latest revision that the server told of.
    var latest: UInt64 = 0
    /// The commit whose answer did not come.
    var inDoubt: (token: [UInt8], commit: EncodedCommit, seen: UInt64)?
    /// How often each thing happened.
    public internal(set) var statistics = SharedStatistics()
    /// Called when the connection came or went.
    public var onConnectionChange: ((_ isConnected: Bool) -> Void)?

    /// - Parameters:
    ///   - address: where the collection is.
    ///   - host: 16 bytes that identify this host, the same from run to run; made if nil.
    ///   - hostName: the name that other hosts see.
    ///   - timeLimit: the seconds that a commit, or another question, may take.
    public convenience init(_ address: SharedAddress, host: [UInt8]? = nil, hostName: String, timeLimit: Double = 10) {
        self.init(address, host: host, hostName: hostName, timeLimit: timeLimit, waiter: BlockingWaiter())
    }

    /// The same with another way to wait.
    package init(
        _ address: SharedAddress, host: [UInt8]? = nil, hostName: String, timeLimit: Double = 10,
        waiter: any PostgresWaiter
    ) {
        self.address = address
        self.host = host ?? Self.newIdentifier()
        self.hostName = hostName
        self.timeLimit = timeLimit
        self.waiter = waiter
    }

    public var isConnected: Bool { connection?.isOpen ?? false }
    public var isReadOnly: Bool { collection != nil && !isConnected }

    /// The socket to watch for what the server says by itself; nil without a connection.
    package var descriptor: Int32? { connection?.descriptor }

    public func synchronize() throws(StoreError) {}

    public func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision {
        guard case .committed(let revision) = try send(commit, isSerializable: false) else {
            throw StoreError(.conflict, "other hosts changed the collection meanwhile")
        }
        return revision
    }

    // MARK: Committing

    public func send(_ commit: borrowing ItemCommit, isSerializable: Bool) throws(StoreError) -> RemoteOutcome {
        let connection = try connected()
        guard let collection else { throw Self.notLoaded }
        let seen = commit.revision.rawValue
        // The answer to the same changes is still to come: they are sent as they were.
        let sent: (token: [UInt8], commit: EncodedCommit, seen: UInt64)
        if let inDoubt, inDoubt.seen == seen {
            sent = inDoubt
        } else {
            sent = (Self.newIdentifier(), EncodedCommit(commit, ranks), seen)
        }
        inDoubt = sent
        let answer = try asking { () throws(PostgresError) in
            let encoded = sent.commit
            let rows = try connection.run(
                "select status, revision from cubby.commit($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)",
                [
                    .int4(collection.number), .uuid(collection.epoch), .int8(Int64(bitPattern: seen)),
                    .uuid(sent.token),
                    .uuid(host), isSerializable ? .nullByteArrays : .byteArrays([]), .byteArrays(encoded.removed),
                    .byteArrays(encoded.keys), .byteArrays(encoded.ranks), .byteArrays(encoded.records),
                    .bytes(encoded.record),
                ], isPrepared: true)
            return (status: try rows.number(0, 0), revision: try rows.integer(0, 1))
        }
        inDoubt = nil
        switch (answer.status, answer.revision) {
        case (0, let revision?), (1, let revision?):
            let number = UInt64(bitPattern: revision)
            statistics.commits += 1
            if answer.status == 1 { statistics.settledInDoubt += 1 }
            for (row, rank) in sent.commit.newRanks { ranks.set(row, rank) }
            latest = max(latest, number)
            if number != seen + 1 { ownRevisions.insert(number) }
            return .committed(ItemRevision(rawValue: number))
        case (2, let revision?):
            statistics.overtaken += 1
            latest = max(latest, UInt64(bitPattern: revision))
            return .behind
        default:
            throw StoreError(
                .disconnected,
                "the collection on the server has another history than this host's (it was restored, or its log is cut): "
                    + "start again to synchronise anew; the changes since the last commit are not kept")
        }
    }

    // MARK: The connection

    /// The connection, made anew when it broke.
    func connected() throws(StoreError) -> PostgresConnection {
        if let connection, connection.isOpen { return connection }
        return try asking { () throws(PostgresError) in try connect() }
    }

    /// Connects, finds the collection, and listens.
    @discardableResult
    func connect() throws(PostgresError) -> PostgresConnection {
        let connection = try PostgresConnection(address, waiter: waiter, timeLimit: timeLimit)
        try SharedSchema.checkServer(connection)
        guard try SharedSchema.installedFormat(connection) != nil else { throw SharedSchema.missingSchema(address) }
        try SharedSchema.checkFormat(connection)
        let found = try SharedCollection(connection, address.collection, host: host, hostName: hostName)
        if let collection, collection.epoch != found.epoch || found.head < latest {
            throw PostgresError(
                .unusable,
                "the collection on the server has another history than this host's: it was restored, or a standby without "
                    + "all commits took over; start again to synchronise anew")
        }
        try connection.run("listen cubby_\(found.number)")
        collection = found
        latest = max(latest, found.head)
        self.connection = connection
        onConnectionChange?(true)
        return connection
    }

    /// Asks the server something; a connection that broke is given up.
    func asking<Value>(_ body: () throws(PostgresError) -> Value) throws(StoreError) -> Value {
        do throws(PostgresError) { return try body() } catch {
            if let connection, !connection.isOpen {
                self.connection = nil
                statistics.disconnections += 1
                onConnectionChange?(false)
            }
            let shown = SharedError(error, address)
            throw StoreError(shown.code == .disconnected ? .disconnected : .inputOutput, shown.message, cause: error)
        }
    }

    static let notLoaded = StoreError(.inputOutput, "the collection was not opened")

    static func newIdentifier() -> [UInt8] {
        var source = SystemRandomNumberGenerator()
        return withUnsafeBytes(of: (source.next(), source.next())) { Array($0) }
    }
}
