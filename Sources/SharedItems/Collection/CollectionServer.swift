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
    /// Called when notifications came with the answer to a request: the socket is not readable for them.
    var onNotification: () -> Void = {}
    private(set) var connection: PostgresConnection?
    private(set) var collection: SharedCollection?
    /// How the collection is published as rows, as of the last time that the server was asked; nil if it is not.
    private(set) var publication: Publication?
    private(set) var following = FollowingPace()
    /// The server that an earlier run of this host used last.
    var former: ServerIdentity?
    var log = KnownLog()
    var statistics = SharedStatistics()
    /// Whether an answer is pending: code called meanwhile must not send another request.
    private(set) var isAsking = false
    /// Why the server is unusable from now on.
    private(set) var stopped: StoreError?
    /// Why the last server that answered is unsuitable.
    private(set) var denial: PostgresError?

    let waiter: any PostgresWaiter
    /// The index of the address's host to try first.
    private var firstHost = 0
    /// The error of an attempt to connect ahead of loading.
    private var failedAttempt: PostgresError?
    /// What this host has open on the server.
    private enum Transaction {
        case none
        /// One that locks no other host out: it has a commit's pictures.
        case open
        /// One that locks out all other hosts' commits.
        case holding
    }
    private var transaction = Transaction.none

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

    /// Connects to a server that can be used: of the address's servers one after the other, if standbys were promoted.
    @discardableResult
    private func connect() throws(PostgresError) -> PostgresConnection {
        var attempts = 0
        while true {
            let connection = try PostgresConnection(
                address, waiter: waiter, timeLimit: timeLimit, startingWith: firstHost)
            firstHost = connection.firstHost
            attempts += 1
            do throws(PostgresError) {
                try use(connection)
                return connection
            } catch {
                guard denial != nil else { throw error }
                firstHost += 1
                guard error.kind == .formerPrimary, attempts < connection.hostCount else { throw error }
            }
        }
    }

    /// Finds the collection on a server, and listens. It takes two round trips, after those of connecting.
    private func use(_ connection: PostgresConnection) throws(PostgresError) {
        denial = nil
        try SharedSchema.checkServer(connection)
        let found = try SharedCollection(
            connection, address, host: host, hostName: hostName, revision: log.lineage.revision)
        denial = collection.flatMap { found.error(knowing: $0, log.lineage) } ?? former.flatMap(found.error(following:))
        if let denial { throw denial }
        // A host waiting for another's commit is refused before its own deadline, so that its commit is not in doubt. The
        // functions see what was committed while they waited, whatever the server's own setting is. Commits before
        // `listen` cause no notification for this host. The plans of commands that are run again and again are made once,
        // also of those in functions, and go by an index, however short the log is at that time.
        let patience = Int(min(max(timeLimit, 1), 86_400) * 800)
        let rows = try connection.resultOfScript(
            "begin; listen \(found.channel); commit; set lock_timeout = \(patience); "
                + "set default_transaction_isolation = 'read committed'; "
                + "set plan_cache_mode = force_generic_plan; set enable_seqscan = off; "
                + "select head, \(PostgresConnection.asksWhetherItMayFlush), \(Publication.exist) from cubby.collection "
                + "where id = \(found.number)"
        )
        let head = try rows.textOfRevision()
        connection.mayFlush = try rows.text(0, 1) == "t"
        publication = try rows.text(0, 2) == "t" ? Publication(connection, found.number) : nil
        collection = found
        following = FollowingPace()
        log.begin(at: head)
        self.connection = connection
        onConnectionChange(true)
    }

    /// Connects ahead of loading.
    ///
    /// - Parameter hasCache: whether loading needs no server: an error is then reported when the items are loaded.
    /// - Throws: ``SharedError``.
    func prepare(hasCache: @autoclosure () -> Bool) throws(SharedError) {
        do throws(PostgresError) { try connect() } catch {
            let shown = SharedError(error, address)
            guard shown.code == .disconnected || error.kind == .formerPrimary, hasCache() else { throw shown }
            failedAttempt = error
        }
    }

    /// Records the collection that the host's copy is of, when there is no server that says more.
    func assume(_ known: SharedCollection) { collection = collection ?? known }

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
        defer {
            isAsking = false
            let texts = connection?.takeArrivedNotifications() ?? []
            for text in texts { log.announce(text) }
            if !texts.isEmpty { onNotification() }
        }
        do throws(PostgresError) { return try body() } catch {
            if let connection, !connection.isOpen { disconnect() }
            let shown = SharedError(error, address)
            let code: StoreError.Code =
                shown.code == .disconnected
                ? .disconnected : error.isOfContents ? .invalidValue(field: "") : .inputOutput
            throw StoreError(code, shown.message, cause: error)
        }
    }

    /// Whether the collection's tables have declarations of fields: they may have been migrated since.
    func askForDeclarations() throws(StoreError) -> Bool {
        if collection?.keepsDeclarations == true { return true }
        guard let connection, connection.isOpen, !isAsking else { return false }
        let keeps = try asking { () throws(PostgresError) in try SharedTables(connection).keepDeclarations }
        collection?.keepsDeclarations = keeps
        return keeps
    }

    /// Asks how the collection is published now.
    func askForPublication() throws(StoreError) {
        let (connection, collection) = try reached()
        publication = try asking { () throws(PostgresError) in try Publication(connection, collection.number) }
    }

    /// Records that the log has a declaration.
    func foundDeclaration() { collection?.keepsDeclarations = true }

    func disconnect() {
        transaction = .none
        guard connection != nil else { return }
        connection?.close()
        connection = nil
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

    /// Runs the command that makes a commit, as a transaction unless one is open, and returns when the server has flushed it.
    ///
    /// While other hosts commit, its transaction gives the collection's lock back before that: the next one need not wait for
    /// the disk. What they read meanwhile, they show only when it is flushed, too. It takes one round trip.
    ///
    /// - Returns: the rows, and whether what the command has read is flushed, too, whatever became of the commit.
    /// - Throws: ``PostgresError``; one that is in doubt if the commit may be lost.
    func makeCommit(
        _ command: PostgresConnection.Command, _ connection: PostgresConnection
    ) throws(PostgresError) -> (rows: PostgresResult, areFlushed: Bool) {
        guard connection.mayFlush, log.hasCompany, transaction == .none else {
            return (try connection.run(command.sql, command.parameters, isPrepared: true), false)
        }
        return (try connection.rowsFlushed(of: PostgresConnection.leavingFlush(command)), true)
    }

    /// Runs a command that reads the log, and returns when what it has read is flushed, which in an open transaction is not
    /// before its end.
    func read(
        _ command: PostgresConnection.Command, _ connection: PostgresConnection
    ) throws(PostgresError) -> (rows: PostgresResult, areFlushed: Bool) {
        guard log.mayHaveUnflushed, transaction == .none else {
            return (try connection.run(command.sql, command.parameters, isPrepared: true), false)
        }
        return (try connection.rowsFlushed(of: command), true)
    }

    /// Whether one is open.
    var isInTransaction: Bool { transaction != .none }

    /// Begins a transaction that locks no other host out, unless one is open.
    func begin(_ connection: PostgresConnection) throws(PostgresError) {
        guard transaction == .none else { return }
        transaction = .open
        try connection.runScript("begin")
    }

    /// Ends the transaction, if one is open.
    func end(_ connection: PostgresConnection, commits: Bool) throws(PostgresError) {
        guard transaction != .none else { return }
        transaction = .none
        try connection.runScript(commits ? "commit" : "rollback")
    }

    /// Called when a command that was sent has ended the transaction.
    func didEnd() { transaction = .none }

    /// Locks out all other hosts' commits, unless that is done: see `RemotePersistence`. It takes one round trip.
    func hold() throws(StoreError) {
        if transaction == .holding { return }
        let (connection, collection) = try reached()
        let head = try asking { () throws(PostgresError) in
            let begin = transaction == .none ? "begin; " : ""
            // Also a failed one has to be ended.
            transaction = .open
            let head = try connection.resultOfScript(
                "\(begin)\(Self.limitsIdling); select cubby.hold(\(collection.number))"
            ).textOfRevision()
            transaction = .holding
            return head
        }
        log.confirm(head)
    }

    /// Rolls the transaction back, if one is open.
    func release() {
        guard transaction != .none else { return }
        transaction = .none
        guard let connection, connection.isOpen, !isAsking else { return }
        try? asking { () throws(PostgresError) in
            try connection.runScript("rollback")
            // What was read in it.
            try connection.flush()
        }
    }

    // MARK: Notifications

    /// Receives notifications, unless an answer is pending.
    func receive() throws(StoreError) {
        guard let connection, !isAsking else { return }
        let texts = try asking { () throws(PostgresError) in try connection.takeNotifications() }
        for text in texts { log.announce(text) }
    }

    /// Decides after a look for commits how the next one comes about: see ``FollowingPace``. Does nothing while an answer is
    /// pending.
    ///
    /// - Parameter hasFound: whether there was one.
    /// - Throws: `StoreError` with `disconnected`.
    func pace(hasFound: Bool) throws(StoreError) {
        guard let connection, connection.isOpen, let collection, !isAsking, transaction == .none else { return }
        switch following.looked(hasFound: hasFound, at: .now) {
        case .wait: return
        case .unlisten:
            try asking { () throws(PostgresError) in try connection.runScript("unlisten \(collection.channel)") }
            following.didSet(isListening: false)
        case .listen:
            // Commits before it cause no notification.
            let head = try asking { () throws(PostgresError) in
                try connection.resultOfScript(
                    "begin; listen \(collection.channel); commit; "
                        + "select head from cubby.collection where id = \(collection.number)"
                ).textOfRevision()
            }
            following.didSet(isListening: true)
            log.confirm(head)
            if log.mayHaveCommits(after: log.lineage.revision) { onNotification() }
        }
    }

    /// Queries for the latest revision, unless an answer is pending.
    func poll() throws(StoreError) {
        if isAsking { return }
        let (connection, collection) = try reached()
        let head = try asking { () throws(PostgresError) in
            let rows = try connection.run(
                "select head from cubby.collection where id = $1", [.int4(collection.number)], isPrepared: true)
            // It was removed, or closed to this host's role.
            guard rows.rowCount > 0 else { throw SharedSchema.missingCollection(address) }
            return try rows.revision(0, 0)
        }
        log.confirm(head)
    }
}
