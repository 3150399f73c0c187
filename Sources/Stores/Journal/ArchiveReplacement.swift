import Application
import Glibc
import Synchronization

/// A new archive in the making, in a temporary file beside the old one.
final class ArchiveReplacement: ItemReplacement {
    /// Where it is written; a name that the next launch's cleaning knows.
    let temporary: String
    /// The last record of the journal that it contains.
    let lastSequence: UInt64
    private let path: String
    private let snapshot: ItemSnapshot
    private let schema: ArchiveSchema
    private let layer: any FileLayer
    private let written = Mutex(ArchiveIdentity.none)

    init(path: String, snapshot: ItemSnapshot, schema: ArchiveSchema, layer: any FileLayer, lastSequence: UInt64) {
        self.path = path
        self.snapshot = snapshot
        self.schema = schema
        self.layer = layer
        self.lastSequence = lastSequence
        temporary = PathText.join(
            PathText.parent(of: path), ".cubby-\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))-s.tmp"
        )
    }

    /// The archive that was written.
    var identity: ArchiveIdentity { written.withLock { $0 } }

    func write() throws(StoreError) {
        let bytes = try ItemArchiveWriter(snapshot, schema).bytes()
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
        let identity = ArchiveIdentity(of: bytes)
        written.withLock { $0 = identity }
    }

    /// Removes what was written.
    func remove() {
        try? layer.remove(temporary)
    }
}
