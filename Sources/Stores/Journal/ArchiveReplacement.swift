import Application
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
        let bytes = try ItemArchiveWriter(snapshot, schema).bytes()
        let identity = ArchiveIdentity(of: bytes)
        written.withLock { $0.identity = identity }
        // The disk takes its time: the index is made meanwhile.
        let index = indexPath.map { _ in WorkerThread { [self] in writeIndex(bytes, identity) } }
        defer { _ = index?.join() }
        do throws(FileError) {
            let permissions = try layer.status(path)?.permissions ?? 0o600
            let file = try layer.open(temporary, .createNew, permissions: permissions & 0o777)
            defer { layer.close(file) }
            try bytes.withBytes { bytes throws(FileError) in try layer.writeAll(bytes, to: file) }
            try layer.sync(file)
        } catch {
            // The user asked for the archive; the temporary file's name would mean nothing in the message.
            let error = FileError(.write, path, code: error.code, reason: error.reason)
            throw StoreError(.inputOutput, error.message, path: path, cause: error)
        }
    }

    /// Writes the index beside its place. Nothing depends on it: what fails here is no failure of the save.
    private func writeIndex(_ archive: [UInt8], _ identity: ArchiveIdentity) {
        guard let indexTemporary, !snapshot.isDamaged,
            let index = ItemIndexFile(snapshot, schema, identity, Checksum.hash(archive)),
            let bytes = try? index.bytes(snapshot)
        else { return }
        do throws(FileError) {
            let file = try layer.open(indexTemporary, .createNew, permissions: 0o600)
            defer { layer.close(file) }
            try bytes.withBytes { bytes throws(FileError) in try layer.writeAll(bytes, to: file) }
            try layer.sync(file)
            written.withLock { $0.hasIndex = true }
        } catch {
            try? layer.remove(indexTemporary)
        }
    }

    /// Gives the archive in place its index.
    func putIndexInPlace() {
        guard let indexPath, let indexTemporary, written.withLock({ $0.hasIndex }) else { return }
        try? layer.rename(indexTemporary, to: indexPath)
    }

    /// Removes what was written.
    func remove() {
        try? layer.remove(temporary)
        if let indexTemporary { try? layer.remove(indexTemporary) }
    }
}
