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
}

extension SharedCollection {
    /// Registers a host, and finds the collection.
    init(
        _ connection: PostgresConnection, _ name: String, host: [UInt8], hostName: String, revision: UInt64
    ) throws(PostgresError) {
        let rows = try connection.run(
            "select id, head, floor, epoch, lineage, system, timeline from cubby.hello($1, $2, $3, $4)",
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

    /// Checks whether a host that knows a collection can continue with this one.
    ///
    /// - Parameters:
    ///   - known: the collection known to the host.
    ///   - latest: the latest commit known to the host.
    /// - Returns: the error if it cannot continue, otherwise nil.
    func refusal(knowing known: SharedCollection, _ latest: Lineage) -> PostgresError? {
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
    var channel: String {
        let digits = Array("0123456789abcdef")
        return "cubby_" + String(epoch.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
