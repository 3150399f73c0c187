import Files

/// A revision, and an identifier of all commits up to it.
struct Lineage: Sendable, Hashable {
    var revision: UInt64 = 0
    var identifier: [UInt8] = []
}

/// The server that a host is connected to, among its standbys.
struct ServerIdentity: Sendable, Hashable {
    /// Shared by a server and its standbys; 0 if unavailable.
    var system: Int64 = 0
    /// The number of promotions among them.
    var timeline: Int64 = 0
}

/// The server's state of a collection when a host connected.
struct SharedCollection {
    /// Its number in the tables.
    let number: Int32
    let head: UInt64
    /// The log has every revision after this one.
    let floor: UInt64
    /// Identifies its history.
    let epoch: [UInt8]
    /// The lineage of the latest revision known to the host; nil if the log does not have it.
    let lineage: [UInt8]?
    /// The host's revision with this lineage.
    var knownRevision: UInt64 = 0
    let server: ServerIdentity
    /// Whether its tables have declarations of fields; those of an older program do not.
    var keepsDeclarations = false
    /// The record of the fields of its items; nil for those of a household. See ``SharedFields``.
    var fields: [UInt8]?
    /// Whether this host's role may change items, and not only read them.
    var isWritable = true
    /// Whether the function that makes a commit compares its bytes with a digest; that of an older program does not.
    var checksDigests = false
    /// Whether that function returns the commits that came in between; that of an older program does not.
    var returnsRemoteCommits = false
}

extension SharedCollection {
    /// Registers a host, and finds the collection.
    ///
    /// It takes one round trip; only of a database that cannot be used, or of an older program's tables, more is asked.
    init(
        _ connection: PostgresConnection, _ address: SharedAddress, host: [UInt8], hostName: String, revision: UInt64
    ) throws(PostgresError) {
        let parameters: [PostgresValue] = [
            .text(address.collection), .uuid(host), .text(hostName), .int8(Int64(clamping: revision)),
        ]
        let rows: PostgresResult
        do throws(PostgresError) {
            rows = try connection.run(Self.hello(.latest), parameters)
            keepsDeclarations = true
        } catch {
            guard case .server(let code) = error.kind, code.hasPrefix("42") || code.hasPrefix("3F") else { throw error }
            try SharedSchema.check(connection, address)
            let tables = try SharedTables(connection)
            if tables == .latest { throw error }
            rows = try connection.run(Self.hello(tables), parameters)
            keepsDeclarations = tables.keepDeclarations
        }
        try SharedSchema.check(format: try rows.integer(0, 7))
        number = Int32(clamping: try rows.number(0, 0))
        head = try rows.revision(0, 1)
        floor = try rows.revision(0, 2)
        guard let epoch = try rows.bytes(0, 3), epoch.count == 16 else { throw PostgresResult.badAnswer("no epoch") }
        self.epoch = epoch
        lineage = try rows.bytes(0, 4)
        knownRevision = revision
        server = ServerIdentity(system: try rows.number(0, 5), timeline: try rows.number(0, 6))
        fields = try rows.bytes(0, 8)
        isWritable = try rows.bytes(0, 9) == [1]
        checksDigests = try rows.bytes(0, 10) == [1]
        let hasRemoteCommits = try rows.bytes(0, 11) == [1]
        returnsRemoteCommits = keepsDeclarations && hasRemoteCommits
    }

    /// The query by which a host introduces itself, for what the tables have.
    private static func hello(_ tables: SharedTables) -> String {
        let fields =
            tables.keepFields ? "(select c.fields from cubby.collection c where c.id = h.id)" : "null::bytea"
        func exists(_ lastParameters: String) -> String {
            "to_regprocedure('cubby.commit(int, uuid, bigint, uuid, uuid, bytea[], bytea[], bytea[], bytea[], bytea[], bytea, "
                + "bytea[], bytea, \(lastParameters))') is not null"
        }
        return "select h.id, h.head, h.floor, h.epoch, h.lineage, h.system, h.timeline, "
            + "(select max(f.version) from cubby.format f), \(fields), \(tables.keepRights ? "cubby.may_write(h.id)" : "true"), "
            + "\(exists("bytea")), \(exists("bytea, int")) "
            + "from cubby.hello($1, $2, $3, $4\(tables.keepDeclarations ? ", 2" : "")) h"
    }

    /// Checks whether a host that knows a collection can continue with this one.
    ///
    /// - Parameters:
    ///   - known: the collection known to the host.
    ///   - latest: the latest commit known to the host.
    /// - Returns: the error if it cannot continue, otherwise nil.
    func error(knowing known: SharedCollection, _ latest: Lineage) -> PostgresError? {
        if let denial = error(following: known.server) { return denial }
        // A log that lacks the commit may have been cut: taking the later commits finds that out.
        let isOther = latest.revision > 0 && lineage.map { $0 != latest.identifier } ?? false
        guard epoch != known.epoch || head < latest.revision || isOther else { return nil }
        return PostgresError(
            .otherHistory,
            "the collection on the server has another history than this host's: it was restored, or a standby without "
                + "all commits took over; start again to synchronise anew")
    }

    /// Checks whether this is a server whose standby was promoted in its place.
    func error(following former: ServerIdentity) -> PostgresError? {
        guard server.system == former.system, server.timeline < former.timeline else { return nil }
        return PostgresError(
            .formerPrimary,
            "this server is a former primary: a standby of it was promoted (timeline \(former.timeline)), and has the "
                + "collection; stop this one (timeline \(server.timeline)), and make it a standby of the other")
    }

    /// The channel for notifications of commits.
    var channel: String { Self.channel(of: epoch) }

    /// The channel of a collection's history.
    static func channel(of epoch: [UInt8]) -> String { "cubby_" + epoch.hexadecimal }
}

/// What a host knows of a collection's log.
struct KnownLog {
    /// The latest revision that the server is known to have.
    private(set) var latest: UInt64 = 0
    /// The latest revision of a notification. Anybody who may connect can send one: it only has the log asked.
    private var notified: UInt64 = 0
    /// The latest revision that the server is known to have flushed: no crash takes it back.
    private(set) var flushed: UInt64 = 0
    /// The latest commit that the store received or made.
    private(set) var lineage = Lineage()
    /// Whether it does not lead from the items here to those on the server: some of it is missing, or damaged.
    var isBroken = false
    /// The names of the hosts that have committed, by identifier, as the log said them last.
    var hostNames: [[UInt8]: String] = [:]
    /// When the log last said the names of hosts.
    private var namesSaid: ContinuousClock.Instant?
    /// The commits that came with the answer to a commit of this host, from the one after its revision on: flushed, and not yet
    /// taken.
    private var arrived: [LoggedCommit] = []
    /// The revisions made by this host and present in its store, until the store's revision is past them.
    var localRevisions: Set<UInt64> = []

    /// Records the latest revision of a server that was just connected to. A promoted standby may lack revisions that
    /// the old primary announced, but none that this host has applied.
    mutating func begin(at revision: UInt64) { (latest, notified, arrived) = (revision, 0, []) }

    /// Records all items as of a commit.
    mutating func restart(at commit: Lineage) {
        (lineage, arrived) = (commit, [])
        announce(commit.revision)
    }

    /// Records the latest commit of the copy from an earlier run, before the server is asked.
    mutating func begin(knowing commit: Lineage) { lineage = commit }

    /// Records a commit that the store received or made.
    mutating func record(_ commit: Lineage) {
        if commit.revision > lineage.revision { lineage = commit }
    }

    /// Records a revision that the server has.
    mutating func announce(_ revision: UInt64) { latest = max(latest, revision) }

    /// When another host's commit was last met.
    private var lastMeeting: ContinuousClock.Instant?

    /// Records that another host commits, too.
    mutating func meet() { lastMeeting = .now }

    /// Whether other hosts commit at present.
    var hasCompany: Bool { lastMeeting.map { $0 + .seconds(1) > .now } ?? false }

    /// Records that a revision is flushed, and with it those before.
    mutating func flushed(through revision: UInt64) { flushed = max(flushed, revision) }

    /// Whether the log may have commits that are not flushed yet.
    var mayHaveUnflushed: Bool { max(latest, notified) > flushed }

    /// Records that the log was read, with the names of hosts.
    mutating func wasRead() { namesSaid = .now }

    /// Records commits that came with the answer to a commit, one after the other.
    mutating func receive(_ commits: [LoggedCommit]) { arrived = commits }

    /// Takes the commits after a revision that are here already; empty if the log has to be read for them, as it has to be from
    /// time to time for the names of hosts, which may change.
    mutating func takeArrived(after revision: UInt64) -> [LoggedCommit] {
        guard let first = arrived.first else { return [] }
        defer { arrived = [] }
        guard first.revision == revision + 1, namesSaid.map({ $0 + .seconds(60) > .now }) ?? false,
            arrived.allSatisfy({ hostNames[$0.host] != nil || !$0.hostName.isEmpty })
        else { return [] }
        return arrived.map { commit in
            var named = commit
            named.hostName = hostNames[commit.host] ?? commit.hostName
            return named
        }
    }

    /// Records a notification, whose first word is a revision. An older program's has the commit behind it.
    mutating func announce(_ text: String) {
        guard let word = text.split(separator: " ").first, let revision = UInt64(word), revision < UInt64(Int64.max)
        else { return }
        notified = max(notified, revision)
    }

    /// Whether the log may have commits after a revision.
    func mayHaveCommits(after revision: UInt64) -> Bool { max(latest, notified) > revision }

    /// Records what the server answered when it was asked for its latest revision: notifications are older.
    mutating func confirm(_ revision: UInt64) {
        announce(revision)
        notified = 0
    }
}

/// A commit as stored in the log.
struct LoggedCommit {
    let revision: UInt64
    /// The host's identifier, of 16 bytes.
    let host: [UInt8]
    var hostName = ""
    /// Identifies the sequence of commits up to this one.
    let lineage: [UInt8]
    let record: [UInt8]
}
