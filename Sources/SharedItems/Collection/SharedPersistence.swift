public import ColumnEngine
package import Files
import Glibc
import ItemArchive
import PropertyList
@_exported import Wording

/// Items that several hosts share in one collection, stored by PostgreSQL. Each host has all of them in memory.
///
/// A commit is one call of a server function, which serialises a collection's commits by locking one row. Notifications
/// wake the other hosts, which read the log; polling it compensates for lost ones. One thread owns it.
public final class SharedPersistence: RemotePersistence, DocumentPersistence {
    /// The collection's address.
    package let address: SharedAddress
    private let access: Access
    let server: CollectionServer
    /// What the container has of the collection.
    var local: LocalCopy
    var places = ItemPlaces()
    /// Whether the store has its items, from the server or from the cache.
    var isLoaded = false
    /// The commit whose answer was lost.
    var inDoubt: SentCommit?
    /// Returns the bytes of this host's pictures.
    package var attachmentSource: ((_ digest: [UInt8]) throws(StoreError) -> [UInt8])?
    /// Called with the number of remote commits that came, and of those that there are, while more than one piece of the
    /// log is read.
    package var onProgress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    /// Called with what the user has to know of damage that was found since the items were loaded.
    package var onNotice: (String) -> Void = { _ in }
    /// What the user has to know of items that could not be read when all were fetched.
    package internal(set) var noticesOfLeftOut: [String] = []
    /// The revision at which reading the log began, until its end is reached.
    private var firstRevision: UInt64?
    /// Called when the connection was made or lost.
    package var onConnectionChange: ((_ isConnected: Bool) -> Void)?

    /// - Parameters:
    ///   - address: the collection's address.
    ///   - host: 16 bytes that identify this host across runs; made if nil.
    ///   - hostName: the host's name for other hosts.
    ///   - timeLimit: how long a commit or another request may take.
    ///   - isReadOnly: whether the store refuses changes and only follows the others.
    ///   - folder: where the collection is cached between two runs, in a subfolder, so that a start fetches only new
    ///     commits and needs no server; nil for no cache.
    ///   - keepsCommits: whether commits are queued in the folder while the server does not answer, and sent when it is
    ///     back; otherwise the store is read-only meanwhile.
    public convenience init(
        _ address: SharedAddress, host: [UInt8]? = nil, hostName: String, timeLimit: Duration = .seconds(10),
        isReadOnly: Bool = false, folder: String? = nil, keepsCommits: Bool = false
    ) {
        self.init(
            address, host: host, hostName: hostName, timeLimit: timeLimit, isReadOnly: isReadOnly,
            folder: folder, using: PosixFileLayer(), keepsCommits: keepsCommits, waiter: BlockingWaiter())
    }

    /// The same with a waiter.
    package init(
        _ address: SharedAddress, host: [UInt8]? = nil, hostName: String, timeLimit: Duration = .seconds(10),
        isReadOnly: Bool = false, folder: String? = nil, using layer: any FileLayer = PosixFileLayer(),
        keepsCommits: Bool = false, waiter: any PostgresWaiter
    ) {
        access = isReadOnly ? .readOnly : keepsCommits && folder != nil ? .queuing : .online
        local = LocalCopy(folders: folder.map { CollectionFolders(root: $0, layer: layer) })
        self.address = address
        server = CollectionServer(
            address, host: host ?? Self.newIdentifier(), hostName: hostName, timeLimit: timeLimit / .seconds(1),
            waiter: waiter)
        server.onConnectionChange = { [weak self] isConnected in
            // A standby may have been promoted meanwhile, which a later start has to know.
            if isConnected, self?.isLoaded ?? false { self?.settleFolder() }
            self?.onConnectionChange?(isConnected)
        }
    }

    public var isReadOnly: Bool {
        if opensReadOnly || server.stopped != nil || isReader { return true }
        // Commits are queued for the history known to this host.
        if keepsCommits { return !isConnected && server.denial?.kind == .otherHistory }
        return isLoaded && (!isConnected || inDoubt != nil)
    }

    package var declaringDenial: String? {
        // What is declared already was kept.
        if places.columns?.hasDeclarations == true || (try? server.askForDeclarations()) == true { return nil }
        return server.collection == nil || !isConnected
            ? "whether the shared collection's tables keep declarations is known when its server answers: declare then"
            : "the shared collection's tables, of an older program, keep no declarations: their owner runs "
                + "cubby shared migrate '\(address.description)'"
    }

    package var readOnlyReason: String {
        if let stopped = server.stopped { return stopped.message }
        if opensReadOnly { return StoreError.storeIsReadOnly.message }
        if !isConnected, let denial = server.denial { return denial.message }
        if isReader { return readerReason }
        return isConnected
            ? "the last commit's answer was lost: items can be changed when the server has said whether it happened"
            : outageNotice
    }

    /// What an outage of the server means, for the user.
    package var outageNotice: String {
        if let denial = server.denial { return denial.message }
        let consequence =
            if keepsCommits {
                "changes are kept here, and sent when it is back"
            } else if opensReadOnly || isReader {
                "the items stay as they were when it last did"
            } else {
                "items can be read, and changed when it is back"
            }
        return "the collection's server does not answer: \(consequence)"
    }

    public func synchronize() throws(StoreError) { cache?.synchronize() }

    public func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision {
        guard case .committed(let revision) = try send(commit, reads: nil) else {
            throw StoreError(.conflict, "other hosts changed the collection meanwhile")
        }
        return revision
    }

    package func stop(_ reason: StoreError) { server.stop(reason) }

    /// Ends the connection for as long as this host does not run.
    package func suspend() { server.disconnect() }

    static let notLoaded = StoreError(.inputOutput, "the collection was not opened")

    package static func newIdentifier() -> [UInt8] { (0..<16).map { _ in .random(in: 0 ... .max) } }
}

/// Whether this host may change items.
extension SharedPersistence {
    private enum Access {
        case readOnly
        /// While the server answers.
        case online
        /// Commits are queued while the server does not answer.
        case queuing
    }

    package var keepsCommits: Bool { access == .queuing }
    var opensReadOnly: Bool { access == .readOnly }

    /// Whether the role of this host may only read the collection, as of the last connection.
    var isReader: Bool { server.collection?.isWritable == false }

    var readerReason: String {
        "the role of this host may only read the collection: its owner lets it change items with "
            + "cubby shared grant ROLE '\(address.description)'"
    }
}

/// What the container has of the collection.
extension SharedPersistence {
    /// The host's name for other hosts.
    package var hostName: String { server.hostName }
    var folder: CollectionFolder? { local.folder }
    var cache: SharedCache? { local.cache }
    var queue: CommitQueue? { local.queue }
}

/// The server, and the ports and files that a host's sandbox must leave accessible for it.
extension SharedPersistence {
    /// How long a commit or another request may take.
    package var timeLimit: Duration {
        get { .seconds(server.timeLimit) }
        set { server.timeLimit = newValue / .seconds(1) }
    }
    package var isConnected: Bool { server.isConnected }
    /// Numbers of events since the opening.
    package var statistics: SharedStatistics { server.statistics }
    /// Why the server is unusable for this store from now on; nil as long as it is usable.
    package var stopReason: StoreError? { server.stopped }
    /// The socket to watch for notifications; nil without a connection.
    package var descriptor: Int32? { server.connection?.descriptor }

    /// Connects ahead of ``load(into:)``, before the sandbox is closed. Without the server the cache is read.
    ///
    /// - Throws: ``SharedError``.
    package func prepare() throws(SharedError) {
        openFolder()
        try server.prepare(hasCache: hasCache)
        settleFolder()
    }

    /// The settings of the connection, or of a future one.
    private var settings: [String: String] {
        server.connection?.settings ?? (try? PostgresConnection.settings(of: address)) ?? [:]
    }

    /// The TCP ports of the server; none on a socket.
    package var ports: Set<Int> {
        let settings = settings
        let hosts = ["host", "hostaddr"].flatMap { settings[$0]?.split(separator: ",") ?? [] }
        guard !hosts.allSatisfy({ $0.hasPrefix("/") }) else { return [] }
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
        // libpq reads it for each connection.
        let services = ["PGSERVICEFILE", "PGSYSCONFDIR"].compactMap { (name: String) in
            getenv(name).map { String(cString: $0) }
        }
        return (named + services).filter { $0.hasPrefix("/") } + home + system
    }
}

/// Commits of the other hosts.
extension SharedPersistence {
    package var isLogBroken: Bool {
        get { server.log.isBroken }
        set { server.log.isBroken = newValue }
    }

    package func mayHaveCommits(after revision: ItemRevision) -> Bool {
        server.stopped == nil
            && (server.log.mayHaveCommits(after: revision.rawValue) || isLogBroken && isConnected || inDoubt != nil
                || (isLoaded && !isConnected && !keepsCommits))
    }

    package var newestRevision: ItemRevision { ItemRevision(rawValue: server.log.latest) }

    /// Called when notifications came with the answer to a request of this host: there may be commits to apply, and the
    /// socket is not readable for them.
    package var onNotification: () -> Void {
        get { server.onNotification }
        set { server.onNotification = newValue }
    }

    /// Receives the server's notifications. Call it when the socket is readable; it does nothing while an answer is
    /// pending.
    ///
    /// - Throws: `StoreError` with `disconnected`.
    package func receive() throws(StoreError) {
        try server.receive()
    }

    /// Queries the server for its latest revision: a notification can be lost. Does nothing while an answer is pending.
    ///
    /// - Throws: `StoreError` with `disconnected`.
    package func poll() throws(StoreError) {
        try server.poll()
    }

    /// Decides after a look for commits how the next one comes about: by a notification, or by polling.
    ///
    /// - Parameter hasFound: whether there was one.
    /// - Throws: `StoreError` with `disconnected`.
    package func pace(hasFound: Bool) throws(StoreError) { try server.pace(hasFound: hasFound) }

    /// The seconds after which to call ``poll()``; nil while the server notifies this host.
    package var pollInterval: Double? {
        isConnected && !server.following.isListening ? FollowingPace.interval : nil
    }

    package func takeCommits(after revision: ItemRevision) throws(StoreError) -> [RemoteCommit] {
        server.log.localRevisions = server.log.localRevisions.filter { $0 > revision.rawValue }
        var commits: [RemoteCommit] = []
        let schema = places.columns?.schema ?? ItemSchema()
        let logged = try askLog(after: revision.rawValue)
        // What a former process of this host had sent, the server may have committed since the doubts were settled.
        if hasPendingCommits,
            logged.contains(where: { $0.host == server.host && !server.log.localRevisions.contains($0.revision) })
        {
            try settleDoubts()
        }
        for commit in logged {
            var changes: [RemoteChange] = []
            if !server.log.localRevisions.contains(commit.revision) {
                do throws(StoreError) {
                    changes = try Self.remoteChanges(RecordChecksum.changes(of: commit.record, schema))
                } catch {
                    // The commits before it are intact, and are applied first.
                    if !commits.isEmpty { break }
                    throw damaged(commit.revision, error)
                }
                if changes.contains(where: { $0.change.kind == .declare }) { server.foundDeclaration() }
                server.statistics.remoteCommits += 1
                server.log.meet()
            }
            cache?.expect(commit)
            server.log.record(Lineage(revision: commit.revision, identifier: commit.lineage))
            commits.append(
                RemoteCommit(
                    revision: ItemRevision(rawValue: commit.revision),
                    host: server.log.hostNames[commit.host] ?? commit.hostName,
                    changes: changes))
        }
        return commits
    }

    /// The next commits of the log: a piece that is soon here also over a slow link.
    private func askLog(after revision: UInt64) throws(StoreError) -> [LoggedCommit] {
        let (connection, collection) = try server.reached()
        let arrived = server.log.takeArrived(after: revision)
        if !arrived.isEmpty { return arrived }
        let commits = try server.asking { () throws(PostgresError) in
            let (rows, count) = try flushed(
                (
                    Self.nextCommits,
                    [.int4(collection.number), .int8(Int64(clamping: revision)), .int8(Self.pieceLength)]
                ), connection)
            let commits = try (0..<count).map { (row) throws(PostgresError) in
                let host = try rows.bytes(row, 2) ?? []
                guard host.count == 16 else { throw PostgresResult.badAnswer("a host without an identifier") }
                let name = try rows.text(row, 3)
                server.log.hostNames[host] = name
                return LoggedCommit(
                    revision: try rows.revision(row, 0), host: host, hostName: name,
                    lineage: try rows.bytes(row, 4) ?? [], record: try rows.bytes(row, 1) ?? [])
            }
            server.log.wasRead()
            return commits
        }
        for (number, commit) in zip((revision + 1)..., commits) where number != commit.revision {
            throw missing(number)
        }
        if let last = commits.last {
            let first = firstRevision ?? revision
            firstRevision = last.revision < server.log.latest ? first : nil
            if firstRevision != nil { onProgress(Int(last.revision - first), Int(server.log.latest - first)) }
            return commits
        }
        // A notification may name a revision that nobody made. The row of the collection says which ones there are.
        if server.log.mayHaveCommits(after: revision) { try server.poll() }
        if server.log.latest > revision { throw missing(revision + 1) }
        return []
    }

    /// The log's next rows, and the number of those that are flushed: what is shown here cannot vanish. Behind the commits that
    /// are known to be flushed there may be later ones: their notifications come, or this host asks for them.
    private func flushed(
        _ command: PostgresConnection.Command, _ connection: PostgresConnection
    ) throws(PostgresError) -> (rows: PostgresResult, count: Int) {
        let (rows, areFlushed) = try server.read(command, connection)
        var count = rows.rowCount
        if areFlushed || server.isInTransaction {
            guard count > 0 else { return (rows, 0) }
            if areFlushed { server.log.flushed(through: try rows.revision(count - 1, 0)) }
            server.log.announce(try rows.revision(0, 5))
        } else {
            while count > 0, try rows.revision(count - 1, 0) > server.log.flushed { count -= 1 }
        }
        return (rows, count)
    }

    /// Up to 1,000 commits, none beyond the collection's latest, as far as their records have fewer bytes than the piece's
    /// length; at least one.
    private static let nextCommits = """
        select l.revision, l.record, l.host, coalesce(h.name, ''), l.lineage, l.head from (
            select n.revision, n.record, n.host, n.lineage, n.head,
                sum(octet_length(n.record)) over (order by n.revision rows unbounded preceding) - octet_length(n.record)
                    as before
            from (select o.revision, o.record, o.host, o.lineage, c.head from cubby.collection c, cubby.log o
                where c.id = $1 and o.collection = $1 and o.revision > $2 and o.revision <= c.head
                order by o.revision limit 1000) n
        ) l left join cubby.host h on h.collection = $1 and h.id = l.host
        where l.before < $3 order by l.revision
        """
    private static let pieceLength: Int64 = 1 << 20

    private func missing(_ revision: UInt64) -> StoreError {
        isLogBroken = true
        return StoreError(
            .inputOutput, "revision \(revision) is missing in the log of the collection \(address.collection)")
    }

    private func damaged(_ revision: UInt64, _ error: StoreError) -> StoreError {
        isLogBroken = true
        return StoreError(
            .corruptJournal,
            "revision \(revision) in the log of the collection \(address.collection) is damaged, and left out "
                + "(\(error.message))",
            cause: error)
    }

    /// The changes in the form for stores; a new item's rank is part of its insertion.
    static func remoteChanges(_ changes: [RecordChange]) throws(StoreError) -> [RemoteChange] {
        var ranks: NameTable<[UInt8]> = [:]
        for case .rank(let key, let rank) in changes { ranks[key] = rank }
        var inserted: NameSet = []
        var result: [RemoteChange] = []
        for change in changes {
            switch change {
            case .insert(let key, let values, _):
                inserted.insert(key)
                guard let rank = ranks[key] else {
                    throw StoreError(.corruptJournal, "the item \(key) came without a rank")
                }
                result.append(RemoteChange(.insert(values), rank: rank))
            case .remove(let key): result.append(RemoteChange(.remove(key)))
            case .set(let key, let field, let value): result.append(RemoteChange(.update(key, field, to: value)))
            case .rank(let key, let rank):
                if !inserted.contains(key) { result.append(RemoteChange(.move(key, to: 0), rank: rank)) }
            case .declare(let declarations): result.append(RemoteChange(.declare(declarations)))
            // The log has ranks instead of positions.
            case .move: continue
            }
        }
        return result
    }

    // MARK: Synchronizing anew

    package func reopened() -> any RemotePersistence {
        let other = SharedPersistence(
            address, host: server.host, hostName: hostName, timeLimit: timeLimit, isReadOnly: true,
            waiter: server.waiter)
        if let collection = server.collection { other.server.assume(collection) }
        return other
    }

    package func rank(ofKey key: String) -> [UInt8]? {
        places.columns?.row(ofKey: key).flatMap { places.ranks[$0] }
    }

    package func adopt(_ other: any RemotePersistence, because reason: StoreError) {
        guard let other = other as? SharedPersistence, let columns = places.columns, let found = other.places.columns
        else { return }
        for position in 0..<found.count {
            let row = found.row(at: position)
            guard let rank = other.places.ranks[row], let own = columns.row(ofKey: found.keyString(row)) else {
                continue
            }
            places.ranks.set(own, rank)
        }
        columns.reorder { precedes($0, $1) }
        server.log.restart(at: other.server.log.lineage)
        server.log.localRevisions = []
        cache?.discontinue()
        isLogBroken = false
        server.statistics.newSynchronizations += 1
        other.server.disconnect()
        onNotice("\(reason.message): all items of the collection \(address.collection) were fetched anew")
        noticesOfLeftOut = other.noticesOfLeftOut
        if !noticesOfLeftOut.isEmpty { setIncomplete(true) }
        for notice in noticesOfLeftOut { onNotice(notice) }
    }

    // MARK: Places

    package func placed(_ change: RemoteChange, among unranked: Set<UInt32>) -> ItemChange {
        places.placed(change, among: unranked)
    }

    package func didApply(_ change: RemoteChange) { places.didApply(change) }

    package func didApply(_ commit: RemoteCommit) { cache?.add(expected: commit.revision.rawValue) }

    package func precedes(_ row: UInt32, _ other: UInt32) -> Bool { places.precedes(row, other) }
}

/// Numbers of events since a collection was opened.
package struct SharedStatistics: Sendable, Hashable {
    /// Commits acknowledged by the server.
    package var commits = 0
    /// Commits that remote ones preceded, which were sent again or refused.
    package var overtaken = 0
    /// Commits whose answer was lost but which were applied.
    package var settledInDoubt = 0
    /// Commits received from other hosts.
    package var remoteCommits = 0
    /// Pictures uploaded to the server, without those that it had.
    package var picturesSent = 0
    /// How often all items were fetched anew, because the log did not lead to them.
    package var newSynchronizations = 0
    /// Number of lost connections.
    package var disconnections = 0

    /// Creates statistics with zeros.
    package init() {}
}
