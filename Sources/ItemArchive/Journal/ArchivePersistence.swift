public import ColumnEngine
package import Files
import PropertyList
import Synchronization
@_exported import Wording

/// Stores items in a folder: `items.archive`, the saved document, and `items.journal`, the commits since.
///
/// Opening the folder for writing takes ownership: a second persistence there, in this process or in another, is
/// refused until the first is gone. `docs/journal.md` specifies the files, and their state after each crash.
public final class ArchivePersistence: DocumentPersistence {
    public let isReadOnly: Bool
    /// The form of the archive's items, in the schema of the store that was loaded from it.
    package private(set) var schema: ArchiveSchema
    /// The folders of a new container, to be synced with the first commit that waits for the disk, or save.
    package var newEntries: NewEntries?
    /// False in tests that simulate a dead process: its lock would be gone, too.
    package var takesLock = true
    /// A shorter journal never triggers a save by itself.
    package var shortJournalLength = 256 << 20

    private let folder: ArchiveFolder
    private let options: ArchiveLoader.Options
    private let removesLeftovers: Bool
    private let indexTurn = ItemIndexTurn()
    private var lock: FolderLock?
    private var archive = ArchiveInPlace()
    private var journal: ArchiveJournal
    /// The number of the last record when the store was opened, plus one for each commit since.
    private var revision = ItemRevision.initial
    /// The name under which the archive is kept at its next replacement; nil if the store holds all of it.
    private var retainedName: String?
    /// What turned out to be unreadable in the mapped archive.
    private let damage = ArchiveDamage()
    /// Where that is reported, and what a save keeps.
    private var reporter: DamageReporter?
    /// The owner's journal, for a read-only persistence; nil until its first use.
    private var tail: JournalTail?

    /// - Parameters:
    ///   - folder: an existing folder, such as a container's Documents. The persistence follows no link beneath it.
    ///   - isReadOnly: whether to read the state at the opening and never write.
    ///   - className: the class of the items in a new archive.
    ///   - indexFolder: the folder of `items.index`, such as the container's Caches; nil for no index.
    public convenience init(
        folder: String, isReadOnly: Bool = false, className: String = "Item", indexFolder: String? = nil
    ) {
        self.init(
            folder: folder, using: nil, isReadOnly: isReadOnly, className: className, indexFolder: indexFolder)
    }

    /// The same with what tests, the doctor and the host choose.
    ///
    /// - Parameters:
    ///   - folder: the folder.
    ///   - layer: the file system; if nil, one confined to the locked folder, which does not follow links.
    ///   - isReadOnly: whether to read the state at the opening and never write.
    ///   - className: the class of the items in a new archive.
    ///   - indexFolder: the folder of `items.index`; nil for no index.
    ///   - mappedFrom: archives of fewer items are read as a whole when they are opened, and get no index.
    ///   - removesLeftovers: whether loading removes the leftovers of interrupted writes, for which the whole folder is
    ///     listed; false if the caller does that.
    ///   - opensCutArchive: whether to open the readable part of an archive that is damaged and shorter than the
    ///     journal or the index says; false for an error that changes nothing, so that a backup can be restored.
    ///   - lock: the folder's lock, if the caller has taken it; held as long as the persistence exists.
    package init(
        folder: String, using layer: (any FileLayer)? = nil, isReadOnly: Bool = false,
        className: String = "Item", indexFolder: String? = nil, mappedFrom: Int = 4096,
        removesLeftovers: Bool = true, opensCutArchive: Bool = true, lock: FolderLock? = nil
    ) {
        self.lock = lock
        self.isReadOnly = isReadOnly
        self.removesLeftovers = removesLeftovers
        self.folder = ArchiveFolder(folder, indexFolder: indexFolder, using: layer)
        options = ArchiveLoader.Options(
            isReadOnly: isReadOnly, mappedFrom: mappedFrom, opensCutArchive: opensCutArchive)
        schema = ArchiveSchema(ItemSchema(), className: className)
        journal = ArchiveJournal(self.folder)
    }

    /// The path of the archive.
    public var path: String { folder.archivePath }
    /// The path of the journal.
    package var journalPath: String { folder.journalPath }
    /// The path of the index, with which an archive is opened without reading it; nil for no index.
    package var indexPath: String? { folder.indexPath }
    package var archivePath: String? { path }
    public var closedPaths: [String] { [path, journalPath] + (indexPath.map { [$0] } ?? []) }
    package var readablePaths: [String] { [path, journalPath] }
    package var hasArchive: Bool { archive.exists }
    package var holdsMoreThanFields: Bool { schema.original != nil || !schema.foreignFields.isEmpty }

    package func unheldObjects(of rows: [UInt32], in columns: ColumnStore) throws(StoreError) -> [UnheldObject] {
        try schema.unheldObjects(of: rows, in: columns)
    }

    package var isJournalLong: Bool {
        guard let length = journal.length, length > shortJournalLength else { return false }
        return UInt64(length) / 2 > archive.identity.size
    }

    // MARK: The lock

    /// The folder whose `.lock` excludes other owners: the container's root if `folder` is its Documents, so that a
    /// host and a separate store exclude each other; otherwise `folder`.
    package var lockedFolder: String { folder.lockedFolder }

    /// Makes this the folder's only writer as long as it exists; `load(into:)` does it, too. Does nothing if read-only.
    ///
    /// - Throws: `FolderLockError`, which names the holder.
    package func takeLock() throws(FolderLockError) {
        guard takesLock, !isReadOnly, lock == nil else { return }
        lock = try FolderLock(lockedFolder)
    }

    // MARK: Loading

    /// Reads the archive, then the journal's records that are not in it.
    ///
    /// - Throws: `inUse` if another owner has the folder; `corruptArchive` if the archive is unreadable, or missing
    ///   although the journal or the index refers to one; `newerFormat`, unless read-only; `inputOutput`.
    public func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport {
        do throws(FolderLockError) { try takeLock() } catch {
            switch error {
            case .inUse(let path, _): throw StoreError(.inUse, error.message, path: path, cause: error)
            case .file(let cause): throw StoreError(cause)
            }
        }
        let usual = ArchiveSchema(loader.store.schema, className: schema.className)
        var archiveLoader = ArchiveLoader(folder, usual, into: loader, options)
        let reporter = loader.store.document.damage
        self.reporter = reporter
        try archiveLoader.loadArchive(indexTurn, damage) { [weak self] text in
            self?.retainedName = ArchiveFolder.damagedName
            reporter.handler?(text)
        }
        // Before the journal: a copy in it remembers its source if the archive holds more than fields.
        schema = archiveLoader.schema
        let loaded = try archiveLoader.loadJournal()
        (archive, journal) = (loaded.archive, loaded.journal)
        revision = loaded.report.revision
        if loaded.keepsOriginal { retainedName = ArchiveFolder.originalName }
        // Last: if the archive is lost, a leftover may be its only copy.
        if !isReadOnly, removesLeftovers {
            _ = try attempt { () throws(FileError) in
                try AtomicFile.removeLeftovers(in: folder.path, using: folder.layer)
            }
            lock?.recordOrder()
        }
        return loaded.report
    }

    // MARK: Appending

    public func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision {
        if isReadOnly { throw .storeIsReadOnly }
        try commit.checkFollows(revision)
        try checkOwnership()
        var (record, version) = JournalEncoder.record(of: commit)
        do throws(FileError) {
            if durable { try newEntries?.sync() }
            try journal.append(&record, version: version, to: archive.identity, durable: durable)
        } catch { throw StoreError(file: error) }
        revision = revision.next
        return revision
    }

    public func synchronize() throws(StoreError) {
        do throws(FileError) {
            try newEntries?.sync()
            try journal.synchronize()
        } catch { throw StoreError(file: error) }
    }

    // MARK: Replacing

    package func beginReplacement(
        _ snapshot: ItemSnapshot, at revision: ItemRevision
    ) throws(StoreError) -> any ItemReplacement {
        if isReadOnly { throw .storeIsReadOnly }
        let last = try attempt { () throws(FileError) in try journal.beginFollowing() }
        return ArchiveReplacement(
            path: path, indexPath: snapshot.count < options.mappedFrom ? nil : indexPath, snapshot: snapshot,
            schema: schema, layer: folder.layer, lastSequence: last)
    }

    package func abandon(_ replacement: any ItemReplacement) {
        _ = journal.endFollowing()
        // Do not try again after each commit.
        shortJournalLength = max(shortJournalLength, (journal.length ?? 0) * 2)
        (replacement as? ArchiveReplacement)?.remove()
    }

    /// The order of the steps makes each crash harmless: the old journal gets a record of the new archive before that
    /// takes its place, and stays until a new journal that follows the new archive is on the disk.
    package func finish(_ replacement: any ItemReplacement) throws(StoreError) {
        guard let replacement = replacement as? ArchiveReplacement, let next = journal.endFollowing() else { return }
        // The old archive stays open until the new journal is in place: freeing its space would delay that.
        let old = hasArchive ? try? folder.layer.open(path, .read) : nil
        defer { if let old { folder.layer.discard(old) } }
        let status: FileStatus
        do throws(StoreError) {
            try checkOwnership()
            try archive.checkMapped(folder)
            do throws(FileError) { status = try prepare(replacement) } catch { throw StoreError(file: error) }
        } catch {
            replacement.remove()
            throw error
        }
        archive.becomes(replacement.identity, status)
        do throws(FileError) {
            try journal.follow(replacement.identity, with: next, replacement.declarations)
        } catch { throw StoreError(file: error) }
    }

    /// Records the new archive in the old journal, and puts it in place.
    private func prepare(_ replacement: ArchiveReplacement) throws(FileError) -> FileStatus {
        try keepPrevious()
        try journal.addCheckpoint(
            replacement.identity, upTo: replacement.lastSequence, replacement.declarations)
        try newEntries?.sync()
        let status = try replacement.putInPlace()
        indexTurn.end {
            // An index belongs to one archive: the former one is removed if the new archive has none.
            if !replacement.putIndexInPlace(), let indexPath { try? folder.layer.remove(indexPath) }
        }
        return status
    }

    /// Keeps an archive that has more content than the store, which was damaged, or which somebody else put in place.
    private func keepPrevious() throws(FileError) {
        for text in damage.takeUnreported() {
            retainedName = ArchiveFolder.damagedName
            reporter?.handler?(text)
        }
        if let identity = try archive.foreign(in: folder) {
            let name = try keep(as: ArchiveFolder.otherName)
            reporter?.handler?(
                "another program replaced items.archive while it was in use: its \(identity.size) bytes are kept as "
                    + "\(name), and the items of this process are saved")
        } else if let retainedName {
            let name = try keep(as: retainedName)
            if retainedName == ArchiveFolder.damagedName {
                reporter?.handler?("items.archive is damaged: it is kept as \(name)")
            }
        }
        retainedName = nil
    }

    private func keep(as name: String) throws(FileError) -> String {
        let path = try folder.quarantinePath(name)
        try AtomicFile.write(try folder.layer.contents(of: self.path), to: path, using: folder.layer)
        return PathText.name(of: path)
    }

    /// Refuses to write without the lock: another process may have its own, and write, too.
    private func checkOwnership() throws(StoreError) {
        guard let lock, !lock.isInPlace else { return }
        throw StoreError(
            .inUse,
            "\(DisplayPath.abbreviate(lock.path)) was removed or replaced while it was in use: another process may write "
                + "here now, and nothing more is written; end this process, and begin again", path: lock.path)
    }
}

/// A new archive being written to a temporary file beside the old one.
final class ArchiveReplacement: ItemReplacement {
    /// Its path while being written, with a name known to the clean-up of the next launch.
    let temporary: String
    /// The last record of the journal that it contains.
    let lastSequence: UInt64
    private let path: String
    private let indexPath: String?
    private let indexTemporary: String?
    private let snapshot: ItemSnapshot
    private let schema: ArchiveSchema
    private let layer: any FileLayer
    private let written = Mutex(Written())

    private struct Written {
        var identity = ArchiveIdentity.none
        var hasIndex = false
        /// The temporary file, open until it is in place: so what takes the old archive's place is what was written.
        var file: OpenFile?
    }

    init(
        path: String, indexPath: String?, snapshot: ItemSnapshot, schema: ArchiveSchema, layer: any FileLayer,
        lastSequence: UInt64
    ) {
        self.path = path
        self.indexPath = indexPath
        self.snapshot = snapshot
        self.schema = schema
        self.layer = layer
        self.lastSequence = lastSequence
        temporary = PathText.join(PathText.parent(of: path), TemporaryName.next())
        indexTemporary = indexPath.map { PathText.join(PathText.parent(of: $0), TemporaryName.next()) }
    }

    /// The fields declared at the snapshot.
    var declarations: FieldDeclarations { snapshot.declarations }

    /// The identity of the written archive.
    var identity: ArchiveIdentity { written.withLock { $0.identity } }

    func write() throws(StoreError) {
        let writer = ItemArchiveWriter(snapshot, schema)
        if writer.isLarge { return try writeLarge(writer) }
        let bytes = try writer.bytes()
        let identity = ArchiveIdentity(of: bytes)
        written.withLock { $0.identity = identity }
        // The index is made while the disk is busy.
        let index = indexPath.map { _ in
            WorkerThread { [self] in writeIndex(ItemIndexDraft(snapshot, schema), identity, Checksum.hash(bytes)) }
        }
        defer { _ = index?.join() }
        do throws(FileError) {
            let file = try openTemporary()
            try layer.writeAll(bytes.span.bytes, to: file)
            try layer.sync(file)
        } catch {
            throw archiveError(error)
        }
    }

    /// Writes an archive while encoding it, and its index.
    private func writeLarge(_ writer: ItemArchiveWriter) throws(StoreError) {
        let draft = indexPath.map { [schema, copy = ItemSnapshot(snapshot)] _ in
            WorkerThread { ItemIndexDraft(copy, schema) }
        }
        let file: OpenFile
        do throws(FileError) { file = try openTemporary() } catch { throw archiveError(error) }
        let output = ArchiveOutput(file, layer)
        // After an error a thread may still be writing.
        defer { output.wait() }
        do throws(StoreError) {
            try writer.write(to: output)
        } catch {
            throw output.failure.map { archiveError($0) } ?? error
        }
        do throws(FileError) {
            let checksum = try output.finish()
            let identity = try identityOfTemporary(file)
            written.withLock { $0.identity = identity }
            let index = draft.map { draft in
                WorkerThread { [self] in writeIndex(draft.join().flatMap { $0 }, identity, checksum) }
            }
            defer { _ = index?.join() }
            try layer.sync(file)
        } catch {
            throw archiveError(error)
        }
    }

    private func openTemporary() throws(FileError) -> OpenFile {
        let permissions = try layer.status(path)?.permissions ?? 0o600
        let file = try layer.open(temporary, .createNew, permissions: permissions & 0o777)
        written.withLock { $0.file = file }
        return file
    }

    /// It reads only a few samples of the file.
    private func identityOfTemporary(_ written: OpenFile) throws(FileError) -> ArchiveIdentity {
        let file = try layer.open(temporary, .read)
        defer { layer.close(file) }
        let (found, made) = try (layer.status(file), layer.status(written))
        guard found.isSameFile(as: made) else { throw exchanged }
        return try ArchiveIdentity(of: file, size: found.size, using: layer)
    }

    private var exchanged: FileError {
        FileError(
            .write, path, code: FileLayerCode.inputOutput,
            reason: "another program exchanged or changed the new version while it was written")
    }

    /// Puts the archive in place.
    ///
    /// - Returns: its status.
    /// - Throws: `FileError`, also when its file was exchanged or has another size than what was written.
    func putInPlace() throws(FileError) -> FileStatus {
        let (file, identity) = written.withLock { ($0.file, $0.identity) }
        guard let file else { throw FileError(.rename, path, code: FileLayerCode.absent) }
        let status = try layer.status(file)
        guard UInt64(status.size) == identity.size else { throw exchanged }
        try layer.rename(temporary, being: status, to: path)
        close()
        return status
    }

    private func close() {
        if let file = written.withLock({ $0.file.take() }) { layer.close(file) }
    }

    deinit { close() }

    /// The message names the archive: the temporary file's name means nothing to the user.
    private func archiveError(_ error: FileError) -> StoreError {
        let error = FileError(.write, path, code: error.code, reason: error.reason)
        return StoreError(.inputOutput, error.message, path: path, cause: error)
    }

    /// Writes the index to a temporary file. Nothing depends on it: a failure here is no failure of the save, and
    /// damage by a power cut is detected by its checksums.
    private func writeIndex(_ draft: ItemIndexDraft?, _ identity: ArchiveIdentity, _ checksum: UInt64) {
        guard let indexTemporary, !snapshot.isDamaged, let bytes = draft?.file(of: identity, checksum) else { return }
        do throws(FileError) {
            let file = try layer.open(indexTemporary, .createNew, permissions: 0o600)
            defer { layer.close(file) }
            try layer.writeAll(bytes.span.bytes, to: file)
            layer.beginSync(file)
            written.withLock { $0.hasIndex = true }
        } catch {
            try? layer.remove(indexTemporary)
        }
    }

    /// Puts the index of the archive in place.
    ///
    /// - Returns: false if there is none.
    func putIndexInPlace() -> Bool {
        guard let indexPath, let indexTemporary, written.withLock({ $0.hasIndex }) else { return false }
        return (try? layer.rename(indexTemporary, to: indexPath)) != nil
    }

    /// Removes the temporary files.
    func remove() {
        close()
        try? layer.remove(temporary)
        if let indexTemporary { try? layer.remove(indexTemporary) }
    }
}

/// Follows the owner in read-only mode: its additions to the journal, and the new journal after a save.
extension ArchivePersistence: FollowingPersistence {
    package func takeOwnersCommits() throws(StoreError) -> [OwnersCommit]? {
        guard isReadOnly else { return [] }
        do {
            var commits: [OwnersCommit] = []
            if let tail { commits = try tail.commits(after: revision.rawValue) }
            if let last = commits.last { revision = last.revision }
            guard try folder.layer.status(journalPath) != nil, try tail?.isInPlace(journalPath) != true else {
                return commits
            }
            // A new journal: the first one, or the one after a save.
            let next = try JournalTail(journalPath, schema.schema, using: folder.layer)
            guard next.firstSequence <= revision.rawValue &+ 1 else { return nil }
            tail = next
            commits += try next.commits(after: revision.rawValue)
            if let last = commits.last { revision = last.revision }
            return commits
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.inputOutput, "\(error)", path: journalPath, cause: error)
        }
    }

    package func reopened() -> any FollowingPersistence {
        ArchivePersistence(
            folder: folder.path, using: folder.layer, isReadOnly: true, className: schema.className,
            mappedFrom: options.mappedFrom)
    }

    package func resume(from other: any FollowingPersistence) {
        guard let other = other as? ArchivePersistence else { return }
        (tail, revision) = (other.tail, other.revision)
    }
}

/// Runs calls of the file layer, and converts their errors to a store's.
package func attempt<Value>(_ body: () throws(FileError) -> Value) throws(StoreError) -> Value {
    do throws(FileError) {
        return try body()
    } catch {
        throw StoreError(file: error)
    }
}

extension StoreError {
    /// The error of a call of the file layer, as a store's.
    package init(file error: FileError) { self.init(.inputOutput, error.message, path: error.path, cause: error) }
}
