public import ColumnEngine

/// A commit as it was sent.
struct SentCommit {
    /// Identifies the commit however often it is sent: it cannot be applied twice.
    let token: [UInt8]
    /// The revision that it is based on.
    let seen: UInt64
    /// The keys that its transaction read; null for all.
    let reads: PostgresValue
    let commit: EncodedCommit
}

/// Commits of this host.
extension SharedPersistence {
    public func send(_ commit: borrowing ItemCommit, reads: ItemReads?) throws(StoreError) -> RemoteOutcome {
        let connection = try connected()
        guard let collection else { throw Self.notLoaded }
        let wasInDoubt = inDoubt != nil
        // While a commit is in doubt the store is read-only: the changes are the same.
        let sent =
            inDoubt
            ?? SentCommit(
                token: Self.newIdentifier(), seen: commit.revision.rawValue, reads: Self.value(of: reads),
                commit: EncodedCommit(commit, ranks))
        let encoded = sent.commit
        inDoubt = sent
        let status: Int64
        let made: Lineage
        do throws(StoreError) {
            if !encoded.pictures.isEmpty { try sendPictures(encoded.pictures, to: collection) }
            (status, made) = try asking { () throws(PostgresError) in
                let (status, made) = try send(sent, collection, connection)
                if status == 0 { try setPictures(encoded.pictures, of: collection, connection) }
                if isHolding {
                    isHolding = false
                    try connection.runScript(status == 0 ? "commit" : "rollback")
                }
                return (status, made)
            }
        } catch {
            release()
            // A refusal does not settle an earlier try with a lost answer. Without a server's error nothing was sent.
            if (error.cause as? PostgresError)?.isRefusal ?? true {
                // It is retried after a pause, as after an outage.
                if wasInDoubt { disconnect() } else { inDoubt = nil }
            }
            throw error
        }
        inDoubt = nil
        let revision = made.revision
        switch status {
        case 0, 1:
            statistics.commits += 1
            if status == 1 { statistics.settledInDoubt += 1 }
            for (row, rank) in encoded.newRanks { ranks.set(row, rank) }
            latest = max(latest, revision)
            note(made)
            if revision != sent.seen + 1 { ownRevisions.insert(revision) }
            cache?.add(
                LoggedCommit(
                    revision: revision, host: host, hostName: hostName, lineage: made.identifier, record: encoded.record
                ))
            return .committed(ItemRevision(rawValue: revision))
        case 2:
            statistics.overtaken += 1
            latest = max(latest, revision)
            return .behind
        default:
            let reason = StoreError(
                .inputOutput,
                "the collection on the server has another history than this host's (it was restored, or its log is cut): "
                    + "start again to synchronise anew; what is not committed yet is not kept")
            stop(reason)
            throw reason
        }
    }

    /// Calls the server's function, and returns its status and the revision with its lineage.
    func send(
        _ sent: SentCommit, _ collection: SharedCollection, _ connection: PostgresConnection
    ) throws(PostgresError) -> (status: Int64, made: Lineage) {
        let encoded = sent.commit
        let rows = try connection.run(
            "select status, coalesce(revision, 0), lineage from cubby.commit($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)",
            [
                .int4(collection.number), .uuid(collection.epoch), .int8(Int64(clamping: sent.seen)),
                .uuid(sent.token), .uuid(host), sent.reads,
                .byteArrays(encoded.removed), .byteArrays(encoded.keys), .byteArrays(encoded.ranks),
                .byteArrays(encoded.records), .bytes(encoded.record),
            ], isPrepared: true)
        return (
            try rows.number(0, 0), Lineage(revision: try rows.revision(0, 1), identifier: try rows.bytes(0, 2) ?? [])
        )
    }

    private static func value(of reads: ItemReads?) -> PostgresValue {
        switch reads {
        case nil: .byteArrays([])
        case .whole: .nullByteArrays
        case .keys(let keys): .byteArrays(keys.map { $0.withUnsafeBufferPointer(EncodedCommit.key) })
        }
    }

    public func hold() throws(StoreError) {
        let connection = try connected()
        guard let collection else { throw Self.notLoaded }
        latest = max(
            latest,
            try asking { () throws(PostgresError) in
                try connection.runScript("begin; \(Self.limitsIdling)")
                isHolding = true
                return try connection.run("select cubby.hold($1)", [.int4(collection.number)]).revision(0, 0)
            })
    }

    public func release() {
        guard isHolding else { return }
        isHolding = false
        guard let connection, connection.isOpen, !isAsking else { return }
        try? asking { () throws(PostgresError) in try connection.runScript("rollback") }
    }

    /// A transaction may lock the collection for 5 s between two of its commands: a host that dies or hangs must not
    /// block the others for long.
    static let limitsIdling = "set local idle_in_transaction_session_timeout = '5s'"

    public func abandonCommit() -> Bool {
        defer { inDoubt = nil }
        return inDoubt != nil
    }
}
