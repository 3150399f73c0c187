package import Files

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

    /// The same journal in the latest format version, put in its place: an older program then refuses it as a whole,
    /// instead of the first record that it does not know. The records' checksums stay valid.
    func raised() throws(FileError) -> JournalWriter {
        var header = header
        header.version = JournalHeader.latestVersion
        let old = try layer.open(path, .read)
        defer { layer.close(old) }
        let records = try layer.contents(of: old)[header.bytes.count..<length]
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
            try record.withBytes { bytes throws(FileError) in try layer.writeAll(bytes, to: file, at: length) }
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
