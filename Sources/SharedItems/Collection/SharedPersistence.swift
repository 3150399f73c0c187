public import ColumnEngine
package import Files
import ItemArchive
import PropertyList

@_exported import Wording

/// Items that several hosts share in one collection, stored by PostgreSQL. Each host has all of them in memory.
///
/// A commit is one call of a server function, which serialises a collection's commits by locking one row. Commits of
/// others arrive as notifications; polling the log compensates for lost ones. One thread owns it.
public final class SharedPersistence: RemotePersistence, DocumentPersistence {
    /// The collection's address.
    public let address: SharedAddress
    /// The host's name for other hosts.
    public let hostName: String
    /// Seconds that a commit or another request may take.
    public var timeLimit: Double {
        didSet { connection?.timeLimit = timeLimit }
    }

    /// Identifies this host for the server across runs.
    let host: [UInt8]
    let waiter: any PostgresWaiter
    var connection: PostgresConnection?
    var collection: SharedCollection?
    /// Whether the store has its items, from the server or from the cache.
    var isLoaded = false
    /// The cache in the container; nil if there is none.
    let cache: SharedCache?
    /// Commits queued for the server or to be settled; nil without a folder for them.
    let queue: CommitQueue?
    /// Whether commits are kept while the server does not answer.
    public let keepsCommits: Bool
    /// The error of an attempt to connect ahead of loading.
    var failedAttempt: PostgresError?
    var columns: ColumnStore?
    var ranks = RankTable()
    /// Whether a server transaction is open, which locks out other hosts or has a commit's pictures.
    var isHolding = false
    /// Returns the bytes of this host's pictures.
    public var attachmentSource: ((_ digest: [UInt8]) throws(StoreError) -> [UInt8])?
    /// The revisions made by this host and present in its store, until the store's revision is past them.
    var ownRevisions: Set<UInt64> = []
    /// The latest revision that the server announced.
    var latest: UInt64 = 0
    /// The latest commit that the store received or made.
    var lineage = Lineage()
    /// Commits that arrived with their notifications.
    var announcements = Announcements()
    /// The names of the hosts that have committed, by identifier.
    var hostNames: [[UInt8]: String] = [:]
    /// The commit whose answer was lost.
    var inDoubt: SentCommit?
    /// Why the server is unusable from now on.
    var stopped: StoreError?
    /// Whether an answer is pending: code called meanwhile must not send another request.
    private(set) var isAsking = false
    /// Why the last server that answered is unsuitable.
    private var refusal: PostgresError?
    /// The index of the address's host to try first.
    private var firstHost = 0
    let opensReadOnly: Bool
    /// Why the server is unusable for this store from now on; nil as long as it is usable.
    package var stopReason: StoreError? { stopped }
    /// Numbers of events since the opening.
    public internal(set) var statistics = SharedStatistics()
    /// Called when the connection was made or lost.
    public var onConnectionChange: ((_ isConnected: Bool) -> Void)?

    /// - Parameters:
    ///   - address: the collection's address.
    ///   - host: 16 bytes that identify this host across runs; made if nil.
    ///   - hostName: the host's name for other hosts.
    ///   - timeLimit: seconds that a commit or another request may take.
    ///   - isReadOnly: whether the store refuses changes and only follows the others.
    ///   - folder: where the collection is cached between two runs, in a subfolder, so that a start fetches only new
    ///     commits and needs no server; nil for no cache.
    ///   - keepsCommits: whether commits are queued in the folder while the server does not answer, and sent when it is
    ///     back; otherwise the store is read-only meanwhile.
    public convenience init(
        _ address: SharedAddress, host: [UInt8]? = nil, hostName: String, timeLimit: Double = 10,
        isReadOnly: Bool = false, folder: String? = nil, keepsCommits: Bool = false
    ) {
        self.init(
            address, host: host, hostName: hostName, timeLimit: timeLimit, isReadOnly: isReadOnly,
            folder: folder, using: PosixFileLayer(), keepsCommits: keepsCommits, waiter: BlockingWaiter())
    }

    /// The same with a waiter.
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
        // Commits are queued for the history known to this host.
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

    /// The socket to watch for notifications; nil without a connection.
    package var descriptor: Int32? { connection?.descriptor }

    public func synchronize() throws(StoreError) { cache?.synchronize() }

    public func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision {
        guard case .committed(let revision) = try send(commit, reads: nil) else {
            throw StoreError(.conflict, "other hosts changed the collection meanwhile")
        }
        return revision
    }

    // MARK: The connection

    /// The connection, made anew if it broke.
    func connected() throws(StoreError) -> PostgresConnection {
        if let stopped { throw stopped }
        // While an answer is pending the host's loop runs, and scripts continue.
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
            // Another of the address's servers may be suitable.
            firstHost += 1
            self.refusal = refusal
            throw refusal
        }
        refusal = nil
        // A host waiting for another's commit is refused before its own deadline, so that its commit is not in doubt.
        let patience = Int(min(max(timeLimit, 1), 86_400) * 800)
        try connection.runScript("listen \(found.channel); set lock_timeout = \(patience)")
        // Commits before the server's `listen` caused no notification for this host.
        let head = try connection.run("select head from cubby.collection where id = $1", [.int4(found.number)])
        collection = found
        // A promoted standby may lack revisions that the old primary announced, but none that this host has applied.
        latest = try head.revision(0, 0)
        self.connection = connection
        onConnectionChange?(true)
        return connection
    }

    /// Sends the server a request; a broken connection is closed.
    func asking<Value>(_ body: () throws(PostgresError) -> Value) throws(StoreError) -> Value {
        isAsking = true
        defer { isAsking = false }
        do throws(PostgresError) { return try body() } catch {
            if let connection, !connection.isOpen { disconnect() }
            let shown = SharedError(error, address)
            throw StoreError(shown.code == .disconnected ? .disconnected : .inputOutput, shown.message, cause: error)
        }
    }

    /// Records a commit that the store received or made.
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

/// The ports and files that a host's sandbox must leave accessible for the server.
extension SharedPersistence {
    /// Connects ahead of ``load(into:)``, before the sandbox is closed.
    ///
    /// - Throws: ``SharedError``.
    package func prepare() throws(SharedError) {
        do throws(PostgresError) { try connect() } catch {
            let shown = SharedError(error, address)
            guard shown.code == .disconnected, hasCache else { throw shown }
            // It is reported when the items are loaded.
            failedAttempt = error
        }
    }

    /// The settings of the connection, or of a future one.
    private var settings: [String: String] {
        connection?.settings ?? (try? PostgresConnection.settings(of: address)) ?? [:]
    }

    /// The TCP ports of the server; none on a socket.
    package var ports: Set<Int> {
        let settings = settings
        let hosts = settings["host"]?.split(separator: ",") ?? []
        guard !hosts.isEmpty, !hosts.allSatisfy({ $0.hasPrefix("/") }) else { return [] }
        return Set((settings["port"] ?? "5432").split(separator: ",").compactMap { Int($0) })
    }

    /// The files that a new connection reads, for resolving names, and for passwords and certificates.
    package var files: [String] {
        let settings = settings
        let named = ["passfile", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir"].compactMap { settings[$0] }
        let home = HomeFolder.path.map { [$0 + "/.postgresql", $0 + "/.pgpass", $0 + "/.pg_service.conf"] } ?? []
        let system = [
            "/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
            "/etc/ssl", "/etc/passwd", "/etc/postgresql-common",
        ]
        return named.filter { $0.hasPrefix("/") } + home + system
    }
}

/// Numbers of events since a collection was opened.
public struct SharedStatistics: Sendable, Hashable {
    /// Commits acknowledged by the server.
    public var commits = 0
    /// Commits that others preceded, which were sent again or refused.
    public var overtaken = 0
    /// Commits whose answer was lost but which were applied.
    public var settledInDoubt = 0
    /// Commits received from other hosts.
    public var remoteCommits = 0
    /// Remote commits that arrived with their notifications and were not requested.
    public var announcedCommits = 0
    /// Pictures uploaded to the server, without those that it had.
    public var picturesSent = 0
    /// Number of lost connections.
    public var disconnections = 0

    /// Creates statistics with zeros.
    public init() {}
}
