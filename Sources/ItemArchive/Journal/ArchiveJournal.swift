import ColumnEngine
package import Files

/// The journal of the archive in place, and the one that will follow the archive being written.
struct ArchiveJournal {
    private let folder: ArchiveFolder
    /// Which fields the items have by themselves.
    private let layout: UInt64
    private var writer: JournalWriter?
    /// The number of the next record if there is no journal yet.
    private var nextSequence: UInt64
    /// The records since the snapshot of the current replacement, sealed for the journal that will follow it.
    private var following: FollowingRecords?
    /// The records of a new journal that may or may not be in place.
    private var unsettled: FollowingRecords?
    /// The fields declared in a journal of another archive, which a new journal begins with.
    private let inherited: FieldDeclarations

    init(
        _ folder: ArchiveFolder, layout: UInt64 = 0, _ writer: JournalWriter? = nil, nextSequence: UInt64 = 1,
        inheriting inherited: FieldDeclarations = FieldDeclarations()
    ) {
        (self.folder, self.layout, self.writer, self.nextSequence) = (folder, layout, writer, nextSequence)
        self.inherited = inherited
    }

    /// The size of the records; nil if there is no journal yet.
    var length: Int? { writer?.length }

    /// Appends a commit's record.
    ///
    /// - Parameters:
    ///   - record: with space for its header in front.
    ///   - version: the version of journals that it needs.
    ///   - archive: the archive in place, which a new journal follows.
    ///   - durable: whether to wait for the disk.
    /// - Throws: `FileError`; then nothing has been appended.
    mutating func append(
        _ record: inout [UInt8], version: UInt16, to archive: ArchiveIdentity, durable: Bool
    ) throws(FileError) {
        let writer = try writer(of: version, archive, durable: durable)
        try writer.append(&record, kind: .changes, durable: durable)
        following?.add(record, version: version)
    }

    func synchronize() throws(FileError) { try writer?.synchronize() }

    /// The journal for the next record, which is of the version that the record needs, or a later one.
    private mutating func writer(
        of version: UInt16, _ archive: ArchiveIdentity, durable: Bool
    ) throws(FileError) -> JournalWriter {
        try settle()
        if let writer {
            guard version > JournalHeader.usualVersion, writer.header.version < version else { return writer }
            let raised = try writer.raised(to: version)
            writer.isReplaced = true
            self.writer = raised
            return raised
        }
        let records = FollowingRecords(identifier: Self.identifier(), firstSequence: nextSequence, version: version)
        let created = try create(archive, records, inherited, durable: durable)
        writer = created
        return created
    }

    /// Creates the journal of an archive, with declared fields and the first records.
    private func create(
        _ archive: ArchiveIdentity, _ records: FollowingRecords, _ declarations: FieldDeclarations, durable: Bool
    ) throws(FileError) -> JournalWriter {
        var header = JournalHeader(
            archive: archive, identifier: records.identifier, firstSequence: records.firstSequence)
        header.layout = layout
        header.version = declarations.isEmpty ? records.version : JournalHeader.declaringVersion
        let declared = JournalRecord.declarations(
            declarations, sequence: records.firstSequence, identifier: records.identifier)
        return try .create(
            folder.journalPath, header, records: declared + records.bytes, nextSequence: records.nextSequence,
            durable: durable, using: folder.layer)
    }

    /// Finds out which journal is in place after its replacement failed halfway.
    private mutating func settle() throws(FileError) {
        guard let next = unsettled else { return }
        let (path, layer) = (folder.journalPath, folder.layer)
        try layer.syncDirectory(folder.path)
        if try layer.status(path) != nil {
            let start = try layer.contents(of: path)
            let header = try? start.withBytes { bytes throws(StoreError) in try JournalHeader(bytes) }
            if let header, header.identifier == next.identifier {
                writer = try JournalWriter(path, header, next.nextSequence, length: start.count, using: layer)
                nextSequence = next.nextSequence
            }
        }
        unsettled = nil
    }

    private static func identifier() -> UInt64 { .random(in: 0 ... .max) }

    // MARK: Replacing

    /// Begins to collect the records for the journal that will follow the archive of a snapshot.
    ///
    /// - Returns: the number of the last record before the snapshot.
    mutating func beginFollowing() throws(FileError) -> UInt64 {
        try settle()
        let last = (writer?.nextSequence ?? nextSequence) &- 1
        following = FollowingRecords(identifier: Self.identifier(), firstSequence: last &+ 1)
        return last
    }

    /// Ends the collection.
    ///
    /// - Returns: the records; nil if there was none.
    mutating func endFollowing() -> FollowingRecords? { following.take() }

    /// Records an archive that is about to take its place.
    ///
    /// - Parameters:
    ///   - archive: the archive.
    ///   - last: the last record that it contains.
    ///   - declarations: the fields declared by then, which the archive does not have.
    /// - Throws: `FileError`; then nothing has been appended.
    func addCheckpoint(
        _ archive: ArchiveIdentity, upTo last: UInt64, _ declarations: FieldDeclarations
    ) throws(FileError) {
        guard let writer else { return }
        var record = JournalRecord.checkpoint(archive, upTo: last, declarations)
        try writer.append(&record, kind: .checkpoint, durable: true)
    }

    /// Begins the journal of the archive in place, with the fields declared at its snapshot, and the commits since.
    mutating func follow(
        _ archive: ArchiveIdentity, with next: FollowingRecords, _ declarations: FieldDeclarations
    ) throws(FileError) {
        // If this fails, the old journal's checkpoint names the new archive: commits appended to it are found.
        unsettled = next
        try folder.layer.syncDirectory(folder.path)
        if writer != nil || next.count > 0 || !declarations.isEmpty {
            let created = try create(archive, next, declarations, durable: true)
            writer?.isReplaced = true
            writer = created
            nextSequence = next.nextSequence
        }
        unsettled = nil
    }
}

/// The journal's file: each record is appended in one write, completely or not at all.
package final class JournalWriter {
    package let path: String
    private let layer: any FileLayer
    private let file: OpenFile
    package let header: JournalHeader
    private(set) var nextSequence: UInt64
    /// The size of the intact records; the bytes after it are the rest of a failed write.
    package private(set) var length: Int
    /// The length of the file. The records may be followed by zeros: space for more.
    private var end: Int
    private var hasRest = false
    private var isDirty = false
    /// Whether a power cut could still lose the journal's directory entry.
    private var isNameDirty = false
    /// Whether another journal has replaced this one.
    var isReplaced = false

    /// The number of zeros written after a record that waits for the disk. A later record in their place changes
    /// neither the file's size nor its blocks, so that no metadata needs to reach the disk.
    private static let preallocation = 1 << 16
    /// Maximum length of a record with zeros after it; longer ones are rare.
    private static let shortRecord = 1 << 12

    deinit {
        if isReplaced { layer.discard(file) } else { layer.close(file) }
    }

    /// Continues an existing journal.
    package init(
        _ path: String, _ header: JournalHeader, _ nextSequence: UInt64, length: Int, using layer: any FileLayer
    ) throws(FileError) {
        file = try layer.open(path, .update)
        do throws(FileError) { end = try layer.status(file).size } catch {
            layer.close(file)
            throw error
        }
        (self.path, self.header, self.nextSequence, self.length) = (path, header, nextSequence, length)
        self.layer = layer
    }

    /// Replaces the old journal with a new one, whose records are sealed with its identifier.
    package static func create(
        _ path: String, _ header: JournalHeader, records: [UInt8] = [], nextSequence: UInt64, durable: Bool,
        using layer: any FileLayer
    ) throws(FileError) -> JournalWriter {
        let bytes = header.bytes + records
        try AtomicFile.write(bytes, to: path, using: layer, durable: durable, permissions: 0o600)
        let writer = try JournalWriter(path, header, nextSequence, length: bytes.count, using: layer)
        writer.isNameDirty = !durable
        return writer
    }

    /// The same journal in a later format version, put in its place: an older program then refuses it as a whole,
    /// instead of the first record that it does not know. The records' checksums stay valid.
    func raised(to version: UInt16) throws(FileError) -> JournalWriter {
        var header = header
        header.version = version
        let records = try layer.contents(of: path)[header.bytes.count..<length]
        return try .create(
            path, header, records: Array(records), nextSequence: nextSequence, durable: true, using: layer)
    }

    /// Appends a record whose payload follows 32 bytes of space.
    ///
    /// - Throws: `FileError`; then nothing has been appended.
    package func append(_ record: inout [UInt8], kind: JournalRecord.Kind, durable: Bool) throws(FileError) {
        JournalRecord.seal(&record, kind: kind, sequence: nextSequence, identifier: header.identifier)
        try removeRest()
        let count = record.count
        defer { record.removeLast(record.count - count) }
        if durable, kind == .changes, count <= Self.shortRecord, length + count > end {
            record += [UInt8](repeating: 0, count: Self.preallocation)
        }
        do throws(FileError) {
            hasRest = true
            try layer.writeAll(record.span.bytes, to: file, at: length)
            end = max(end, length + record.count)
            if durable { try sync() }
            hasRest = false
        } catch {
            // If this fails, too, the next append tries again before it writes.
            try? removeRest()
            throw error
        }
        length += count
        nextSequence &+= 1
        isDirty = !durable
    }

    /// Forces the appended records to the disk.
    package func synchronize() throws(FileError) {
        guard isDirty || isNameDirty else { return }
        try sync()
        isDirty = false
    }

    private func sync() throws(FileError) {
        try layer.syncData(file)
        guard isNameDirty else { return }
        try layer.syncDirectory(PathText.parent(of: path))
        isNameDirty = false
    }

    /// Truncates the file after the usable records, durably.
    package func cut() throws(FileError) {
        try layer.truncate(file, to: length)
        end = length
        try layer.sync(file)
    }

    private func removeRest() throws(FileError) {
        guard hasRest else { return }
        try layer.truncate(file, to: length)
        end = length
        hasRest = false
    }
}

/// The commits since a snapshot, sealed for the journal that will follow its archive.
struct FollowingRecords {
    let identifier: UInt64
    let firstSequence: UInt64
    private(set) var nextSequence: UInt64
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0
    /// The version of journals that the records need.
    private(set) var version: UInt16

    init(identifier: UInt64, firstSequence: UInt64, version: UInt16 = JournalHeader.usualVersion) {
        (self.identifier, self.firstSequence, self.version) = (identifier, firstSequence, version)
        nextSequence = firstSequence
    }

    /// - Parameters:
    ///   - record: with space for its header in front, whose content is ignored.
    ///   - version: the version of journals that it needs.
    mutating func add(_ record: consuming [UInt8], version: UInt16) {
        self.version = max(self.version, version)
        JournalRecord.seal(&record, kind: .changes, sequence: nextSequence, identifier: identifier)
        bytes += record
        nextSequence &+= 1
        count += 1
    }
}
