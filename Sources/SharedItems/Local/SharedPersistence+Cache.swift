package import ColumnEngine
import Files
import ItemArchive

/// The collection's items in the host's container, for the next start.
extension SharedPersistence {
    public var closedPaths: [String] { [cache?.path, queue?.path].compactMap { $0 } }

    /// Whether the container has the collection's items.
    var hasCache: Bool { cache.map { $0.layer.exists($0.path) } ?? false }

    // MARK: Reading

    /// The content of the cache; nil if none is usable.
    func readCache(_ report: inout ItemLoadReport) -> CachedCollection? {
        guard let cache else { return nil }
        if let peeked = local.peeked { return peeked }
        do throws(StoreError) { return try cache.read() } catch {
            quarantineCache(error.message, &report)
            return nil
        }
    }

    /// The reason why the server's collection is not the cached one; nil if it is.
    func reasonAgainst(_ cached: CachedCollection) throws(StoreError) -> String? {
        guard let collection = server.collection, let connection = server.connection else { return nil }
        let newest = cached.newest
        let other = "the collection on the server has another history: it was made anew, or restored from a backup"
        if cached.collection.epoch != collection.epoch { return other }
        if (cached.ahead.last?.revision ?? newest.revision) > collection.head { return other }
        var lineage = collection.lineage
        if collection.knownRevision != newest.revision {
            lineage = try server.asking { () throws(PostgresError) in
                let rows = try connection.run(
                    "select lineage from cubby.log where collection = $1 and revision = $2",
                    [.int4(collection.number), .int8(Int64(clamping: newest.revision))])
                return rows.rowCount == 1 ? try rows.bytes(0, 0) : nil
            }
        }
        // The log may begin after it.
        guard let lineage, !newest.identifier.isEmpty else { return nil }
        return lineage == newest.identifier ? nil : other
    }

    /// Moves the cache to another name, and reports it. Pending commits on the former collection need to be settled.
    func quarantineCache(_ reason: String, _ report: inout ItemLoadReport) {
        guard let cache, !opensReadOnly else { return }
        var addition = ""
        if let path = try? cache.quarantine() {
            report.quarantinedFiles.append(path)
            addition = "; what this host had is kept in \(DisplayPath.abbreviate(path))"
        }
        report.notices.append("all items are fetched anew (\(reason))\(addition)")
    }

    /// Loads the cached items and commits.
    func load(
        _ cached: CachedCollection, into loader: ItemLoader, _ report: inout ItemLoadReport
    ) throws(StoreError) {
        loader.reserve(cached.count)
        try cached.forEachItem { (rank, record) throws(StoreError) in
            places.ranks.set(try loader.addRecord(record), rank)
        }
        if !cached.declarations.isEmpty { try loader.declare(cached.declarations) }
        report.archivedItems = cached.count
        report.revision.rawValue = cached.revision
        for commit in cached.commits + cached.ahead {
            let isAhead = commit.revision > report.revision.rawValue + 1
            if isAhead, commit.host != server.host { continue }
            server.log.hostNames[commit.host] = commit.hostName
            let changes = try RecordChecksum.changes(of: commit.record, loader.store.schema)
            try replay(Self.remoteChanges(changes), loader)
            if isAhead {
                server.log.localRevisions.insert(commit.revision)
            } else {
                report.revision.rawValue = commit.revision
            }
        }
        report.replayedRecords = cached.commits.count
        server.log.record(cached.newest)
        server.log.announce(report.revision.rawValue)
        if !opensReadOnly { cache?.resume(cached) }
    }

    /// Fetches the later commits from the server, for as long as a request may take. A long time away, a slow link and
    /// hosts that commit all the time leave some for later.
    func catchUp(_ loader: ItemLoader, _ report: inout ItemLoadReport) throws(StoreError) {
        let end = Deadline(seconds: server.timeLimit)
        while mayHaveCommits(after: report.revision), !end.hasPassed {
            let commits = try takeCommits(after: report.revision)
            if commits.isEmpty { return }
            for commit in commits where commit.revision > report.revision {
                try replay(commit.changes, loader)
                report.revision = commit.revision
                didApply(commit)
            }
        }
    }

    /// Applies changes to a store that is being loaded.
    func replay(_ changes: some Sequence<RemoteChange>, _ loader: ItemLoader) throws(StoreError) {
        try loader.replaying { () throws(StoreError) in
            for change in changes {
                try loader.store.perform(placed(change, among: []))
                didApply(change)
            }
        }
    }

    // MARK: Writing

    /// Asked before the folder of the collection is known.
    package var keepsDocument: Bool { local.folders != nil }
    package var hasArchive: Bool { cache?.exists ?? false }
    package var archivePath: String? { nil }
    package var isJournalLong: Bool { canReplace && cache.map { $0.isLong || !$0.exists } ?? false }

    /// False while the items match no revision: commits are queued, or an own one follows missing ones of others.
    package var canReplace: Bool {
        !opensReadOnly && cache != nil && server.collection != nil && inDoubt == nil
            && server.log.localRevisions.isEmpty
            && !hasPendingCommits
    }

    package func beginReplacement(
        _ snapshot: ItemSnapshot, at revision: ItemRevision
    ) throws(StoreError) -> any ItemReplacement {
        guard let cache, let collection = server.collection else { throw Self.notLoaded }
        let lineage = server.log.lineage
        let identifier = lineage.revision == revision.rawValue ? lineage.identifier : []
        return cache.beginReplacement(
            snapshot, places.ranks, collection, Lineage(revision: revision.rawValue, identifier: identifier))
    }

    package func finish(_ replacement: any ItemReplacement) throws(StoreError) {
        guard let replacement = replacement as? CacheReplacement else { return }
        try cache?.finish(replacement)
        setIncomplete(!noticesOfLeftOut.isEmpty)
    }

    package func abandon(_ replacement: any ItemReplacement) {
        guard let replacement = replacement as? CacheReplacement else { return }
        cache?.abandon(replacement)
    }
}

/// A new cache being written to a temporary file beside the old one.
final class CacheReplacement: ItemReplacement, @unchecked Sendable {
    // Guard: one thread writes; the store's thread waits for its end before it continues with the output.
    var revision: UInt64 { lineage.revision }
    private let lineage: Lineage
    private let collection: SharedCollection
    private let path: String
    private let layer: any FileLayer
    private let snapshot: ItemSnapshot
    private let ranks: RankTable
    private let header: JournalHeader
    private var sequence: UInt64 = 1
    private var output: AtomicFileWriter?

    /// Bytes of items per record.
    private static let pieceLength = 1 << 20

    init(
        _ cache: SharedCache, _ snapshot: ItemSnapshot, _ ranks: RankTable, _ collection: SharedCollection,
        _ lineage: Lineage
    ) {
        (path, layer) = (cache.path, cache.layer)
        (self.snapshot, self.ranks, self.collection, self.lineage) = (snapshot, ranks, collection, lineage)
        var header = JournalHeader(
            archive: SharedCache.identity(of: collection.epoch), identifier: .random(in: 0 ... .max),
            firstSequence: 1)
        if snapshot.hasMisfits { header.version = JournalHeader.carryingVersion }
        if !snapshot.declarations.isEmpty { header.version = JournalHeader.declaringVersion }
        if collection.fields != nil { header.version = JournalHeader.latestVersion }
        self.header = header
    }

    func write() throws(StoreError) {
        do throws(FileError) { try writeAll() } catch {
            output = nil
            throw StoreError(.inputOutput, error.message, path: path, cause: error)
        }
    }

    private func writeAll() throws(FileError) {
        try layer.makeDirectories(PathText.parent(of: path))
        let output = try AtomicFileWriter(path, using: layer, permissions: 0o600)
        self.output = output
        try output.append(header.bytes)
        var head = Self.newRecord()
        head.fixed(revision)
        head.piece(lineage.identifier)
        head.fixed(collection.server.system)
        head.fixed(collection.server.timeline)
        head.varint(UInt64(snapshot.count))
        if let fields = collection.fields { head.piece(fields) }
        try add(&head, to: output)
        let declared = JournalRecord.declarations(
            snapshot.declarations, sequence: sequence, identifier: header.identifier)
        if !declared.isEmpty { try output.append(declared) }
        var piece = Self.newRecord()
        var item = RecordWriter()
        for position in 0..<snapshot.count {
            guard let rank = ranks[snapshot.row(at: position)] else { continue }
            item.bytes.removeAll(keepingCapacity: true)
            item.item(snapshot, at: position)
            piece.piece(rank)
            piece.piece(item.bytes)
            if piece.bytes.count >= Self.pieceLength { try add(&piece, to: output) }
        }
        try add(&piece, to: output)
    }

    private static func newRecord() -> RecordWriter {
        RecordWriter([UInt8](repeating: 0, count: JournalRecord.headerLength))
    }

    private func add(_ record: inout RecordWriter, to output: AtomicFileWriter) throws(FileError) {
        JournalRecord.seal(&record.bytes, kind: .checkpoint, sequence: sequence, identifier: header.identifier)
        sequence += 1
        try output.append(record.bytes)
        record.bytes.removeLast(record.bytes.count - JournalRecord.headerLength)
    }

    /// Moves the new file into place.
    ///
    /// - Returns: the writer that continues it.
    func putInPlace() throws(FileError) -> JournalWriter? {
        guard let output else { return nil }
        self.output = nil
        try output.commit(durable: true)
        return try JournalWriter(path, header, sequence, length: output.count, using: layer)
    }

    /// Removes the temporary file.
    func remove() { output = nil }
}

extension SharedCache {
    /// A history's identifier, for the header's field that otherwise identifies a journal's archive.
    static func identity(of epoch: [UInt8]) -> ArchiveIdentity {
        let halves = epoch.withUnsafeBytes { bytes in
            bytes.count < 16
                ? (0, 0)
                : (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        return ArchiveIdentity(size: halves.0, checksum: halves.1)
    }

    static func epoch(of header: JournalHeader) -> [UInt8] {
        withUnsafeBytes(of: (header.archive.size, header.archive.checksum)) { Array($0) }
    }
}
