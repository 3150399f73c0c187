import ColumnEngine

/// The server of a collection: its connection, made anew when it broke, the transaction on it, and whether this host
/// can go on with the collection that it finds there.
final class CollectionServer {
    let address: SharedAddress
    let hostName: String
    /// Identifies this host for the server across runs.
    let host: [UInt8]
    /// Seconds that a commit or another request may take.
    var timeLimit: Double {
        didSet { connection?.timeLimit = timeLimit }
    }
    /// Called when the connection was made or lost.
    var onConnectionChange: (_ isConnected: Bool) -> Void = { _ in }
    private(set) var connection: PostgresConnection?
    private(set) var collection: SharedCollection?
    var log = KnownLog()
    var statistics = SharedStatistics()
    /// Whether an answer is pending: code called meanwhile must not send another request.
    private(set) var isAsking = false
    /// Why the server is unusable from now on.
    private(set) var stopped: StoreError?
    /// Why the last server that answered is unsuitable.
    private(set) var denial: PostgresError?

    private let waiter: any PostgresWaiter
    /// The index of the address's host to try first.
    private var firstHost = 0
    /// The error of an attempt to connect ahead of loading.
    private var failedAttempt: PostgresError?
    /// Whether a server transaction is open, which locks out other hosts or has a commit's pictures.
    private var isHolding = false

    /// A transaction may lock the collection for 5 s between two of its commands: a host that dies or hangs must not
    /// block the others for long.
    static let limitsIdling = "set local idle_in_transaction_session_timeout = '5s'"

    init(
        _ address: SharedAddress, host: [UInt8], hostName: String, timeLimit: Double, waiter: any PostgresWaiter
    ) {
        (self.address, self.host, self.hostName) = (address, host, hostName)
        (self.timeLimit, self.waiter) = (timeLimit, waiter)
    }

    var isConnected: Bool { connection?.isOpen ?? false }

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

    /// The connection, made anew if it broke, and the collection.
    func reached() throws(StoreError) -> (PostgresConnection, SharedCollection) {
        let connection = try connected()
        guard let collection else { throw SharedPersistence.notLoaded }
        return (connection, collection)
    }

    /// Connects, finds the collection, and listens.
    @discardableResult
    private func connect() throws(PostgresError) -> PostgresConnection {
        let connection = try PostgresConnection(
            address, waiter: waiter, timeLimit: timeLimit, startingWith: firstHost)
        firstHost = connection.firstHost
        try SharedSchema.checkServer(connection)
        guard try SharedSchema.installedFormat(connection) != nil else { throw SharedSchema.missingSchema(address) }
        try SharedSchema.checkFormat(connection)
        let found = try SharedCollection(
            connection, address.collection, host: host, hostName: hostName, revision: log.lineage.revision)
        if let collection, let denial = found.error(knowing: collection, log.lineage) {
            // Another of the address's servers may be suitable.
            firstHost += 1
            self.denial = denial
            throw denial
        }
        denial = nil
        // A host waiting for another's commit is refused before its own deadline, so that its commit is not in doubt.
        let patience = Int(min(max(timeLimit, 1), 86_400) * 800)
        try connection.runScript("listen \(found.channel); set lock_timeout = \(patience)")
        // Commits before the server's `listen` caused no notification for this host.
        let head = try connection.run("select head from cubby.collection where id = $1", [.int4(found.number)])
        collection = found
        log.begin(at: try head.revision(0, 0))
        self.connection = connection
        onConnectionChange(true)
        return connection
    }

    /// Connects ahead of loading.
    ///
    /// - Parameter hasCache: whether loading needs no server: an error is then reported when the items are loaded.
    /// - Throws: ``SharedError``.
    func prepare(hasCache: @autoclosure () -> Bool) throws(SharedError) {
        do throws(PostgresError) { try connect() } catch {
            let shown = SharedError(error, address)
            guard shown.code == .disconnected, hasCache() else { throw shown }
            failedAttempt = error
        }
    }

    /// Connects for loading, unless that was done or tried ahead of it.
    func connectToLoad() throws(StoreError) {
        defer { failedAttempt = nil }
        try asking { () throws(PostgresError) in
            if let failedAttempt { throw failedAttempt }
            if !isConnected { try connect() }
        }
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

    /// Whether the collection's tables have declarations of fields: they may have been migrated since.
    func askForDeclarations() throws(StoreError) -> Bool {
        if collection?.keepsDeclarations == true { return true }
        guard let connection, connection.isOpen, !isAsking else { return false }
        let keeps = try asking { () throws(PostgresError) in try SharedCollection.keepsDeclarations(connection) }
        collection?.keepsDeclarations = keeps
        return keeps
    }

    /// Records that the log has a declaration.
    func foundDeclaration() { collection?.keepsDeclarations = true }

    func disconnect() {
        isHolding = false
        guard connection != nil else { return }
        connection?.close()
        connection = nil
        log.forgetAnnouncements()
        statistics.disconnections += 1
        onConnectionChange(false)
    }

    /// Ends the use of the server.
    func stop(_ reason: StoreError) {
        stopped = reason
        if connection == nil { onConnectionChange(false) }
        disconnect()
    }

    // MARK: Its transaction

    /// Begins a transaction that locks no other host out, unless one is open.
    func begin(_ connection: PostgresConnection) throws(PostgresError) {
        if !isHolding { try connection.runScript("begin") }
        isHolding = true
    }

    /// Ends the transaction, if one is open.
    func end(_ connection: PostgresConnection, commits: Bool) throws(PostgresError) {
        guard isHolding else { return }
        isHolding = false
        try connection.runScript(commits ? "commit" : "rollback")
    }

    /// Locks out all other hosts' commits: see `RemotePersistence`.
    func hold() throws(StoreError) {
        let (connection, collection) = try reached()
        let head = try asking { () throws(PostgresError) in
            try connection.runScript("begin; \(Self.limitsIdling)")
            isHolding = true
            return try connection.run("select cubby.hold($1)", [.int4(collection.number)]).revision(0, 0)
        }
        log.announce(head)
    }

    /// Rolls the transaction back, if one is open.
    func release() {
        guard isHolding else { return }
        isHolding = false
        guard let connection, connection.isOpen, !isAsking else { return }
        try? asking { () throws(PostgresError) in try connection.runScript("rollback") }
    }

    // MARK: Notifications

    /// Receives notifications, unless an answer is pending.
    func receive() throws(StoreError) {
        guard let connection, !isAsking else { return }
        let texts = try asking { () throws(PostgresError) in try connection.takeNotifications() }
        for text in texts { log.announce(text) }
    }

    /// Queries for the latest revision, unless an answer is pending.
    func poll() throws(StoreError) {
        if isAsking { return }
        let (connection, collection) = try reached()
        let head = try asking { () throws(PostgresError) in
            try connection.run(
                "select head from cubby.collection where id = $1", [.int4(collection.number)], isPrepared: true
            ).revision(0, 0)
        }
        log.announce(head)
    }
}
