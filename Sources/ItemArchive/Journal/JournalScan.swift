package import ColumnEngine
import Files

/// The intact records of a journal. A pure function of the bytes.
package struct JournalScan: Sendable {
    /// An intact record, without its bytes.
    package struct Record: Sendable, Hashable {
        /// Its content.
        package var kind: JournalRecord.Kind
        /// Its number.
        package var sequence: UInt64
        /// The offset of the record in the file.
        package var offset: Int
        /// The range of its payload.
        package var payload: Range<Int>
    }

    /// The journal's header.
    package private(set) var header: JournalHeader
    /// The intact records, in order.
    package private(set) var records: [Record] = []
    /// The number of the next record.
    package private(set) var nextSequence: UInt64
    /// The bytes up to the end of the last intact record.
    package private(set) var intactLength: Int
    /// What is wrong with the bytes after that; nil if there are only zeros, which are space for more records.
    package private(set) var damage: String?

    /// Reads a journal.
    ///
    /// - Throws: `StoreError` with `corruptJournal` if even the header is unusable.
    package init(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        header = try JournalHeader(bytes)
        nextSequence = header.firstSequence
        intactLength = JournalHeader.length
        // Space for more records is zeros; a record's first bytes are not.
        while intactLength < bytes.count, bytes[intactLength...].contains(where: { $0 != 0 }) {
            do throws(Damage) {
                let record = try record(at: intactLength, in: bytes)
                records.append(record)
                // The declarations at the beginning are no record of their own: the first commit has the same number.
                if record.kind != .declarations { nextSequence &+= 1 }
                intactLength = record.payload.upperBound
            } catch {
                damage = error.reason
                return
            }
        }
    }

    private struct Damage: Error {
        let reason: String
    }

    /// The next record, at an offset.
    private func record(at start: Int, in bytes: UnsafeRawBufferPointer) throws(Damage) -> Record {
        let rest = bytes.count - start
        guard rest >= JournalRecord.headerLength else { throw Damage(reason: "a record breaks off within its header") }
        guard bytes.littleEndian(UInt32.self, at: start + 8) == JournalRecord.magic else {
            throw Damage(reason: "no record begins where one should")
        }
        let length = bytes.littleEndian(UInt64.self, at: start + 16)
        guard length <= UInt64(rest - JournalRecord.headerLength) else { throw Damage(reason: "a record breaks off") }
        let payload = start + JournalRecord.headerLength..<start + JournalRecord.headerLength + Int(length)
        let sealed = UnsafeRawBufferPointer(rebasing: bytes[start + 8..<payload.upperBound])
        guard Checksum.hash(sealed, seed: header.identifier) == bytes.littleEndian(UInt64.self, at: start) else {
            throw Damage(reason: "a record does not match its checksum")
        }
        let sequence = bytes.littleEndian(UInt64.self, at: start + 24)
        guard let kind = JournalRecord.Kind(rawValue: bytes.littleEndian(UInt32.self, at: start + 12)),
            sequence == nextSequence
        else { throw Damage(reason: "a record is out of order") }
        return Record(kind: kind, sequence: sequence, offset: start, payload: payload)
    }

    /// The journal's records for a damaged archive, whose identity no longer matches; nil if the journal's archive was
    /// shorter than this one.
    package func records(followingDamaged archive: ArchiveIdentity) -> [Record]? {
        header.archive.size < archive.size ? nil : records.filter { $0.kind == .changes }
    }

    /// The record of the fields declared when an archive was written, as ``RecordReader/value()`` reads it: the first
    /// of the archive's own journal, or in the checkpoint of an interrupted save; nil if none were declared.
    func declarations(of archive: ArchiveIdentity, in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        let first = records.first { $0.kind == .declarations }?.payload
        if archive == header.archive { return first }
        for checkpoint in checkpoints(in: bytes).reversed() where checkpoint.archive == archive {
            return checkpoint.declarations.isEmpty ? nil : checkpoint.declarations
        }
        // The journal of a damaged archive.
        return first
    }

    /// The fields declared by the last record that declares any.
    func lastDeclarations(in bytes: UnsafeRawBufferPointer, _ schema: ItemSchema) -> FieldDeclarations {
        var last = FieldDeclarations()
        for record in records {
            let payload = UnsafeRawBufferPointer(rebasing: bytes[record.payload])
            switch record.kind {
            case .checkpoint: continue
            case .declarations:
                var reader = RecordReader(payload)
                if let value = try? reader.value(), let declared = try? FieldDeclarations(record: value) {
                    last = declared
                }
            case .changes:
                let changes = (try? RecordChange.changes(of: payload, schema, from: .journal)) ?? []
                for case .declare(let declared) in changes { last = declared }
            }
        }
        return last
    }

    /// The records that are not yet in an archive; nil if the journal does not belong to it.
    ///
    /// The journal follows the archive in its header. If a save was interrupted between the new archive and the new
    /// journal, the last checkpoint names the archive, which contains the earlier records.
    package func records(following archive: ArchiveIdentity, in bytes: UnsafeRawBufferPointer) -> [Record]? {
        if archive == header.archive { return records.filter { $0.kind == .changes } }
        for checkpoint in checkpoints(in: bytes).reversed() where checkpoint.archive == archive {
            return records.filter { $0.kind == .changes && $0.sequence > checkpoint.last }
        }
        return nil
    }

    /// The archives announced by saves, each with the number of its last record.
    func checkpoints(
        in bytes: UnsafeRawBufferPointer
    ) -> [(archive: ArchiveIdentity, last: UInt64, declarations: Range<Int>)] {
        records.filter { $0.kind == .checkpoint && $0.payload.count >= 24 }.map { record in
            let start = record.payload.lowerBound
            let archive = ArchiveIdentity(
                size: bytes.littleEndian(UInt64.self, at: start),
                checksum: bytes.littleEndian(UInt64.self, at: start + 8))
            let last = bytes.littleEndian(UInt64.self, at: start + 16)
            return (archive, last, start + 24..<record.payload.upperBound)
        }
    }
}

/// A record of a journal: 32 bytes of header, then its payload.
package enum JournalRecord {
    /// The content of a record.
    package enum Kind: UInt32, Sendable {
        /// The changes of one commit.
        case changes = 1
        /// An archive that is about to replace the old one, and the last record that it contains.
        case checkpoint = 2
        /// The fields declared when the journal's archive was written: the first record, with the next one's number.
        case declarations = 3
    }

    /// The size of a record's header in bytes.
    package static let headerLength = 32
    static let magic: UInt32 = 0x3152_4A43  // "CJR1" in the file

    /// Fills in the header of a record whose payload follows 32 bytes of space.
    package static func seal(_ record: inout [UInt8], kind: Kind, sequence: UInt64, identifier: UInt64) {
        let length = UInt64(record.count - headerLength)
        record.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: magic.littleEndian, toByteOffset: 8, as: UInt32.self)
            bytes.storeBytes(of: kind.rawValue.littleEndian, toByteOffset: 12, as: UInt32.self)
            bytes.storeBytes(of: length.littleEndian, toByteOffset: 16, as: UInt64.self)
            bytes.storeBytes(of: sequence.littleEndian, toByteOffset: 24, as: UInt64.self)
            let sum = Checksum.hash(UnsafeRawBufferPointer(rebasing: bytes[8...]), seed: identifier)
            bytes.storeBytes(of: sum.littleEndian, toByteOffset: 0, as: UInt64.self)
        }
    }

    /// The record for a checkpoint, to be sealed, with the fields declared at that archive.
    static func checkpoint(
        _ archive: ArchiveIdentity, upTo last: UInt64, _ declarations: FieldDeclarations
    ) -> [UInt8] {
        var record = [UInt8](repeating: 0, count: headerLength)
        record.appendLittleEndian(archive.size)
        record.appendLittleEndian(archive.checksum)
        record.appendLittleEndian(last)
        if declarations.isEmpty { return record }
        var writer = RecordWriter(record)
        writer.value(declarations.record)
        return writer.bytes
    }

    /// The sealed record of the declared fields; empty if nothing is declared.
    package static func declarations(_ declarations: FieldDeclarations, sequence: UInt64, identifier: UInt64) -> [UInt8]
    {
        if declarations.isEmpty { return [] }
        var writer = RecordWriter([UInt8](repeating: 0, count: headerLength))
        writer.value(declarations.record)
        seal(&writer.bytes, kind: .declarations, sequence: sequence, identifier: identifier)
        return writer.bytes
    }
}

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
            let start = try layer.bytes(of: file, at: 0, JournalHeader.length)
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
        try layer.status(path)?.isSameFile(as: status) ?? false
    }

    /// The commits that were appended since the last call.
    ///
    /// - Parameter last: the number of the last record to skip.
    /// - Returns: the commits, oldest first.
    /// - Throws: `FileError`; `StoreError` with `corruptJournal`.
    func commits(after last: UInt64) throws -> [OwnersCommit] {
        // The space after the last record is zeros.
        let next = try layer.bytes(of: file, at: offset, JournalRecord.headerLength)
        guard next.contains(where: { $0 != 0 }) else { return [] }
        let size = try layer.status(file).size
        let start = JournalHeader(archive: header.archive, identifier: header.identifier, firstSequence: sequence).bytes
        let bytes = start + (try layer.bytes(of: file, at: offset, max(size - offset, 0)))
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
}

extension FileLayer {
    /// The bytes of a file from an offset on; fewer at its end.
    func bytes(of file: OpenFile, at offset: Int, _ count: Int) throws(FileError) -> [UInt8] {
        // The runtime's one empty array would be written by every thread that asks for no bytes.
        guard count > 0 else { return [] }
        return try [UInt8](unsafeUninitializedCapacity: count) { (buffer, done) throws(FileError) in
            while done < count {
                let rest = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[done...]))
                let read = try read(file, at: offset + done, into: rest)
                if read == 0 { break }
                done += read
            }
        }
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
