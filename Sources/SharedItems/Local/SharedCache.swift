import ColumnEngine
import Files
import ItemArchive

/// A host's copy of a collection between two runs: all items as of one revision, and the commits since.
///
/// It is one file in the format of a journal. The first record has the revision and the number of the items, and their
/// fields if they are not a household's; the next ones have the items in pieces; each later one is a commit. A commit
/// of this host can precede earlier remote ones. Only the duration of the next start depends on the file: a write error
/// ends the cache until the next save, and an unreadable cache is fetched again.
final class SharedCache {
    let path: String
    let layer: any FileLayer
    private var writer: JournalWriter?
    /// The latest revision up to which the cache has every commit.
    private(set) var revision: UInt64 = 0
    /// Revisions beyond a gap.
    private var ahead: Set<UInt64> = []
    /// Commits that the store has taken, and may not have yet, by revision.
    private var expected: [UInt64: LoggedCommit] = [:]
    /// The commits since the snapshot of the replacement under way.
    private var following: [LoggedCommit]?
    private(set) var exists = false
    /// Whether so many commits were added since the items were written that the file should be rewritten.
    var isLong: Bool { (writer?.length ?? 0) > max(2 * itemsLength, 64 << 20) }
    private var itemsLength = 0
    /// The write error after which nothing is added.
    private(set) var failure: FileError?

    init(_ path: String, using layer: any FileLayer) {
        self.path = path
        self.layer = layer
    }

    // MARK: Reading

    /// Reads the file.
    ///
    /// - Returns: nil when there is none.
    /// - Throws: `StoreError` with `corruptJournal` if it is unusable.
    func read() throws(StoreError) -> CachedCollection? {
        let bytes: [UInt8]
        do throws(FileError) {
            guard try layer.status(path) != nil else { return nil }
            bytes = try layer.contents(of: path)
        } catch {
            throw StoreError(.inputOutput, error.message, path: path, cause: error)
        }
        let found = try CachedCollection(bytes)
        exists = true
        revision = found.commits.last?.revision ?? found.revision
        ahead = Set(found.ahead.map(\.revision))
        itemsLength = found.itemsLength
        return found
    }

    /// Continues a file that was read.
    func resume(_ found: CachedCollection) {
        attempt { () throws(FileError) in
            let writer = try JournalWriter(
                path, found.header, found.nextSequence, length: found.intactLength, using: layer)
            if found.isCut { try writer.cut() }
            self.writer = writer
        }
    }

    /// Moves the file to an unused name, where it stays.
    ///
    /// - Returns: the path; nil when there is no file.
    func quarantine() throws(StoreError) -> String? {
        writer = nil
        exists = false
        do throws(FileError) { return try QuarantinedFile.move(path, using: layer) } catch {
            throw StoreError(.inputOutput, error.message, path: path, cause: error)
        }
    }

    // MARK: Writing

    /// Remembers a commit that the store has taken, until it is added.
    func expect(_ commit: LoggedCommit) { expected[commit.revision] = commit }

    /// Adds the expected commit with a revision, which the store has by now.
    func add(expected revision: UInt64) { if let commit = expected.removeValue(forKey: revision) { add(commit) } }

    /// Adds a commit, unless it is present already.
    func add(_ commit: LoggedCommit) {
        guard writer != nil || following != nil, commit.revision > revision, !ahead.contains(commit.revision) else {
            return
        }
        if commit.revision == revision + 1 {
            revision = commit.revision
            while ahead.remove(revision + 1) != nil { revision += 1 }
        } else {
            ahead.insert(commit.revision)
        }
        following?.append(commit)
        write(commit)
    }

    private func write(_ commit: LoggedCommit) {
        guard let writer else { return }
        var record = commit.cached
        attempt { () throws(FileError) in try writer.append(&record, kind: .changes, durable: false) }
    }

    /// Ensures that the added commits survive a power cut.
    func synchronize() {
        attempt { () throws(FileError) in try writer?.synchronize() }
    }

    private func attempt(_ body: () throws(FileError) -> Void) {
        do throws(FileError) { try body() } catch {
            // The commits up to here remain usable as a cache; the next save begins a new one.
            failure = error
            writer = nil
        }
    }

    /// Ends the file, which has commits missing: the next save begins a new one.
    func discontinue() {
        writer = nil
        following = nil
        exists = false
        (ahead, expected) = ([], [:])
    }

    // MARK: Replacing

    /// Prepares to write a snapshot's items as of a revision. Commits may be added before it is finished.
    func beginReplacement(
        _ snapshot: ItemSnapshot, _ ranks: RankTable, _ collection: SharedCollection, _ lineage: Lineage
    ) -> CacheReplacement {
        following = []
        return CacheReplacement(self, snapshot, ranks, collection, lineage)
    }

    func abandon(_ replacement: CacheReplacement) {
        following = nil
        replacement.remove()
    }

    /// Replaces the file, and appends the commits that arrived meanwhile.
    func finish(_ replacement: CacheReplacement) throws(StoreError) {
        let commits = following ?? []
        following = nil
        do throws(FileError) {
            writer = try replacement.putInPlace()
        } catch {
            throw StoreError(.inputOutput, error.message, path: path, cause: error)
        }
        (exists, failure, itemsLength) = (true, nil, writer?.length ?? 0)
        revision = max(revision, replacement.revision)
        ahead = ahead.filter { $0 > revision }
        for commit in commits where commit.revision > replacement.revision { write(commit) }
    }
}

extension LoggedCommit {
    /// The commit as a record of the cache: space for the header, then revision, host, its name, lineage, and changes.
    fileprivate var cached: [UInt8] {
        var writer = RecordWriter([UInt8](repeating: 0, count: JournalRecord.headerLength))
        writer.fixed(revision)
        writer.bytes += host
        writer.text(hostName)
        writer.piece(lineage)
        writer.bytes += record
        return writer.bytes
    }

    /// Decodes such a record.
    init(cached: UnsafeRawBufferPointer) throws(StoreError) {
        var reader = RecordReader(cached)
        revision = try reader.revision()
        host = [UInt8](try reader.piece(16))
        hostName = try reader.string()
        lineage = [UInt8](try reader.piece(try reader.varint()))
        record = [UInt8](try reader.rest())
    }
}

extension RecordReader {
    /// A revision: a number that the server can have, so that it has a successor.
    fileprivate mutating func revision() throws(StoreError) -> UInt64 {
        let revision = try fixed(UInt64.self)
        guard revision < UInt64(Int64.max) else { throw corrupt("a revision is none") }
        return revision
    }
}

/// The content of a ``SharedCache``'s file. The bytes are not trusted: each step is checked.
struct CachedCollection {
    let header: JournalHeader
    /// The server's collection, as far as the cache describes it.
    let collection: SharedCollection
    /// The revision of the items.
    var revision: UInt64 { lineage.revision }
    private let lineage: Lineage
    let count: Int
    /// The commits after it, without a gap.
    private(set) var commits: [LoggedCommit] = []
    /// Commits beyond a gap: the host's own, which may follow remote commits that had not arrived.
    private(set) var ahead: [LoggedCommit] = []
    let nextSequence: UInt64
    let intactLength: Int
    /// Whether unusable bytes follow the intact records.
    let isCut: Bool
    /// The bytes up to the end of the items.
    private(set) var itemsLength = 0

    /// What is declared as of the items.
    private(set) var declarations = FieldDeclarations()

    private let bytes: [UInt8]
    private var pieces: [Range<Int>] = []

    /// - Throws: `StoreError` with `corruptJournal` if the items are incomplete.
    init(_ bytes: [UInt8]) throws(StoreError) {
        self.bytes = bytes
        let scan = try bytes.withBytes { (bytes) throws(StoreError) in try JournalScan(bytes) }
        header = scan.header
        nextSequence = scan.nextSequence
        intactLength = scan.intactLength
        isCut = scan.damage != nil
        guard let first = scan.records.first, first.kind == .checkpoint else {
            throw StoreError(.corruptJournal, "the cache has no items")
        }
        let epoch = SharedCache.epoch(of: header)
        (collection, lineage, count) = try bytes.withBytes { (bytes) throws(StoreError) in
            var reader = RecordReader(UnsafeRawBufferPointer(rebasing: bytes[first.payload]))
            let lineage = Lineage(
                revision: try reader.revision(),
                identifier: [UInt8](try reader.piece(try reader.varint())))
            var known = SharedCollection(
                number: 0, head: lineage.revision, floor: 0, epoch: epoch, lineage: nil,
                server: ServerIdentity(system: try reader.fixed(Int64.self), timeline: try reader.fixed(Int64.self)))
            let count = try reader.varint()
            // Each item takes more than a byte.
            guard count <= UInt64(bytes.count) else { throw reader.corrupt("there are more items than bytes") }
            if !reader.isAtEnd { known.fields = [UInt8](try reader.piece(try reader.varint())) }
            return (known, lineage, Int(count))
        }
        var later: [UInt64: LoggedCommit] = [:]
        for record in scan.records.dropFirst() {
            switch record.kind {
            case .checkpoint:
                pieces.append(record.payload)
                itemsLength = record.payload.upperBound
            case .changes:
                let commit = try bytes.withBytes { (bytes) throws(StoreError) in
                    try LoggedCommit(cached: UnsafeRawBufferPointer(rebasing: bytes[record.payload]))
                }
                later[commit.revision] = commit
            case .declarations:
                declarations = try bytes.withBytes { (bytes) throws(StoreError) in
                    var reader = RecordReader(UnsafeRawBufferPointer(rebasing: bytes[record.payload]))
                    return try FieldDeclarations(record: try reader.value())
                }
            }
        }
        var next = revision + 1
        while let commit = later[next] {
            commits.append(commit)
            next += 1
        }
        ahead = later.values.filter { $0.revision >= next }.sorted { $0.revision < $1.revision }
    }

    /// The latest revision for which all earlier commits are present.
    var newest: Lineage {
        commits.last.map { Lineage(revision: $0.revision, identifier: $0.lineage) } ?? lineage
    }

    /// Calls `body` with each item's rank and record, in order.
    ///
    /// - Throws: `StoreError` with `corruptJournal`; errors of `body`.
    func forEachItem(
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        var found = 0
        try bytes.withBytes { (bytes) throws(StoreError) in
            for piece in pieces {
                var reader = RecordReader(UnsafeRawBufferPointer(rebasing: bytes[piece]))
                while !reader.isAtEnd {
                    let rank = try reader.piece(try reader.varint())
                    guard !rank.isEmpty, rank.count <= Rank.lengthLimit else { throw reader.corrupt("a rank is none") }
                    try body(rank, try reader.piece(try reader.varint()))
                    found += 1
                }
            }
        }
        guard found == count else { throw StoreError(.corruptJournal, "the cache ends within its items") }
    }
}

/// A file that is unusable but may have valuable content: it is kept under another name.
enum QuarantinedFile {
    /// Moves a file to `<path>.aside-1`, or to the next number that is free.
    ///
    /// - Returns: the new path; nil when there is no file.
    static func move(_ path: String, using layer: any FileLayer) throws(FileError) -> String? {
        guard try layer.status(path) != nil else { return nil }
        return try layer.rename(path) { "\(path).aside-\($0)" }
    }
}
