public import ColumnEngine
package import Files
import ItemArchive
import PropertyList

/// Items of several hosts on one collection, kept by PostgreSQL: each host has all of them in memory.
///
/// A commit is one call of a function of the server, which orders the commits of a collection by one row. Commits of others
/// come as notifications; a look at the log stands behind them. One thread owns it.
public final class SharedPersistence: RemotePersistence, DocumentPersistence {
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
    /// Whether the store has its items, from the server or from the cache.
    var isLoaded = false
    /// What the container keeps of the collection; nil for nothing.
    let cache: SharedCache?
    /// What waits for the server, and what is to be settled; nil without a folder to keep it in.
    let queue: CommitQueue?
    /// Whether commits are kept while the server does not answer.
    public let keepsCommits: Bool
    /// Why there is no connection, when that was tried ahead of loading.
    var failedAttempt: PostgresError?
    var columns: ColumnStore?
    var ranks = RankTable()
    /// Whether a transaction of the server is open: one that keeps other hosts out, or that has a commit's pictures.
    var isHolding = false
    /// Where the bytes of this host's pictures are.
    public var attachmentSource: ((_ digest: [UInt8]) throws(StoreError) -> [UInt8])?
    /// The revisions that this host made and its store has, until the store's revision is past them.
    var ownRevisions: Set<UInt64> = []
    /// The latest revision that the server told of.
    var latest: UInt64 = 0
    /// The latest commit that the store was given, or has made.
    var lineage = Lineage()
    /// Commits that came with their notifications.
    var announcements = Announcements()
    /// The names of the hosts that have committed, by identifier.
    var hostNames: [[UInt8]: String] = [:]
    /// The commit whose answer did not come.
    var inDoubt: SentCommit?
    /// Why the server is of no use any more.
    var stopped: StoreError?
    /// Whether an answer is waited for: whoever is called meanwhile must not ask for another one.
    private(set) var isAsking = false
    /// Why the server that answered last is not the right one.
    private var refusal: PostgresError?
    /// Which of the address's hosts is tried first.
    private var firstHost = 0
    let opensReadOnly: Bool
    /// Why the server is of no use to this store any more; nil as long as it is.
    package var stopReason: StoreError? { stopped }
    /// How often each thing happened.
    public internal(set) var statistics = SharedStatistics()
    /// Called when the connection came or went.
    public var onConnectionChange: ((_ isConnected: Bool) -> Void)?

    /// - Parameters:
    ///   - address: where the collection is.
    ///   - host: 16 bytes that identify this host, the same from run to run; made if nil.
    ///   - hostName: the name that other hosts see.
    ///   - timeLimit: the seconds that a commit, or another question, may take.
    ///   - isReadOnly: whether the store refuses changes, and only follows the others.
    ///   - folder: where the collection is kept between two runs, in a folder of its own, so that a start fetches what is new
    ///     and needs no server; nothing is kept if nil.
    ///   - keepsCommits: whether commits are kept in the folder while the server does not answer, and sent when it is back;
    ///     else the store is read-only meanwhile.
    public convenience init(
        _ address: SharedAddress, host: [UInt8]? = nil, hostName: String, timeLimit: Double = 10,
        isReadOnly: Bool = false, folder: String? = nil, keepsCommits: Bool = false
    ) {
        self.init(
            address, host: host, hostName: hostName, timeLimit: timeLimit, isReadOnly: isReadOnly,
            folder: folder, using: PosixFileLayer(), keepsCommits: keepsCommits, waiter: BlockingWaiter())
    }

    /// The same with another way to wait.
    package init(
        _ address: SharedAddress, host: [UInt8]? = nil, hostName: String, timeLimit: Double = 10,
        isReadOnly: Bool = false, folder: String? = nil, using layer: any FileLayer = PosixFileLayer(),
        keepsCommits: Bool = false, waiter: any PostgresWaiter
    ) {
        opensReadOnly = isReadOnly
        self.keepsCommits = keepsCommits && folder != nil && !isReadOnly
        let own = folder.map { Self.folder(of: address, in: $0) }
        cache = own.map { SharedCache(PathText.join($0, "items.cache"), using: layer) }
        queue = own.map { CommitQueue(PathText.join($0, "commits.queue"), using: layer) }
        self.address = address
        self.host = host ?? Self.newIdentifier()
        self.hostName = hostName
        self.timeLimit = timeLimit
        self.waiter = waiter
    }

    public var isConnected: Bool { connection?.isOpen ?? false }
    public var isReadOnly: Bool {
        if opensReadOnly || stopped != nil { return true }
        // What is kept for the server is kept for the history that this host knows.
        if keepsCommits { return !isConnected && refusal?.kind == .otherHistory }
        return isLoaded && (!isConnected || inDoubt != nil)
    }

    public var readOnlyReason: String {
        if let stopped { return stopped.message }
        if opensReadOnly { return StoreError.storeIsReadOnly.message }
        if !isConnected, let refusal { return refusal.message }
        return isConnected
            ? "the last commit's answer was lost: items can be changed when the server has said whether it happened"
            : "the collection's server does not answer: items can be read, and changed when it is back"
    }

    /// The socket to watch for what the server says by itself; nil without a connection.
    package var descriptor: Int32? { connection?.descriptor }

    public func synchronize() throws(StoreError) { cache?.synchronize() }

    public func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision {
        guard case .committed(let revision) = try send(commit, reads: nil) else {
            throw StoreError(.conflict, "other hosts changed the collection meanwhile")
        }
        return revision
    }

    // MARK: The connection

    /// The connection, made anew when it broke.
    func connected() throws(StoreError) -> PostgresConnection {
        if let stopped { throw stopped }
        // While an answer is waited for the host's loop turns, and scripts go on.
        if isAsking {
            throw StoreError(
                .disconnected, "the server is waited for: what is to be committed is sent when it has answered")
        }
        if let connection, connection.isOpen { return connection }
        return try asking { () throws(PostgresError) in try connect() }
    }

    /// Connects, finds the collection, and listens.
    @discardableResult
    func connect() throws(PostgresError) -> PostgresConnection {
        let connection = try PostgresConnection(
            address, waiter: waiter, timeLimit: timeLimit, startingWith: firstHost)
        firstHost = connection.firstHost
        try SharedSchema.checkServer(connection)
        guard try SharedSchema.installedFormat(connection) != nil else { throw SharedSchema.missingSchema(address) }
        try SharedSchema.checkFormat(connection)
        let found = try SharedCollection(
            connection, address.collection, host: host, hostName: hostName, revision: lineage.revision)
        if let collection, let refusal = found.refusal(knowing: collection, lineage) {
            // Another of the address's servers may be the right one.
            firstHost += 1
            self.refusal = refusal
            throw refusal
        }
        refusal = nil
        // Whoever waits for another host's commit is refused before its own deadline, and not in doubt.
        let patience = Int(min(max(timeLimit, 1), 86_400) * 800)
        try connection.runScript("listen \(found.channel); set lock_timeout = \(patience)")
        // What was committed before the server listened for this host is in no notification.
        let head = try connection.run("select head from cubby.collection where id = $1", [.int4(found.number)])
        collection = found
        // A standby that was promoted may have less than the old primary told of, if not than this host has applied.
        latest = try head.revision(0, 0)
        self.connection = connection
        onConnectionChange?(true)
        return connection
    }

    /// Asks the server something; a connection that broke is given up.
    func asking<Value>(_ body: () throws(PostgresError) -> Value) throws(StoreError) -> Value {
        isAsking = true
        defer { isAsking = false }
        do throws(PostgresError) { return try body() } catch {
            if let connection, !connection.isOpen { disconnect() }
            let shown = SharedError(error, address)
            throw StoreError(shown.code == .disconnected ? .disconnected : .inputOutput, shown.message, cause: error)
        }
    }

    /// Notes a commit that the store is given, or has made.
    func note(_ commit: Lineage) {
        if commit.revision > lineage.revision { lineage = commit }
    }

    func disconnect() {
        isHolding = false
        guard connection != nil else { return }
        connection?.close()
        connection = nil
        announcements = Announcements()
        statistics.disconnections += 1
        onConnectionChange?(false)
    }

    public func stop(_ reason: StoreError) {
        stopped = reason
        if connection == nil { onConnectionChange?(false) }
        disconnect()
    }

    static let notLoaded = StoreError(.inputOutput, "the collection was not opened")

    static func newIdentifier() -> [UInt8] {
        var source = SystemRandomNumberGenerator()
        return withUnsafeBytes(of: (source.next(), source.next())) { Array($0) }
    }
}
