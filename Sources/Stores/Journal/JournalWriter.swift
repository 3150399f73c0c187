import Application

/// The journal's file: records go to its end, each in one write, whole or not at all.
final class JournalWriter {
    let path: String
    private let layer: any FileLayer
    private let file: OpenFile
    let header: JournalHeader
    private(set) var nextSequence: UInt64
    /// The bytes of intact records; what is behind is the rest of a write that failed.
    private(set) var length: Int
    private var hasRest = false
    private var isDirty = false
    /// Whether the journal's name in its folder may not survive a power cut yet.
    private var isNameDirty = false
    /// Whether another journal has taken this one's name.
    var isReplaced = false

    private init(
        path: String, layer: any FileLayer, file: OpenFile, header: JournalHeader, nextSequence: UInt64, length: Int
    ) {
        self.path = path
        self.layer = layer
        self.file = file
        self.header = header
        self.nextSequence = nextSequence
        self.length = length
    }

    deinit {
        if isReplaced { layer.discard(file) } else { layer.close(file) }
    }

    /// Goes on with a journal that is there.
    static func open(
        _ path: String, _ header: JournalHeader, _ nextSequence: UInt64, length: Int, using layer: any FileLayer
    ) throws(FileError) -> JournalWriter {
        JournalWriter(
            path: path, layer: layer, file: try layer.open(path, .append), header: header, nextSequence: nextSequence,
            length: length)
    }

    /// Puts a new journal, with records that are sealed by its identifier, in the place of the old one.
    static func create(
        _ path: String, _ header: JournalHeader, records: [UInt8] = [], nextSequence: UInt64, durable: Bool,
        using layer: any FileLayer
    ) throws(FileError) -> JournalWriter {
        let bytes = header.bytes + records
        try AtomicFile.write(bytes, to: path, using: layer, durable: durable, permissions: 0o600)
        let writer = JournalWriter(
            path: path, layer: layer, file: try layer.open(path, .append), header: header, nextSequence: nextSequence,
            length: bytes.count)
        writer.isNameDirty = !durable
        return writer
    }

    /// Appends a record whose payload follows 32 bytes of room.
    ///
    /// - Throws: `FileError`; nothing has been appended then.
    func append(_ record: inout [UInt8], kind: JournalRecord.Kind, durable: Bool) throws(FileError) {
        JournalRecord.seal(&record, kind: kind, sequence: nextSequence, identifier: header.identifier)
        try removeRest()
        do throws(FileError) {
            hasRest = true
            try record.withBytes { bytes throws(FileError) in try layer.writeAll(bytes, to: file) }
            if durable { try sync() }
            hasRest = false
        } catch {
            // If this fails, too, the next append tries again before it writes.
            try? removeRest()
            throw error
        }
        length += record.count
        nextSequence &+= 1
        isDirty = !durable
    }

    /// Forces what was appended to the disk.
    func synchronize() throws(FileError) {
        guard isDirty || isNameDirty else { return }
        try sync()
        isDirty = false
    }

    private func sync() throws(FileError) {
        try layer.sync(file)
        guard isNameDirty else { return }
        try layer.syncDirectory(PathText.parent(of: path))
        isNameDirty = false
    }

    /// Cuts off what is behind the usable records, durably.
    func cut() throws(FileError) {
        try layer.truncate(file, to: length)
        try layer.sync(file)
    }

    private func removeRest() throws(FileError) {
        guard hasRest else { return }
        try layer.truncate(file, to: length)
        hasRest = false
    }
}
