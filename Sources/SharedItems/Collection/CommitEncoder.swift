package import ColumnEngine
import Files
import ItemArchive
import PropertyList

/// A commit encoded for the server: its net changes, as the items of the table and as a record of the log.
struct EncodedCommit {
    /// The keys of removed items.
    var removed: [[UInt8]] = []
    /// The keys, ranks and records of inserted or changed items.
    var keys: [[UInt8]] = []
    var ranks: [[UInt8]] = []
    var records: [[UInt8]] = []
    /// The changes, for the other hosts.
    var record: [UInt8] = []
    /// The values of unique fields that items got: see ``UniqueClaim``.
    var claims: [[UInt8]] = []
    /// All declarations after the commit, for the server, if it declares fields; empty bytes for none.
    var declarations: [UInt8]?
    /// The pictures of changed items, by key.
    var pictures: [CommittedPicture] = []
    /// The ranks that the commit assigns, by row.
    var newRanks: [(row: UInt32, rank: [UInt8])] = []

    /// The net effect on a row.
    private struct Effect {
        let row: UInt32
        var wasThere: Bool
        var isThere: Bool
        /// Whether the item was removed or inserted in between.
        var isWhole = false
        var fields: [UInt32] = []
        var isMoved = false
    }

    /// A commit whose items the caller adds.
    init(removed: [[UInt8]], record: [UInt8]) {
        (self.removed, self.record) = (removed, record)
    }

    init(_ commit: borrowing ItemCommit, _ table: RankTable) {
        let rows = commit.rows
        let effects = Self.effects(commit.changes)
        if let field = rows.attachmentField { pictures = Self.pictures(effects, rows, field) }
        newRanks = Self.newRanks(effects, rows, table)
        var changes = JournalEncoder(rows)
        let declared = commit.changes.lazy.filter { $0.kind == .declare }
        if let first = declared.first, let last = declared.last, first.position != last.field {
            changes.declaration(last.field)
            declarations = Self.record(of: rows.declarations(ofVersion: last.field))
        }
        claims = Self.claims(effects, rows)
        let fields = rows.schema.numbers
        for effect in effects where effect.wasThere && effect.isWhole {
            changes.removal(effect.row)
            removed.append(Self.key(effect.row, rows))
        }
        for (place, effect) in effects.enumerated() where effect.isThere {
            if place + Self.lookahead < effects.count {
                // Many items, each somewhere else: their cache misses overlap.
                for field in fields { rows.prefetchChanged(effects[place + Self.lookahead].row, field) }
            }
            if effect.isWhole {
                changes.insertion(effect.row, at: nil)
            } else {
                for field in effect.fields { changes.assignment(effect.row, field) }
            }
        }
        for (row, rank) in newRanks { changes.rank(row, rank) }
        record = RecordChecksum.sealed(changes.bytes)
        let given = Dictionary(newRanks, uniquingKeysWith: { $1 })
        var touched = effects.lazy.filter(\.isThere).map(\.row) + []
        if !newRanks.isEmpty {
            let known = Set(effects.lazy.map(\.row))
            touched += newRanks.lazy.map(\.row).filter { !known.contains($0) }
        }
        for row in touched {
            guard let rank = given[row] ?? table[row] else { continue }
            keys.append(Self.key(row, rows))
            ranks.append(rank)
            var item = JournalEncoder(rows)
            item.reserveCapacity(128)
            item.insertion(row, at: nil)
            records.append(RecordChecksum.sealed(item.bytes, rank: rank))
        }
    }

    /// The changed rows, in the order of their first changes.
    private static func effects(_ changes: [Change]) -> [Effect] {
        var effects: [Effect] = []
        var places: [UInt32: Int] = [:]
        func record(_ row: UInt32, wasThere: Bool, _ change: (inout Effect) -> Void) {
            let place = places[row] ?? effects.count
            if place == effects.count {
                places[row] = place
                effects.append(Effect(row: row, wasThere: wasThere, isThere: wasThere))
            }
            change(&effects[place])
        }
        for change in changes {
            switch change.kind {
            case .append, .insert:
                for row in change.rows {
                    record(row, wasThere: false) { ($0.isThere, $0.isWhole) = (true, true) }
                }
            case .remove: record(change.row, wasThere: true) { ($0.isThere, $0.isWhole) = (false, true) }
            case .set:
                record(change.row, wasThere: true) {
                    if !$0.fields.contains(change.field) { $0.fields.append(change.field) }
                }
            case .move: record(change.row, wasThere: true) { $0.isMoved = true }
            case .declare: continue
            }
        }
        return effects
    }

    /// What is declared, as the server keeps it: a value with a checksum; empty for nothing.
    static func record(of declarations: FieldDeclarations) -> [UInt8] {
        if declarations.isEmpty { return [] }
        var writer = RecordWriter()
        writer.value(declarations.record)
        return RecordChecksum.sealed(writer.bytes)
    }

    /// The SHA-256 of what the commit writes, by which the server finds that other bytes came.
    var digest: [UInt8] {
        var digest = SHA256()
        for part in [removed, keys, ranks, records, claims, [record]] {
            PostgresValue.byteArrays(part).encoded?.withUnsafeBytes { digest.update($0) }
        }
        if let declarations { ([1] + declarations).withUnsafeBytes { digest.update($0) } }
        return digest.finish()
    }

    private static func claims(_ effects: [Effect], _ rows: ColumnStore) -> [[UInt8]] {
        let (unique, references) = (rows.uniqueFields, rows.references)
        if unique.isEmpty, references.isEmpty { return [] }
        var claims: Set<[UInt8]> = []
        for effect in effects where effect.isThere {
            for field in unique where effect.isWhole || effect.fields.contains(field.rawValue) {
                let claim = rows.value(effect.row, field).flatMap {
                    UniqueClaim.bytes(of: $0, in: rows.name(of: field))
                }
                if let claim { claims.insert(claim) }
            }
            for (field, declaration) in references where effect.isWhole || effect.fields.contains(field.rawValue) {
                claims.formUnion(UniqueClaim.references(by: rows.value(effect.row, field), declaration))
            }
        }
        let kinds = Set(references.compactMap(\.declaration.references?.kind))
        for effect in effects where !effect.isThere {
            for kind in kinds where rows.isOf(kind, effect.row) {
                claims.formUnion(rows.ids(effect.row).map { UniqueClaim.item(kind, $0) })
            }
        }
        return Array(claims)
    }

    /// The pictures of the changed items after the commit. They are ordered by key, so that two hosts do not deadlock.
    private static func pictures(
        _ effects: [Effect], _ rows: ColumnStore, _ field: ItemField
    ) -> [CommittedPicture] {
        // A removed item may have been inserted again with the same key in another row.
        var digests: [[UInt8]: [[UInt8]]] = [:]
        for effect in effects where effect.isWhole || effect.fields.contains(field.rawValue) {
            let present = rows.digests(effect.row)
            if effect.isThere, !present.isEmpty {
                digests[key(effect.row, rows)] = present
            } else if effect.wasThere, !present.isEmpty || effect.fields.contains(field.rawValue) {
                digests[key(effect.row, rows), default: []] += []
            }
        }
        return digests.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap {
            CommittedPicture.all($0.value, of: $0.key)
        }
    }

    /// Prefetch distance in items.
    private static let lookahead = 12

    // MARK: Ranks

    /// Ranks for inserted and moved items, between those of their current neighbours.
    private static func newRanks(
        _ effects: [Effect], _ rows: ColumnStore, _ table: RankTable
    ) -> [(row: UInt32, rank: [UInt8])] {
        let placed = effects.filter { $0.isThere && ($0.isWhole || $0.isMoved) }
        guard !placed.isEmpty else { return [] }
        let positions = placed.map { rows.position(of: $0.row) }.sorted()
        var ranks: [(UInt32, [UInt8])] = []
        var source = SystemRandomNumberGenerator()
        var start = 0
        while start < positions.count {
            var end = start + 1
            while end < positions.count, positions[end] == positions[end - 1] + 1 { end += 1 }
            let first = positions[start]
            let low =
                first == 0
                ? nil
                : ranks.last.flatMap { $0.0 == rows.row(at: first - 1) ? $0.1 : nil }
                    ?? table[rows.row(at: first - 1)]
            // If ranks grow long, more of the neighbours get new ones.
            var last = positions[end - 1]
            var reach = 1
            while true {
                let high = last + 1 < rows.count ? table[rows.row(at: last + 1)] : nil
                let made = Rank.ranks(last - first + 1, after: low, before: high) { source.next() }
                if made.allSatisfy({ $0.count <= Rank.longLength }) || last + 1 >= rows.count {
                    for (offset, rank) in made.enumerated() { ranks.append((rows.row(at: first + offset), rank)) }
                    break
                }
                last = min(last + reach, rows.count - 1)
                reach *= 2
            }
            while end < positions.count, positions[end] <= last { end += 1 }
            start = end
        }
        return ranks
    }

    /// A key's bytes in the encoding of records, from its text.
    static func key(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var writer = RecordWriter()
        writer.key(text)
        return writer.bytes
    }

    /// An item's key in the encoding of records.
    private static func key(_ row: UInt32, _ rows: ColumnStore) -> [UInt8] {
        var writer = RecordWriter()
        writer.key(row, rows)
        return writer.bytes
    }
}

extension [EncodedCommit] {
    /// The error of a server that refuses what they have, with the name of the item; any other error as it is.
    func named(in error: StoreError, _ end: String = "") -> StoreError {
        guard case .invalidValue = error.code, let key = lazy.flatMap({ $0.keys + $0.removed }).first,
            let name = key.withUnsafeBytes({ try? RecordChange.key($0) })
        else { return error }
        let count = reduce(0) { $0 + $1.keys.count + $1.removed.count }
        let first = VisibleText.line(name.shortened(to: 60))
        let items = count == 1 ? "the item \(first)" : "\(count.counted("item")), the first of them \(first)"
        return StoreError(error.code, "\(items): \(error.message)\(end)", cause: error.cause)
    }
}

/// A commit as it was sent.
struct SentCommit {
    /// Identifies the commit however often it is sent: it cannot be applied twice.
    let token: [UInt8]
    /// The revision that it is based on.
    let seen: UInt64
    /// The keys that its transaction read; null for all.
    let reads: PostgresValue
    let commit: EncodedCommit

    /// A commit with a token.
    init(token: [UInt8], seen: UInt64, reads: PostgresValue, commit: EncodedCommit) {
        (self.token, self.seen, self.reads, self.commit) = (token, seen, reads, commit)
    }

    /// A commit that was not sent before.
    init(_ commit: borrowing ItemCommit, _ reads: ItemReads?, _ encoded: EncodedCommit) {
        let all: PostgresValue =
            switch reads {
            // What is declared was checked against all items.
            case _ where encoded.declarations != nil: .nullByteArrays
            case nil: .byteArrays([])
            case .whole: .nullByteArrays
            case .keys(let keys): .byteArrays(keys.map { $0.withUnsafeBufferPointer(EncodedCommit.key) })
            }
        self.init(
            token: SharedPersistence.newIdentifier(), seen: commit.revision.rawValue, reads: all, commit: encoded)
    }
}

/// Commits of this host.
extension SharedPersistence {
    package func send(_ commit: borrowing ItemCommit, reads: ItemReads?) throws(StoreError) -> RemoteOutcome {
        let (connection, collection) = try server.reached()
        let wasInDoubt = inDoubt != nil
        // While a commit is in doubt the store is read-only: the changes are the same.
        let sent = inDoubt ?? SentCommit(commit, reads, EncodedCommit(commit, places.ranks))
        let encoded = sent.commit
        let rows = try publishedRows(of: encoded)
        inDoubt = sent
        let status: Int64
        let made: Lineage
        var remote: [LoggedCommit] = []
        do throws(StoreError) {
            if !encoded.pictures.isEmpty { try sendPictures(encoded.pictures, to: collection) }
            (status, made) = try server.asking { () throws(PostgresError) in
                let (answer, areFlushed) = try server.makeCommit(
                    call(sent, rows, collection, remoteLimit: Self.remoteLimit), connection)
                let (status, made) = try outcome(answer)
                if status == 0 { try setPictures(encoded.pictures, of: collection, connection) }
                try server.end(connection, commits: status == 0)
                // The end of a commit flushes what was committed before.
                if collection.returnsRemoteCommits, status == 0 || status == 2 && areFlushed {
                    remote = try remoteCommits(
                        answer, after: sent.seen, through: status == 0 ? made.revision - 1 : made.revision)
                }
                return (status, made)
            }
        } catch {
            release()
            if (error.cause as? PostgresError)?.isOvertaken ?? false {
                inDoubt = nil
                server.statistics.overtaken += 1
                return .behind
            }
            if server.knowsOtherPublication(error) {
                inDoubt = nil
                try server.askForPublication()
                return .behind
            }
            // A denial does not settle an earlier try with a lost answer. Without a server's error nothing was sent.
            if (error.cause as? PostgresError)?.isDenial ?? true {
                // It is retried after a pause, as after an outage.
                if wasInDoubt { server.disconnect() } else { inDoubt = nil }
            }
            // Changes whose fate is unknown are kept.
            if wasInDoubt, case .invalidValue = error.code {
                throw StoreError(.inputOutput, error.message, cause: error.cause)
            }
            throw [encoded].named(in: error, " (these changes were rolled back)")
        }
        inDoubt = nil
        let revision = made.revision
        switch status {
        case 0, 1:
            server.statistics.commits += 1
            if status == 1 { server.statistics.settledInDoubt += 1 }
            for (row, rank) in encoded.newRanks { places.ranks.set(row, rank) }
            server.log.announce(revision)
            server.log.flushed(through: revision)
            server.log.record(made)
            if revision != sent.seen + 1 {
                server.log.meet()
                server.log.localRevisions.insert(revision)
            }
            let logged = LoggedCommit(
                revision: revision, host: server.host, hostName: hostName, lineage: made.identifier,
                record: encoded.record)
            cache?.add(logged)
            if !remote.isEmpty {
                server.log.receive(remote.last?.revision == revision - 1 ? remote + [logged] : remote)
            }
            return .committed(ItemRevision(rawValue: revision))
        case 2:
            server.statistics.overtaken += 1
            server.log.meet()
            server.log.announce(revision)
            if let last = remote.last {
                server.log.flushed(through: last.revision)
                server.log.receive(remote)
            }
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

    /// The most commits of others that come with the answer to a commit.
    private static let remoteLimit: Int32 = 64

    /// The commits of others that came with the answer to a commit, from the one after the host's revision on.
    ///
    /// - Parameters:
    ///   - answer: the function's rows.
    ///   - seen: the host's revision.
    ///   - last: the last commit that there is. If the log lacks one, whoever reads the log finds that.
    /// - Returns: the commits, without those behind a long one; none if there are too many or one is missing.
    /// - Throws: ``PostgresError`` for bytes that are not an array.
    private func remoteCommits(
        _ answer: PostgresResult, after seen: UInt64, through last: UInt64
    ) throws(PostgresError) -> [LoggedCommit] {
        let found = try answer.byteArrays(0, 3)
        guard last > seen, UInt64(found.count) == last - seen else { return [] }
        var commits: [LoggedCommit] = []
        // A host's identifier and a lineage, then the record.
        for (revision, bytes) in zip((seen + 1)..., found) {
            guard let bytes, bytes.count >= 48 else { break }
            commits.append(
                LoggedCommit(
                    revision: revision, host: Array(bytes[..<16]), lineage: Array(bytes[16..<48]),
                    record: Array(bytes[48...])))
        }
        return commits
    }

    /// The call of the server's function that makes a commit.
    func command(
        _ sent: SentCommit, _ collection: SharedCollection, remoteLimit: Int32
    ) throws(PostgresError) -> PostgresConnection.Command {
        let encoded = sent.commit
        var parameters: [PostgresValue] = [
            .int4(collection.number), .uuid(collection.epoch), .int8(Int64(clamping: sent.seen)),
            .uuid(sent.token), .uuid(server.host), sent.reads,
            .byteArrays(encoded.removed), .byteArrays(encoded.keys), .byteArrays(encoded.ranks),
            .byteArrays(encoded.records), .bytes(encoded.record),
        ]
        if collection.keepsDeclarations {
            parameters += [.byteArrays(encoded.claims), encoded.declarations.map { .bytes($0) } ?? .null]
            if collection.checksDigests || collection.returnsRemoteCommits {
                parameters.append(.bytes(encoded.digest))
            }
            if collection.returnsRemoteCommits { parameters.append(.int4(remoteLimit)) }
        } else if encoded.declarations != nil {
            throw PostgresError(.unusable, "the collection's tables, of an older program, keep no declarations")
        }
        let places = (1...parameters.count).map { "$\($0)" }.joined(separator: ",")
        let remote = collection.returnsRemoteCommits ? ", others" : ""
        let columns = "status, coalesce(revision, 0) as revision, lineage\(remote)"
        return ("select \(columns) from cubby.commit(\(places))", parameters)
    }

    /// The function's answer: its status, and the revision with its lineage.
    func outcome(_ rows: PostgresResult) throws(PostgresError) -> (status: Int64, made: Lineage) {
        (
            try rows.number(0, 0), Lineage(revision: try rows.revision(0, 1), identifier: try rows.bytes(0, 2) ?? [])
        )
    }

    package func hold() throws(StoreError) { try server.hold() }

    package func release() { server.release() }

    package func abandonCommit() -> Bool { inDoubt.take() != nil }
}
