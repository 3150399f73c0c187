import Glibc
import Synchronization

/// Atomic replacement of files: readers see the complete old file or the complete new one.
package enum AtomicFile {
    /// Replaces a file's contents: temporary file in the same folder, write, fsync, rename, fsync of the folder.
    ///
    /// - Parameters:
    ///   - bytes: the new contents.
    ///   - path: the file; it need not exist, its folder must.
    ///   - layer: the file system.
    ///   - durable: false omits both fsyncs: the file survives a crash of the process, perhaps not one of the machine.
    ///   - permissions: the new file's; if nil, those of the replaced file, else `0o644` less the umask.
    /// - Throws: `FileError`; `AtomicFileWriter.commit(durable:)` describes the state then.
    package static func write(
        _ bytes: [UInt8], to path: String, using layer: any FileLayer = PosixFileLayer(), durable: Bool = true,
        permissions: UInt32? = nil
    ) throws(FileError) {
        try bytes.withBytes { (bytes) throws(FileError) in
            try write(bytes, to: path, using: layer, durable: durable, permissions: permissions)
        }
    }

    /// Replaces a file's contents with bytes of a buffer.
    ///
    /// - Parameters:
    ///   - bytes: the new contents.
    ///   - path: the file.
    ///   - layer: the file system.
    ///   - durable: whether to fsync.
    ///   - permissions: the new file's.
    /// - Throws: `FileError`.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to path: String, using layer: any FileLayer = PosixFileLayer(),
        durable: Bool = true, permissions: UInt32? = nil
    ) throws(FileError) {
        let writer = try AtomicFileWriter(path, using: layer, permissions: permissions)
        try writer.append(bytes)
        try writer.commit(durable: durable)
    }

    /// Removes the temporary files of interrupted writes by earlier processes from a folder.
    ///
    /// It requires the container's lock: otherwise it would remove temporary files of another running process.
    ///
    /// - Parameters:
    ///   - folder: the folder; subfolders are not visited.
    ///   - layer: the file system.
    /// - Returns: the names of the removed files.
    /// - Throws: `FileError` when the folder cannot be read; failed removals are ignored.
    @discardableResult
    package static func removeLeftovers(
        in folder: String, using layer: any FileLayer = PosixFileLayer()
    ) throws(FileError) -> [String] {
        var removed: [String] = []
        for name in try layer.list(folder) where TemporaryName.matches(name) && !TemporaryName.isOwn(name) {
            do throws(FileError) {
                try layer.remove(PathText.join(folder, name))
                removed.append(name)
            } catch {
                continue
            }
        }
        return removed
    }
}

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
        let preserved = permissions ?? status.flatMap(Self.preservedPermissions)
        let file: OpenFile
        do throws(FileError) {
            file = try layer.open(temporary, .createNew, permissions: preserved ?? 0o644)
        } catch {
            throw Self.naming(path, error)
        }
        self.file = file
        pending = true
        guard let preserved else { return }
        do throws(FileError) {
            try layer.setPermissions(file, to: preserved)
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
            try layer.writeAll(bytes.bytes, to: file)
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
        try bytes.withBytes { buffer throws(FileError) in try append(buffer) }
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

    private static func preservedPermissions(_ status: FileStatus) -> UInt32? {
        status.kind == .regular ? status.permissions & 0o777 : nil
    }
}

/// Names of an atomic write's temporary files: `.cubby-<pid>-<token>-<number>.tmp`.
///
/// The token is random for each process, which distinguishes it from an earlier process with the same id, as in
/// containers. Files that are written for scripts have a token of their own: the fence closes all other temporary files
/// to scripts, so that none changes what the host is writing.
package enum TemporaryName {
    static let prefix = ".cubby-"
    static let suffix = ".tmp"
    private static let counter = Atomic<UInt64>(0)
    private static let own = makeStart()
    private static let ofScripts = makeStart()

    private static func makeStart() -> String {
        "\(prefix)\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))-"
    }

    /// A unique name, for a writer that creates its temporary file itself.
    ///
    /// - Parameter forScript: whether a script is to reach it.
    /// - Returns: a file name without folder.
    package static func next(forScript: Bool = false) -> String {
        (forScript ? ofScripts : own) + String(counter.wrappingAdd(1, ordering: .relaxed).newValue) + suffix
    }

    /// Whether a name has the form of a temporary file, of any process.
    ///
    /// - Parameter name: a file name without folder.
    /// - Returns: true for a name that `AtomicFile.removeLeftovers(in:using:)` removes.
    package static func matches(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(suffix)
    }

    static func isOwn(_ name: String) -> Bool { name.hasPrefix(own) || name.hasPrefix(ofScripts) }

    /// Whether a component of a path is a temporary file that scripts must not reach; in any case, since some file
    /// systems do not distinguish it.
    package static func isClosed(in path: String) -> Bool {
        path.utf8.split(separator: UInt8(ascii: "/")).contains { component in
            guard component.first == UInt8(ascii: "."), component.count >= prefix.utf8.count + suffix.utf8.count else {
                return false
            }
            return isEqual(component.prefix(prefix.utf8.count), prefix)
                && isEqual(component.suffix(suffix.utf8.count), suffix) && !component.starts(with: ofScripts.utf8)
        }
    }

    private static func isEqual(_ bytes: some Collection<UInt8>, _ lowercase: String) -> Bool {
        bytes.lazy.map { UInt8(ascii: "A") <= $0 && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
            .elementsEqual(lowercase.utf8)
    }
}
