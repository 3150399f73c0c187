import ColumnEngine
import Files
import ItemArchive

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
        var source = SystemRandomNumberGenerator()
        var header = JournalHeader(
            archive: SharedCache.identity(of: collection.epoch), identifier: source.next(), firstSequence: 1)
        if snapshot.hasMisfits { header.version = JournalHeader.latestVersion }
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
        head.fixed(collection.system)
        head.fixed(collection.timeline)
        head.varint(UInt64(snapshot.count))
        try add(&head, to: output)
        var piece = Self.newRecord()
        var item = RecordWriter()
        for position in 0..<snapshot.count {
            guard let rank = ranks[snapshot.row(at: position)] else { continue }
            item.bytes.removeAll(keepingCapacity: true)
            item.item(snapshot, at: position)
            piece.varint(UInt64(rank.count))
            piece.bytes += rank
            piece.varint(UInt64(item.bytes.count))
            piece.bytes += item.bytes
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
