import ColumnEngine
import Files
import PropertyList
import Synchronization

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
            try bytes.withBytes { bytes throws(FileError) in try layer.writeAll(bytes, to: file) }
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
        guard found.inode == made.inode, found.device == made.device else { throw exchanged }
        return try ArchiveIdentity(of: file, size: found.size, using: layer)
    }

    private var exchanged: FileError {
        FileError(
            .write, path, code: FileLayerCode.inputOutput,
            reason: "another program exchanged or changed the new version while it was written")
    }

    /// Puts the archive in place.
    ///
    /// - Throws: `FileError`, also when its file was exchanged or has another size than what was written.
    func putInPlace() throws(FileError) {
        let (file, identity) = written.withLock { ($0.file, $0.identity) }
        guard let file else { throw FileError(.rename, path, code: FileLayerCode.absent) }
        let status = try layer.status(file)
        guard UInt64(status.size) == identity.size else { throw exchanged }
        try layer.rename(temporary, being: status, to: path)
        close()
    }

    private func close() {
        let file = written.withLock { written in
            defer { written.file = nil }
            return written.file
        }
        if let file { layer.close(file) }
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
            try bytes.withBytes { bytes throws(FileError) in try layer.writeAll(bytes, to: file) }
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
