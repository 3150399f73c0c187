/// A revision, and an identifier of all commits up to it.
struct Lineage: Sendable, Hashable {
    var revision: UInt64 = 0
    var identifier: [UInt8] = []
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
    /// The server's identity, shared by its standbys; 0 if unavailable.
    let system: Int64
    /// The number of promotions among them.
    let timeline: Int64
    /// Whether its tables have declarations of fields; those of an older program do not.
    var keepsDeclarations = false
}

extension SharedCollection {
    /// Registers a host, and finds the collection.
    init(
        _ connection: PostgresConnection, _ name: String, host: [UInt8], hostName: String, revision: UInt64
    ) throws(PostgresError) {
        keepsDeclarations = try Self.keepsDeclarations(connection)
        let rows = try connection.run(
            "select id, head, floor, epoch, lineage, system, timeline from "
                + "cubby.hello($1, $2, $3, $4\(keepsDeclarations ? ", 1" : ""))",
            [.text(name), .uuid(host), .text(hostName), .int8(Int64(clamping: revision))])
        number = Int32(clamping: try rows.number(0, 0))
        head = try rows.revision(0, 1)
        floor = try rows.revision(0, 2)
        guard let epoch = try rows.bytes(0, 3), epoch.count == 16 else { throw PostgresResult.badAnswer("no epoch") }
        self.epoch = epoch
        lineage = try rows.bytes(0, 4)
        system = try rows.number(0, 5)
        timeline = try rows.number(0, 6)
    }

    /// Whether the database has the table of declarations, which `migrate` adds to those of an older program.
    static func keepsDeclarations(_ connection: PostgresConnection) throws(PostgresError) -> Bool {
        try connection.run("select to_regclass('cubby.declaration') is not null").bytes(0, 0) == [1]
    }

    /// Checks whether a host that knows a collection can continue with this one.
    ///
    /// - Parameters:
    ///   - known: the collection known to the host.
    ///   - latest: the latest commit known to the host.
    /// - Returns: the error if it cannot continue, otherwise nil.
    func error(knowing known: SharedCollection, _ latest: Lineage) -> PostgresError? {
        if system == known.system, timeline < known.timeline {
            return PostgresError(
                .formerPrimary,
                "this server is a former primary: a standby of it was promoted (timeline \(known.timeline)), and has the "
                    + "collection; stop this one (timeline \(timeline)), and make it a standby of the other")
        }
        guard epoch != known.epoch || head < latest.revision || (latest.revision > 0 && lineage != latest.identifier)
        else { return nil }
        return PostgresError(
            .otherHistory,
            "the collection on the server has another history than this host's: it was restored, or a standby without "
                + "all commits took over; start again to synchronise anew")
    }

    /// The channel for notifications of commits.
    var channel: String { Self.channel(of: epoch) }

    /// The channel of a collection's history.
    static func channel(of epoch: [UInt8]) -> String { "cubby_" + epoch.hexadecimal }
}

extension [UInt8] {
    /// The bytes as pairs of hexadecimal digits.
    var hexadecimal: String {
        let digits = Array<UInt8>("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

/// What a host knows of a collection's log.
struct KnownLog {
    /// The latest revision that the server announced.
    private(set) var latest: UInt64 = 0
    /// The latest commit that the store received or made.
    private(set) var lineage = Lineage()
    /// The names of the hosts that have committed, by identifier.
    var hostNames: [[UInt8]: String] = [:]
    /// The revisions made by this host and present in its store, until the store's revision is past them.
    var localRevisions: Set<UInt64> = []
    /// Commits that arrived with their notifications.
    private var announcements = Announcements()

    /// Records the latest revision of a server that was just connected to. A promoted standby may lack revisions that
    /// the old primary announced, but none that this host has applied.
    mutating func begin(at revision: UInt64) { latest = revision }

    /// Records all items as of a commit.
    mutating func restart(at commit: Lineage) {
        lineage = commit
        announce(commit.revision)
    }

    /// Records a commit that the store received or made.
    mutating func record(_ commit: Lineage) {
        if commit.revision > lineage.revision { lineage = commit }
    }

    /// Records a revision that the server has.
    mutating func announce(_ revision: UInt64) { latest = max(latest, revision) }

    /// Records a notification.
    mutating func announce(_ text: String) { announce(announcements.record(text) ?? 0) }

    /// Removes and returns the commits after a revision that arrived with their notifications; nil if one is missing,
    /// or its host is unknown.
    mutating func takeAnnounced(after revision: UInt64) -> [LoggedCommit]? {
        guard let commits = announcements.take(after: revision, upTo: latest),
            commits.allSatisfy({ hostNames[$0.host] != nil })
        else { return nil }
        return commits
    }

    mutating func forgetAnnouncements() { announcements = Announcements() }
}

/// Small commits that arrived with their notifications, and need no request.
///
/// The channel's name contains the epoch, which is known only to readers of the collection: other users of the database
/// cannot forge a notification.
struct Announcements {
    /// Maximum number of commits kept; the log has the others.
    private static let limit = 256

    /// Oldest first, without a gap.
    private var pending: [(revision: UInt64, words: [Substring])] = []

    /// Records a notification: the revision, the host, the lineage and, of a small commit, the record, in hexadecimal.
    ///
    /// - Returns: the revision; nil if the text is malformed.
    mutating func record(_ text: String) -> UInt64? {
        let words = text.split(separator: " ")
        guard let first = words.first, let revision = UInt64(first), revision < UInt64(Int64.max) else { return nil }
        if let last = pending.last, revision != last.revision + 1 || pending.count >= Self.limit { pending = [] }
        if words.count == 4 { pending.append((revision, Array(words.dropFirst()))) }
        return revision
    }

    /// The commits after a revision up to another; nil if one of them is missing.
    mutating func take(after revision: UInt64, upTo latest: UInt64) -> [LoggedCommit]? {
        let taken = pending.drop { $0.revision <= revision }
        pending = []
        guard taken.first?.revision == revision + 1, taken.last?.revision == latest else { return nil }
        var commits: [LoggedCommit] = []
        for (revision, words) in taken {
            let parts = words.compactMap(Self.bytes)
            guard parts.count == 3 else { return nil }
            commits.append(LoggedCommit(revision: revision, host: parts[0], lineage: parts[1], record: parts[2]))
        }
        return commits
    }

    /// The bytes of hexadecimal digits.
    private static func bytes(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for digit in text.utf8 {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
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

    init(revision: UInt64, host: [UInt8], hostName: String = "", lineage: [UInt8], record: [UInt8]) {
        (self.revision, self.host, self.hostName, self.lineage) = (revision, host, hostName, lineage)
        self.record = record
    }
}
