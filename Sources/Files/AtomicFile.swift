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
        if status?.kind == .directory { throw FileError(.write, path, code: FileLayerCode.isDirectory) }
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

/// A private folder beside a target, for work whose result appears at the target in one step.
///
/// It is made under a random name, and everything in it is reached through the open folder, so that neither a file of
/// others nor a link is in its way. A file in it marks it as this program's, and is locked while the work goes on: the
/// next work in the same place removes what a killed process left, and nothing else.
package final class WorkFolder {
    private static let prefix = ".cubby-work-"
    private static let markName = "mark"
    private static let markText = Array("A folder of unfinished work of cubby, which the next one removes.\n".utf8)

    /// Its path.
    package let path: String
    /// The file system beneath it.
    package let layer: any FileLayer
    private let above: any FileLayer
    private var mark: OpenFile?

    /// Makes the folder.
    ///
    /// - Parameters:
    ///   - target: where the result is to appear, absolute.
    ///   - layer: the file system of the target's folder.
    /// - Throws: `FileError`.
    package init(beside target: String, using layer: any FileLayer) throws(FileError) {
        above = layer
        let folder = PathText.parent(of: target)
        Self.removeLeftovers(in: folder, using: layer)
        (path, self.layer, mark) = try Self.make(in: folder, using: layer)
    }

    private static func make(
        in folder: String, using layer: any FileLayer
    ) throws(FileError) -> (path: String, layer: any FileLayer, mark: OpenFile) {
        while true {
            let path = PathText.join(folder, prefix + String(UInt64.random(in: .min ... .max), radix: 36))
            do throws(FileError) {
                try layer.makeDirectory(path, permissions: 0o700)
                let inside = try layer.beneath(path)
                guard try inside.status(path)?.owner == geteuid() else {
                    throw FileError(.makeDirectory, path, code: EACCES, reason: "another user exchanged it")
                }
                return (path, inside, try makeMark(in: path, inside))
            } catch {
                // A name in use; or another process took the new folder, while it was empty, for a leftover.
                let isGone = error.code == ENOENT && layer.exists(folder + "/.")
                guard error.code == EEXIST || isGone else { throw error }
            }
        }
    }

    deinit { remove() }

    /// The path of a name in the folder.
    package func file(_ name: String) -> String { PathText.join(path, name) }

    /// Puts a file or folder at its target, where nothing may be.
    ///
    /// - Parameters:
    ///   - name: its name in the folder.
    ///   - target: the target.
    /// - Throws: `FileError`: `EEXIST` if there is something at the target.
    package func put(_ name: String, at target: String) throws(FileError) {
        let source = file(name)
        guard let made = try layer.status(source) else { throw FileError(.rename, source, code: ENOENT) }
        try above.rename(source, being: made, to: target, replaces: false)
        try above.syncDirectory(PathText.parent(of: target))
    }

    /// Removes the folder and its contents. Idempotent.
    package func remove() {
        guard let mark else { return }
        Self.remove(path, layer, above)
        layer.close(mark)
        self.mark = nil
    }

    private static func makeMark(in path: String, _ inside: any FileLayer) throws(FileError) -> OpenFile {
        let place = PathText.join(path, markName)
        let mark = try inside.open(place, .createNew, permissions: 0o600)
        while flock(mark.descriptor, LOCK_EX) != 0, errno == EINTR {}
        do throws(FileError) {
            // Before it was locked, another process may have removed it as a leftover.
            if try inside.status(place) == nil { throw FileError(.open, place, code: ENOENT) }
            try inside.writeAll(markText.span.bytes, to: mark)
        } catch {
            inside.close(mark)
            throw error
        }
        return mark
    }

    /// Removes the folders of ended processes of this user.
    private static func removeLeftovers(in folder: String, using layer: any FileLayer) {
        for name in (try? layer.list(folder)) ?? [] where name.hasPrefix(prefix) {
            let path = PathText.join(folder, name)
            guard let inside = try? layer.beneath(path), (try? inside.status(path))?.owner == geteuid() else {
                continue
            }
            guard let mark = try? inside.open(PathText.join(path, markName), .read) else {
                // One that was made or removed only in part.
                try? layer.removeDirectory(path)
                continue
            }
            defer { inside.close(mark) }
            guard flock(mark.descriptor, LOCK_EX | LOCK_NB) == 0,
                let text = try? inside.contents(of: mark, limit: 4096), markText.starts(with: text)
            else { continue }
            remove(path, inside, layer)
        }
    }

    /// The mark goes last. The folder itself is only removed when it is empty: what has taken its name stays.
    private static func remove(_ path: String, _ inside: any FileLayer, _ above: any FileLayer) {
        guard let names = try? inside.list(path) else { return }
        for name in names where name != markName {
            FolderRemover.remove(PathText.join(path, name), using: inside)
        }
        try? inside.remove(PathText.join(path, markName))
        try? above.removeDirectory(path)
    }
}
