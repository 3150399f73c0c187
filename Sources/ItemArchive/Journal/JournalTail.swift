import ColumnEngine
import Files

/// Reads the records that another process appends to a journal.
///
/// The file stays open: records appended before a save replaced the journal can still be read.
final class JournalTail {
    private let layer: any FileLayer
    private let file: OpenFile
    private let status: FileStatus
    private let header: JournalHeader
    private let schema: ItemSchema
    private var offset = JournalHeader.length
    /// The number of the next record in this journal.
    private var sequence: UInt64

    /// Opens the journal in place.
    ///
    /// - Throws: `FileError`; `StoreError` when it has no header.
    init(_ path: String, _ schema: ItemSchema, using layer: any FileLayer) throws {
        (self.layer, self.schema) = (layer, schema)
        let file = try layer.open(path, .read)
        self.file = file
        do {
            status = try layer.status(file)
            let start = try Self.read(file, at: 0, JournalHeader.length, layer)
            header = try start.withBytes { bytes throws(StoreError) in try JournalHeader(bytes) }
        } catch {
            layer.close(file)
            throw error
        }
        sequence = header.firstSequence
    }

    deinit { layer.close(file) }

    /// The number of the first record.
    var firstSequence: UInt64 { header.firstSequence }

    /// Whether this is the file at a path.
    func isInPlace(_ path: String) throws(FileError) -> Bool {
        guard let other = try layer.status(path) else { return false }
        return other.inode == status.inode && other.device == status.device
    }

    /// The commits that were appended since the last call.
    ///
    /// - Parameter last: the number of the last record to skip.
    /// - Returns: the commits, oldest first.
    /// - Throws: `FileError`; `StoreError` with `corruptJournal`.
    func commits(after last: UInt64) throws -> [OwnersCommit] {
        // The space after the last record is zeros.
        let next = try Self.read(file, at: offset, JournalRecord.headerLength, layer)
        guard next.contains(where: { $0 != 0 }) else { return [] }
        let size = try layer.status(file).size
        let start = JournalHeader(archive: header.archive, identifier: header.identifier, firstSequence: sequence).bytes
        let bytes = start + (try Self.read(file, at: offset, max(size - offset, 0), layer))
        // An incomplete record is still being written; it is read the next time.
        return try bytes.withBytes { bytes throws(StoreError) in
            let scan = try JournalScan(bytes)
            var commits: [OwnersCommit] = []
            for record in scan.records where record.kind == .changes && record.sequence > last {
                let payload = UnsafeRawBufferPointer(rebasing: bytes[record.payload])
                let changes = try RecordChange.changes(of: payload, schema, from: .journal)
                commits.append(
                    OwnersCommit(
                        revision: ItemRevision(rawValue: record.sequence), changes: changes.compactMap(\.change)))
            }
            offset += scan.intactLength - JournalHeader.length
            sequence = scan.nextSequence
            return commits
        }
    }

    private static func read(
        _ file: OpenFile, at offset: Int, _ count: Int, _ layer: any FileLayer
    ) throws(FileError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 8)
        defer { buffer.deallocate() }
        var done = 0
        while done < count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let read = try layer.read(file, at: offset + done, into: rest)
            if read == 0 { break }
            done += read
        }
        return Array(buffer[..<done])
    }
}

extension RecordChange {
    /// The change of a journal's record for a store; nil for a rank.
    fileprivate var change: ItemChange? {
        switch self {
        case .insert(_, let values, let position): .insert(values, at: position)
        case .remove(let key): .remove(key)
        case .set(let key, let field, let value): .update(key, field, to: value)
        case .move(let key, let position): .move(key, to: position)
        case .declare(let declarations): .declare(declarations)
        case .rank: nil
        }
    }
}
