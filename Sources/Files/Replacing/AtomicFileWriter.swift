/// Writes a new version of a file piece by piece; readers see the old file until `commit`, and the whole new one after.
///
/// The pieces go to a temporary file in the same folder. A writer that is neither committed nor abandoned abandons itself
/// when it goes, so that an error on the way leaves the old file and nothing else. A device, a pipe or a socket is refused:
/// it would be gone. Use one from one thread.
package final class AtomicFileWriter {
    package let path: String
    /// How many bytes were appended.
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
    ///   - permissions: of the new file; if nil, those of the file that it replaces, else `0o644` less the umask.
    /// - Throws: `FileError` when the temporary file cannot be made.
    package init(_ path: String, using layer: any FileLayer, permissions: UInt32? = nil) throws(FileError) {
        self.path = path
        self.layer = layer
        temporary = PathText.join(PathText.parent(of: path), TemporaryName.next())
        let status = try layer.status(path)
        if [.other, .socket].contains(status?.kind) {
            throw FileError(.write, path, code: FileLayerCode.denied, reason: "it is no regular file")
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

    /// Puts the new version in the place of the old one.
    ///
    /// - Parameter durable: force the contents to the disk before the rename, and the folder's entry after it.
    /// - Throws: `FileError`. Up to the rename the old file is whole and the temporary one is removed. When only the
    ///   last step fails (an error with `operation == .sync` and the folder as its path) the new file is in place, and a
    ///   loss of power may still bring back the old one.
    package func commit(durable: Bool) throws(FileError) {
        guard let file else { throw FileError(.write, path, code: FileLayerCode.inputOutput, reason: "already closed") }
        do throws(FileError) {
            if durable { try layer.sync(file) }
            self.file = nil
            layer.close(file)
            try layer.rename(temporary, to: path)
        } catch {
            abandon()
            throw Self.naming(path, error)
        }
        pending = false
        if durable { try layer.syncDirectory(PathText.parent(of: path)) }
    }

    /// Gives the new version up and removes the temporary file. Does nothing after `commit`.
    package func abandon() {
        if let file { layer.close(file) }
        file = nil
        guard pending else { return }
        pending = false
        try? layer.remove(temporary)
    }

    /// The user asked for `path`; the temporary file's name would mean nothing in the message.
    private static func naming(_ path: String, _ error: FileError) -> FileError {
        error.saying(error.operation == .rename ? .rename : .write, path)
    }

    private static func keptPermissions(_ status: FileStatus) -> UInt32? {
        status.kind == .regular ? status.permissions & 0o777 : nil
    }
}
