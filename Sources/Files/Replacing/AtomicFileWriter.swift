/// Writes a new version of a file in pieces. Readers see the old file until `commit`, then the complete new one.
///
/// The pieces go to a temporary file in the same folder. A writer that is released without `commit` abandons the new
/// version, so that an error leaves only the old file. What takes the old file's place is the file that was written: it
/// stays open until then, and its identity and size are checked. A device, a pipe or a socket is refused, because it would be
/// replaced. A writer belongs to one thread.
package final class AtomicFileWriter {
    package let path: String
    /// The number of bytes written so far.
    package private(set) var count = 0

    private let layer: any FileLayer
    private let temporary: String
    private var file: OpenFile?
    private var pending = false

    /// Begins a new version; the file itself need not exist, its folder must.
    ///
    /// - Parameters:
    ///   - path: the file to replace.
    ///   - layer: the file system.
    ///   - permissions: the new file's; if nil, those of the replaced file, else `0o644` less the umask.
    /// - Throws: `FileError` when the temporary file cannot be made.
    package init(_ path: String, using layer: any FileLayer, permissions: UInt32? = nil) throws(FileError) {
        self.path = path
        self.layer = layer
        temporary = PathText.join(PathText.parent(of: path), layer.temporaryName())
        let status = try layer.status(path)
        if [.other, .socket].contains(status?.kind) {
            throw FileError(.write, path, code: FileLayerCode.denied, reason: "it is not a regular file")
        }
        let kept = permissions ?? status.flatMap(Self.keptPermissions)
        let file: OpenFile
        do throws(FileError) {
            file = try layer.open(temporary, .createNew, permissions: kept ?? 0o644)
        } catch {
            throw Self.naming(path, error)
        }
        self.file = file
        pending = true
        guard let kept else { return }
        do throws(FileError) {
            try layer.setPermissions(file, to: kept)
        } catch {
            abandon()
            throw Self.naming(path, error)
        }
    }

    deinit { abandon() }

    /// Appends bytes to the new version.
    ///
    /// - Parameter bytes: the next piece, of any size; few large pieces cost less than many small ones.
    /// - Throws: `FileError`; the writer has then been abandoned.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        guard let file else { throw FileError(.write, path, code: FileLayerCode.inputOutput, reason: "already closed") }
        do throws(FileError) {
            try layer.writeAll(bytes, to: file)
        } catch {
            abandon()
            throw Self.naming(path, error)
        }
        count += bytes.count
    }

    /// Appends bytes to the new version.
    ///
    /// - Parameter bytes: the next piece.
    /// - Throws: `FileError`; the writer has then been abandoned.
    package func append(_ bytes: [UInt8]) throws(FileError) {
        try bytes.withUnsafeBytesThrowing { buffer throws(FileError) in try append(buffer) }
    }

    /// Starts writing the appended bytes to the disk, so that less remains for `commit`.
    package func beginSync() {
        if let file { layer.beginSync(file) }
    }

    /// Replaces the old version with the new one.
    ///
    /// - Parameter durable: force the contents to the disk before the rename, and the folder's entry after it.
    /// - Throws: `FileError`. Before the rename the old file is unchanged and the temporary one is removed. When only
    ///   the last step fails (an error with `operation == .sync` and the folder as its path), the new file is in place,
    ///   and a loss of power may still restore the old one.
    package func commit(durable: Bool) throws(FileError) {
        guard let file else { throw FileError(.write, path, code: FileLayerCode.inputOutput, reason: "already closed") }
        do throws(FileError) {
            if durable { try layer.sync(file) }
            // Whoever can write in the folder may have exchanged the file, or changed it.
            let written = try layer.status(file)
            guard written.size == count else {
                throw FileError(
                    .write, path, code: FileLayerCode.inputOutput,
                    reason: "another program changed the new version while it was written")
            }
            try layer.rename(temporary, being: written, to: path)
            self.file = nil
            layer.close(file)
        } catch {
            abandon()
            throw Self.naming(path, error)
        }
        pending = false
        if durable { try layer.syncDirectory(PathText.parent(of: path)) }
    }

    /// Abandons the new version and removes the temporary file. Does nothing after `commit`.
    package func abandon() {
        if let file { layer.close(file) }
        file = nil
        guard pending else { return }
        pending = false
        try? layer.remove(temporary)
    }

    /// Replaces the temporary file's path in an error, which is meaningless to the user.
    private static func naming(_ path: String, _ error: FileError) -> FileError {
        error.replacing(error.operation == .rename ? .rename : .write, path)
    }

    private static func keptPermissions(_ status: FileStatus) -> UInt32? {
        status.kind == .regular ? status.permissions & 0o777 : nil
    }
}
