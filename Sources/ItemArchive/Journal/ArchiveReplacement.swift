import ColumnEngine
import Files
import PropertyList
import Synchronization

/// A new archive in the making, in a temporary file beside the old one.
final class ArchiveReplacement: ItemReplacement {
    /// Where it is written; a name that the next launch's cleaning knows.
    let temporary: String
    /// The last record of the journal that it contains.
    let lastSequence: UInt64
    private let path: String
    private let indexPath: String?
    private let indexTemporary: String?
    private let snapshot: ItemSnapshot
    private let schema: ArchiveSchema
    private let layer: any FileLayer
    private let written = Mutex((identity: ArchiveIdentity.none, hasIndex: false))

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

    /// The archive that was written.
    var identity: ArchiveIdentity { written.withLock { $0.identity } }

    func write() throws(StoreError) {
        let writer = ItemArchiveWriter(snapshot, schema)
        if writer.isLarge { return try writeLarge(writer) }
        let bytes = try writer.bytes()
        let identity = ArchiveIdentity(of: bytes)
        written.withLock { $0.identity = identity }
        // The disk takes its time: the index is made meanwhile.
        let index = indexPath.map { _ in
            WorkerThread { [self] in writeIndex(ItemIndexDraft(snapshot, schema), identity, Checksum.hash(bytes)) }
        }
        defer { _ = index?.join() }
        do throws(FileError) {
            let file = try openTemporary()
            defer { layer.close(file) }
            try bytes.withBytes { bytes throws(FileError) in try layer.writeAll(bytes, to: file) }
            try layer.sync(file)
        } catch {
            throw archiveError(error)
        }
    }

    /// Writes an archive while it is made, and its index.
    private func writeLarge(_ writer: ItemArchiveWriter) throws(StoreError) {
        let draft = indexPath.map { [schema, copy = ItemSnapshot(snapshot)] _ in
            WorkerThread { ItemIndexDraft(copy, schema) }
        }
        let file: OpenFile
        do throws(FileError) { file = try openTemporary() } catch { throw archiveError(error) }
        let output = ArchiveOutput(file, layer)
        defer {
            // Where an error ends this, a thread may still be writing.
            output.wait()
            layer.close(file)
        }
        do throws(StoreError) {
            try writer.write(to: output)
        } catch {
            throw output.failure.map { archiveError($0) } ?? error
        }
        do throws(FileError) {
            let checksum = try output.finish()
            let identity = try identityOfTemporary()
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
        return try layer.open(temporary, .createNew, permissions: permissions & 0o777)
    }

    /// A few samples of the file are enough.
    private func identityOfTemporary() throws(FileError) -> ArchiveIdentity {
        let file = try layer.open(temporary, .read)
        defer { layer.close(file) }
        return try ArchiveIdentity(of: file, size: layer.status(file).size, using: layer)
    }

    /// The user asked for the archive; the temporary file's name would mean nothing in the message.
    private func archiveError(_ error: FileError) -> StoreError {
        let error = FileError(.write, path, code: error.code, reason: error.reason)
        return StoreError(.inputOutput, error.message, path: path, cause: error)
    }

    /// Writes the index beside its place. Nothing depends on it: what fails here is no failure of the save, and what a power
    /// cut leaves of it shows by its checksums.
    private func writeIndex(_ draft: ItemIndexDraft?, _ identity: ArchiveIdentity, _ checksum: UInt64) {
        guard let indexTemporary, !snapshot.isDamaged, let bytes = draft?.file(of: identity, checksum) else { return }
        do throws(FileError) {
            let file = try layer.open(indexTemporary, .createNew, permissions: 0o600)
            defer { layer.close(file) }
            try bytes.withBytes { bytes throws(FileError) in try layer.writeAll(bytes, to: file) }
            layer.beginSync(file)
            written.withLock { $0.hasIndex = true }
        } catch {
            try? layer.remove(indexTemporary)
        }
    }

    /// Gives the archive in place its index.
    ///
    /// - Returns: false when it has none.
    func putIndexInPlace() -> Bool {
        guard let indexPath, let indexTemporary, written.withLock({ $0.hasIndex }) else { return false }
        return (try? layer.rename(indexTemporary, to: indexPath)) != nil
    }

    /// Removes what was written.
    func remove() {
        try? layer.remove(temporary)
        if let indexTemporary { try? layer.remove(indexTemporary) }
    }
}
