import ColumnEngine
import Files
import ItemArchive

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
    /// Commits beyond a gap: the host's own, which may follow commits of others that had not arrived.
    private(set) var ahead: [LoggedCommit] = []
    let nextSequence: UInt64
    let intactLength: Int
    /// Whether unusable bytes follow the intact records.
    let isCut: Bool
    /// The bytes up to the end of the items.
    private(set) var itemsLength = 0

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
                revision: try reader.fixed(UInt64.self),
                identifier: [UInt8](try reader.piece(try reader.varint())))
            let known = SharedCollection(
                number: 0, head: lineage.revision, floor: 0, epoch: epoch, lineage: nil,
                system: try reader.fixed(Int64.self), timeline: try reader.fixed(Int64.self))
            return (known, lineage, Int(clamping: try reader.varint()))
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
