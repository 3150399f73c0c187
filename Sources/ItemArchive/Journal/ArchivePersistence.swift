public import ColumnEngine
public import Files
import PropertyList

@_exported import Wording

/// Stores items in a folder: `items.archive`, the saved document, and `items.journal`, the commits since.
///
/// Opening the folder for writing takes ownership: a second persistence there, in this process or in another, is
/// refused until the first is gone. `docs/journal.md` specifies the files, and their state after each crash.
public final class ArchivePersistence: DocumentPersistence {
    public let isReadOnly: Bool
    /// The path of the archive.
    public let path: String
    /// The path of the journal.
    public let journalPath: String
    /// The path of the index, with which an archive is opened without reading it; nil for no index.
    public let indexPath: String?
    let indexTurn = ItemIndexTurn()
    /// Archives of fewer items are read as a whole when they are opened.
    let mappedFrom: Int
    /// The form of the archive's items.
    public internal(set) var schema: ArchiveSchema

    let layer: any FileLayer
    let folder: String
    private var lock: FolderLock?
    /// The folders of a new container, to be synced with the first commit that waits for the disk, or save.
    package var newEntries: NewEntries?
    /// False in tests that simulate a dead process: its lock would be gone, too.
    package var takesLock = true
    let removesLeftovers: Bool
    let opensCutArchive: Bool
    /// The archive in place.
    var identity = ArchiveIdentity.none
    public internal(set) var hasArchive = false
    var journal: JournalWriter?
    /// The number of the next record if there is no journal yet.
    var nextSequence: UInt64 = 1
    /// The number of the last record when the store was opened, plus one for each commit since.
    var revision = ItemRevision.initial
    /// The records since the snapshot of the current replacement, sealed for the journal that will follow it.
    var following: FollowingRecords?
    /// The records of a new journal that may or may not be in place.
    var unsettled: FollowingRecords?
    /// Whether the archive has content that the store does not hold, so that it is kept at its first replacement.
    var keepsOriginal = false
    /// The owner's journal, for a read-only persistence; nil until its first use.
    var tail: JournalTail?
    /// The mapped file from which the store reads items.
    var mapped = MappedArchive()

    /// - Parameters:
    ///   - folder: the container's Documents.
    ///   - layer: the file system; if nil, one confined to the locked folder, which does not follow links.
    ///   - isReadOnly: whether to read the state at the opening and never write.
    ///   - className: the class of the items in a new archive.
    ///   - indexFolder: the folder of `items.index`, such as the container's Caches; nil for no index.
    ///   - mappedFrom: archives of fewer items are read as a whole when they are opened, and get no index.
    ///   - removesLeftovers: whether loading removes the leftovers of interrupted writes, for which the whole folder is
    ///     listed; false if the caller does that.
    ///   - opensCutArchive: whether to open the readable part of an archive that is damaged and shorter than the
    ///     journal or the index says; false for an error that changes nothing, so that a backup can be restored.
    ///   - lock: the folder's lock, if the caller has taken it; held as long as the persistence exists.
    public init(
        folder: String, using layer: (any FileLayer)? = nil, isReadOnly: Bool = false,
        className: String = "Item", indexFolder: String? = nil, mappedFrom: Int = 4096,
        removesLeftovers: Bool = true, opensCutArchive: Bool = true, lock: FolderLock? = nil
    ) {
        self.lock = lock
        self.folder = folder
        self.layer = layer ?? Self.layer(folder, indexFolder)
        self.isReadOnly = isReadOnly
        path = PathText.join(folder, "items.archive")
        journalPath = PathText.join(folder, "items.journal")
        indexPath = indexFolder.map { PathText.join($0, "items.index") }
        self.mappedFrom = mappedFrom
        self.removesLeftovers = removesLeftovers
        self.opensCutArchive = opensCutArchive
        schema = ArchiveSchema(className: className)
    }

    public var archivePath: String? { path }
    public var closedPaths: [String] { [path, journalPath] + (indexPath.map { [$0] } ?? []) }
    public var holdsMoreThanFields: Bool { schema.original != nil || !schema.foreignFields.isEmpty }

    // MARK: The lock

    /// The folder whose `.lock` excludes other owners: the container's root if `folder` is its Documents, so that a
    /// host and a separate store exclude each other; otherwise `folder`.
    public var lockedFolder: String { Self.lockedFolder(folder) }

    private static func lockedFolder(_ folder: String) -> String {
        guard PathText.name(of: folder) == "Documents" else { return folder }
        let parent = PathText.parent(of: folder)
        let library = try? PosixFileLayer().status(PathText.join(parent, "Library"))
        return library?.kind == .directory ? parent : folder
    }

    private static func layer(_ folder: String, _ indexFolder: String?) -> any FileLayer {
        let root = lockedFolder(folder)
        guard folder.hasPrefix(root), indexFolder?.hasPrefix(root + "/") ?? true else { return PosixFileLayer() }
        // The error of a missing folder is reported when it is opened.
        return (try? BeneathFileLayer(root)) ?? PosixFileLayer()
    }

    /// Makes this the folder's only writer as long as it exists; `load(into:)` does it, too. Does nothing if read-only.
    ///
    /// - Throws: `FolderLockError`, which names the holder.
    public func takeLock() throws(FolderLockError) {
        guard takesLock, !isReadOnly, lock == nil else { return }
        lock = try FolderLock(lockedFolder)
    }

    /// Records that an earlier owner's leftovers have been removed.
    func noteOrder() { lock?.noteOrder() }

    /// A shorter journal never triggers a save by itself.
    public var shortJournalLength = 256 << 20

    public var isJournalLong: Bool {
        guard let length = journal?.length, length > shortJournalLength else { return false }
        return UInt64(length) / 2 > identity.size
    }

    // MARK: Appending

    public func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision {
        if isReadOnly { throw .storeIsReadOnly }
        try commit.checkFollows(revision)
        var (record, carries) = JournalEncoder.record(of: commit)
        try attempt { () throws(FileError) in
            if durable { try newEntries?.sync() }
            let journal = try currentJournal(carries: carries, durable: durable)
            try journal.append(&record, kind: .changes, durable: durable)
            following?.add(record, carries: carries)
        }
        revision = revision.next
        return revision
    }

    public func synchronize() throws(StoreError) {
        try attempt { () throws(FileError) in
            try newEntries?.sync()
            try journal?.synchronize()
        }
    }

    /// The journal for the next record, which is of the version whose records have values of any kind if `carries`.
    private func currentJournal(carries: Bool, durable: Bool) throws(FileError) -> JournalWriter {
        try settleJournal()
        if let journal {
            guard carries, journal.header.version < JournalHeader.latestVersion else { return journal }
            let raised = try journal.raised()
            journal.isReplaced = true
            self.journal = raised
            return raised
        }
        var header = JournalHeader(archive: identity, identifier: Self.identifier(), firstSequence: nextSequence)
        if carries { header.version = JournalHeader.latestVersion }
        let created = try JournalWriter.create(
            journalPath, header, nextSequence: nextSequence, durable: durable, using: layer)
        journal = created
        return created
    }

    /// Finds out which journal is in place after its replacement failed halfway.
    private func settleJournal() throws(FileError) {
        guard let next = unsettled else { return }
        try layer.syncDirectory(folder)
        if try layer.status(journalPath) != nil {
            let file = try layer.open(journalPath, .read)
            defer { layer.close(file) }
            let start = try layer.contents(of: file)
            let header = try? start.withBytes { bytes throws(StoreError) in try JournalHeader(bytes) }
            if let header, header.identifier == next.identifier {
                journal = try JournalWriter(
                    journalPath, header, next.nextSequence, length: header.bytes.count + next.bytes.count, using: layer)
                nextSequence = next.nextSequence
            }
        }
        unsettled = nil
    }

    static func identifier() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    // MARK: Replacing

    public func beginReplacement(
        _ snapshot: ItemSnapshot, at revision: ItemRevision
    ) throws(StoreError) -> any ItemReplacement {
        if isReadOnly { throw .storeIsReadOnly }
        try attempt { () throws(FileError) in try settleJournal() }
        let last = (journal?.nextSequence ?? nextSequence) &- 1
        following = FollowingRecords(identifier: Self.identifier(), firstSequence: last &+ 1)
        return ArchiveReplacement(
            path: path, indexPath: snapshot.count < mappedFrom ? nil : indexPath, snapshot: snapshot, schema: schema,
            layer: layer, lastSequence: last)
    }

    public func abandon(_ replacement: any ItemReplacement) {
        following = nil
        // Do not try again after each commit.
        shortJournalLength = max(shortJournalLength, (journal?.length ?? 0) * 2)
        (replacement as? ArchiveReplacement)?.remove()
    }

    /// The order of the steps makes each crash harmless: the old journal gets a record of the new archive before that
    /// takes its place, and stays until a new journal that follows the new archive is on the disk.
    public func finish(_ replacement: any ItemReplacement) throws(StoreError) {
        guard let replacement = replacement as? ArchiveReplacement, let next = following else { return }
        following = nil
        // The old archive stays open until the new journal is in place: freeing its space would delay that.
        let old = hasArchive ? try? layer.open(path, .read) : nil
        defer { if let old { layer.discard(old) } }
        do throws(StoreError) {
            try checkMapped()
            try attempt { () throws(FileError) in try prepare(replacement) }
        } catch {
            replacement.remove()
            throw error
        }
        identity = replacement.identity
        hasArchive = true
        // If this fails, the old journal's checkpoint names the new archive: commits appended to it are found.
        unsettled = next
        try attempt { () throws(FileError) in try follow(next) }
        unsettled = nil
    }

    /// Records the new archive in the old journal, and puts it in place.
    private func prepare(_ replacement: ArchiveReplacement) throws(FileError) {
        try keepOriginal()
        if let journal {
            var record = JournalRecord.checkpoint(
                replacement.identity, upTo: replacement.lastSequence, sequence: 0, identifier: 0)
            try journal.append(&record, kind: .checkpoint, durable: true)
        }
        try newEntries?.sync()
        try replacement.putInPlace()
        indexTurn.end {
            // An index belongs to one archive: the former one is removed if the new archive has none.
            if !replacement.putIndexInPlace(), let indexPath { try? layer.remove(indexPath) }
        }
    }

    /// Begins the journal of the archive in place, with the commits since its snapshot.
    private func follow(_ next: FollowingRecords) throws(FileError) {
        try layer.syncDirectory(folder)
        guard journal != nil || next.count > 0 else { return }
        var header = JournalHeader(archive: identity, identifier: next.identifier, firstSequence: next.firstSequence)
        if next.carries { header.version = JournalHeader.latestVersion }
        let created = try JournalWriter.create(
            journalPath, header, records: next.bytes, nextSequence: next.nextSequence, durable: true, using: layer)
        journal?.isReplaced = true
        journal = created
        nextSequence = next.nextSequence
    }

    /// Keeps an archive that has more content than the store, at its first replacement.
    private func keepOriginal() throws(FileError) {
        guard keepsOriginal else { return }
        let bytes = try layer.contents(of: path)
        try AtomicFile.write(bytes, to: try aside("items.archive.original"), using: layer)
        keepsOriginal = false
    }

    /// The last path that ``aside(_:)`` returned for a name; nil if there is none.
    func previous(_ name: String) throws(FileError) -> String? {
        var found: String?
        var number = 1
        while true {
            let path = PathText.join(folder, "\(name)-\(number)")
            guard try layer.status(path) != nil else { return found }
            found = path
            number += 1
        }
    }

    /// An unused path beside the store's files: `<name>-1`, `<name>-2`, …
    func aside(_ name: String) throws(FileError) -> String {
        var number = 1
        while true {
            let path = PathText.join(folder, "\(name)-\(number)")
            if try layer.status(path) == nil { return path }
            number += 1
        }
    }
}

extension ArchivePersistence {
    /// The file names of other editions' archives of items, the likeliest first.
    static let otherNames = [
        "items.plist", "possessions.data", "possession.data", "items.data", "itemsundone.archive", "itemsdone.archive",
    ]

    /// Maximum size; larger files are ignored.
    private static let largestOther = 1 << 30

    /// Adopts another edition's archive if the store has none yet: a copy of it becomes `items.archive`, and the file
    /// itself is not changed.
    ///
    /// - Returns: whether there was one.
    func adoptOtherEdition(_ report: inout ItemLoadReport) throws(StoreError) -> Bool {
        let found = try attempt { () throws(FileError) in try otherEditions() }
        guard let first = found.first else { return false }
        var text = "\(first.name) was opened: its items are kept in items.archive from now on, and it stays as it is"
        if found.count > 1 {
            let others = found.dropFirst().map(\.name).joined(separator: ", ")
            text += "; \(others) would hold items, too (items:import takes them)"
        }
        try attempt { () throws(FileError) in
            try AtomicFile.write(first.bytes, to: path, using: layer, durable: true)
        }
        report.notices.append(text)
        return true
    }

    /// Another edition's archive, for a read-only process without an archive.
    func otherEdition(_ report: inout ItemLoadReport) throws(StoreError) -> [UInt8]? {
        guard let first = try attempt({ () throws(FileError) in try otherEditions().first }) else { return nil }
        report.notices.append("\(first.name) was opened")
        return first.bytes
    }

    private func otherEditions() throws(FileError) -> [(name: String, bytes: [UInt8])] {
        var found: [(name: String, bytes: [UInt8])] = []
        for name in Self.otherNames {
            let other = PathText.join(folder, name)
            guard let status = try layer.status(other), status.kind == .regular, status.size <= Self.largestOther else {
                continue
            }
            let bytes = try layer.contents(of: other)
            if Self.holdsItems(bytes) { found.append((name, bytes)) }
        }
        return found
    }

    /// Whether a file is an archive or a property list with at least one item.
    private static func holdsItems(_ bytes: [UInt8]) -> Bool {
        guard bytes.withUnsafeBytes({ PropertyListFormat(detecting: $0) }) != nil,
            let reader = try? BinaryPropertyListReader(detecting: PropertyListStorage(bytes))
        else { return false }
        var items = ItemArchiveReader(ItemLoader(ColumnStore(.domain)), reader, ArchiveIdentity(of: bytes))
        do throws(PropertyListError) { try items.read() } catch { return false }
        return items.count > 0 && items.namesFields
    }
}

/// Runs calls of the file layer, and converts their errors to a store's.
func attempt<Value>(_ body: () throws(FileError) -> Value) throws(StoreError) -> Value {
    do throws(FileError) {
        return try body()
    } catch {
        throw StoreError(.inputOutput, error.message, path: error.path, cause: error)
    }
}

extension Array where Element == UInt8 {
    /// `withUnsafeBytes` with a typed error, unlike the standard library's version for arrays.
    package func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let outcome: Result<Value, Failure> = withUnsafeBytes { buffer in
            do throws(Failure) { return .success(try body(buffer)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}
