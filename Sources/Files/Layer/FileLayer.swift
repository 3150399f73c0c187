import CPlatform
import Glibc
@_exported import Wording

/// The file operations of this package, each of which can fail.
///
/// `PosixFileLayer` is the real one; a test wraps it to fail the n-th call, and a sandbox to check every path.
/// Interrupted calls are repeated. Paths may be relative to the working directory.
package protocol FileLayer: Sendable {
    /// Opens a file, which the caller closes. `permissions` apply to a new file, less the umask.
    func open(_ path: String, _ access: FileAccess, permissions: UInt32) throws(FileError) -> OpenFile
    /// Closes a file. Errors are ignored, since `sync` has reported them.
    func close(_ file: OpenFile)
    /// Closes an unlinked file later on another thread, because freeing its blocks delays other disk operations.
    func discard(_ file: OpenFile)
    /// Reads at most `buffer.count` bytes from the current position and returns how many; 0 at the end.
    func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int
    /// Reads at most `buffer.count` bytes at an offset, without moving the position, and returns how many.
    func read(_ file: OpenFile, at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int
    /// Writes all bytes, however many calls that takes. On an error some of them may have been written.
    func writeAll(_ bytes: RawSpan, to file: OpenFile) throws(FileError)
    /// Writes all bytes at an offset, without moving the position. Not for files opened for appending.
    func writeAll(_ bytes: RawSpan, to file: OpenFile, at offset: Int) throws(FileError)
    /// Forces contents and size to the disk.
    func sync(_ file: OpenFile) throws(FileError)
    /// Forces contents to the disk, with the metadata that reading them needs: cheaper if the size is unchanged.
    func syncData(_ file: OpenFile) throws(FileError)
    /// Starts writing to the disk without waiting, so that `sync` has less to do.
    func beginSync(_ file: OpenFile)
    /// Changes a file's size, in bytes.
    func truncate(_ file: OpenFile, to size: Int) throws(FileError)
    /// Changes a file's permissions.
    func setPermissions(_ file: OpenFile, to permissions: UInt32) throws(FileError)
    /// The status of an open file.
    func status(_ file: OpenFile) throws(FileError) -> FileStatus
    /// Maps a whole open file read-only; `MappedFile` has the conditions.
    func map(_ file: OpenFile) throws(FileError) -> MappedFile
    /// Replaces `target` with `source`, atomically on one file system.
    func rename(_ source: String, to target: String) throws(FileError)
    /// Renames `source` to a name that is free: an existing `target` is not replaced (`EEXIST`).
    func rename(_ source: String, toNew target: String) throws(FileError)
    /// Creates a hard link; an existing `target` is not replaced.
    func link(_ source: String, to target: String) throws(FileError)
    /// Removes a file (not a folder).
    func remove(_ path: String) throws(FileError)
    /// Removes an empty folder.
    func removeDirectory(_ path: String) throws(FileError)
    /// Forces a folder's entries to the disk, so that a rename in it is durable.
    func syncDirectory(_ path: String) throws(FileError)
    /// The status of a path, which for a link is the link's own; nil when nothing is there.
    func status(_ path: String) throws(FileError) -> FileStatus?
    /// The target of a symbolic link as stored: absolute, or relative to its folder.
    func linkTarget(_ path: String) throws(FileError) -> String
    /// The names in a folder, without "." and "..", in byte order. Names that are not UTF-8 are omitted.
    func list(_ path: String) throws(FileError) -> [String]
    /// Makes one folder; its parent must exist. `permissions` less the umask.
    func makeDirectory(_ path: String, permissions: UInt32) throws(FileError)
    /// The file system beneath a folder, which stays open: the paths of its calls begin with the folder's, and reach
    /// this very folder whatever takes its name. It follows no link beneath the folder.
    func beneath(_ folder: String) throws(FileError) -> any FileLayer
    /// A name for a temporary file, unused so far.
    func temporaryName() -> String
}

extension FileLayer {
    package func discard(_ file: OpenFile) { close(file) }

    package func beginSync(_ file: OpenFile) {}

    package func beneath(_ folder: String) throws(FileError) -> any FileLayer { try BeneathFileLayer(folder) }

    package func temporaryName() -> String { TemporaryName.next() }

    package func rename(_ source: String, toNew target: String) throws(FileError) {
        if try status(target) != nil { throw FileError(.rename, target, code: FileLayerCode.exists) }
        try rename(source, to: target)
    }

    /// Renames a file or folder to the first of a row of names that is free.
    ///
    /// - Parameters:
    ///   - source: its name.
    ///   - name: the names, by their numbers from 1.
    /// - Returns: its new name.
    /// - Throws: `FileError` when it cannot be renamed.
    package func rename(_ source: String, toFree name: (Int) -> String) throws(FileError) -> String {
        var number = 1
        while true {
            do throws(FileError) {
                try rename(source, toNew: name(number))
                return name(number)
            } catch {
                guard error.code == FileLayerCode.exists else { throw error }
                number += 1
            }
        }
    }

    /// Renames the file or folder of a status, and nothing that has taken its name meanwhile.
    ///
    /// - Parameters:
    ///   - source: its name.
    ///   - status: its status, from an open descriptor or of its making.
    ///   - target: its new name.
    ///   - replaces: whether a file there is replaced.
    /// - Throws: `FileError`; also, with the target as its path, when something else had the name.
    package func rename(
        _ source: String, being status: FileStatus, to target: String, replaces: Bool = true
    ) throws(FileError) {
        func check(_ found: FileStatus?) throws(FileError) {
            guard let found, found.inode == status.inode, found.device == status.device else {
                throw FileError(
                    .rename, target, code: FileLayerCode.inputOutput,
                    reason: "another program exchanged the new version while it was written")
            }
        }
        try check(self.status(source))
        if replaces { try rename(source, to: target) } else { try rename(source, toNew: target) }
        // Renamed it is: that it cannot be examined now is no failure.
        if let found = try? self.status(target) { try check(found) }
    }

    package func linkTarget(_ path: String) throws(FileError) -> String {
        throw FileError(.status, path, code: FileLayerCode.denied, reason: "links are not followed here")
    }

    /// Opens with the usual permissions of a new file, `0o644` less the umask.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - access: the access mode.
    /// - Returns: the open file.
    /// - Throws: `FileError` when it cannot be opened.
    package func open(_ path: String, _ access: FileAccess) throws(FileError) -> OpenFile {
        try open(path, access, permissions: 0o644)
    }

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - limit: a larger file is refused with `EFBIG`.
    /// - Returns: its bytes.
    /// - Throws: `FileError` when it cannot be opened or read, or is larger than `limit`.
    package func contents(of path: String, limit: Int = .max) throws(FileError) -> [UInt8] {
        let file = try open(path, .read)
        defer { close(file) }
        return try contents(of: file, limit: limit)
    }

    /// Reads an open file from its position to its end.
    ///
    /// - Parameters:
    ///   - file: open for reading.
    ///   - limit: a larger file is refused with `EFBIG`.
    /// - Returns: its bytes.
    /// - Throws: `FileError` when it cannot be read, or is larger than `limit`.
    package func contents(of file: OpenFile, limit: Int = .max) throws(FileError) -> [UInt8] {
        let size = try status(file).size
        guard size <= limit else { throw FileError(.read, file.path, code: FileLayerCode.tooLarge) }
        guard Int64(size) <= cubby_work_capacity(), hasCapacity(for: size) else {
            throw FileError(.read, file.path, code: FileLayerCode.noMemory)
        }
        // Reserves one byte more than the size to detect the end without growing; pipes and /proc report size 0.
        var bytes: [UInt8] = []
        var chunk = max(size, 4095) + 1
        while true {
            let wanted = chunk
            var failure: FileError?
            let piece = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                do throws(FileError) {
                    while count < wanted {
                        if cubby_work_is_stopped() != 0 {
                            throw FileError(.read, file.path, code: FileLayerCode.interrupted)
                        }
                        // Reads a megabyte at a time, because the work may be interrupted in between.
                        let rest = UnsafeMutableRawBufferPointer(
                            rebasing: UnsafeMutableRawBufferPointer(buffer)[count..<min(count + 1 << 20, wanted)])
                        let got = try read(file, into: rest)
                        if got == 0 { break }
                        count += got
                    }
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            if bytes.isEmpty { bytes = piece } else { bytes += piece }
            guard bytes.count <= limit else { throw FileError(.read, file.path, code: FileLayerCode.tooLarge) }
            if piece.count < wanted { return bytes }
            chunk = min(max(bytes.count, 4096), 64 << 20)
        }
    }

    /// Whether the address space has room for a large file: Swift's own allocation would end the process.
    private func hasCapacity(for size: Int) -> Bool {
        guard size > 32 << 20 else { return true }
        let pages = mmap(nil, size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let pages, pages != MAP_FAILED else { return false }
        munmap(pages, size + 1)
        return true
    }

    /// Whether an object exists at a path, including a broken symbolic link.
    ///
    /// - Parameter path: the path.
    /// - Returns: whether something exists; false when the path cannot be examined.
    package func exists(_ path: String) -> Bool {
        (try? status(path)) != nil
    }

    /// Makes a folder and its missing parents.
    ///
    /// - Parameters:
    ///   - path: the folder, which may exist.
    ///   - permissions: the permissions of new folders, less the umask.
    /// - Throws: `FileError`, also when something else is in the place of a folder.
    package func makeDirectories(_ path: String, permissions: UInt32 = 0o700) throws(FileError) {
        do throws(FileError) {
            try makeDirectory(path, permissions: permissions)
        } catch {
            switch error.code {
            case FileLayerCode.exists: try checkFolder(path)
            case FileLayerCode.absent:
                let parent = PathText.parent(of: path)
                guard parent != path else { throw error }
                try makeDirectories(parent, permissions: permissions)
                do throws(FileError) { try makeDirectory(path, permissions: permissions) } catch {
                    // Another thread may have created it meanwhile.
                    guard error.code == FileLayerCode.exists else { throw error }
                    try checkFolder(path)
                }
            default: throw error
            }
        }
    }

    private func checkFolder(_ path: String) throws(FileError) {
        // A link to a folder is valid where links are followed; a status through "." follows it.
        let found: FileStatus?
        do throws(FileError) { found = try status(path + "/.") } catch {
            // A folder without permission is a different error than a file.
            throw error.replacing(error.code == FileLayerCode.notDirectory ? .makeDirectory : .open, path)
        }
        if found?.kind != .directory { throw FileError(.makeDirectory, path, code: FileLayerCode.notDirectory) }
    }
}

extension FileLayer {
    /// Reads an open file from its position to its end in pieces of at most a megabyte.
    ///
    /// - Parameters:
    ///   - file: open for reading.
    ///   - body: takes a piece, which is valid during the call only.
    /// - Throws: `FileError`, also when the work is interrupted; what `body` throws.
    package func forEachPiece(
        of file: OpenFile, _ body: (UnsafeRawBufferPointer) throws(FileError) -> Void
    ) throws(FileError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            if cubby_work_is_stopped() != 0 { throw FileError(.read, file.path, code: FileLayerCode.interrupted) }
            let count = try read(file, into: buffer)
            if count == 0 { return }
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// The SHA-256 of a file's contents.
    ///
    /// - Parameter path: the file.
    /// - Returns: its 32 bytes.
    /// - Throws: `FileError` when it cannot be read.
    package func digest(of path: String) throws(FileError) -> [UInt8] {
        let file = try open(path, .read)
        defer { close(file) }
        var digest = SHA256()
        try forEachPiece(of: file) { piece in digest.update(piece) }
        return digest.finish()
    }
}

/// A layer of files of the real file system. It has its own resolution of paths; what is done with the folder and the
/// name that a path leads to, and with an open file, is the same in all of them.
package protocol PathLayer: FileLayer {
    /// Refuses an operation that this layer does not permit, before any path is resolved.
    func checkMayChange(_ paths: [String], by operation: FileError.Operation) throws(FileError)

    /// Opens the folder of a path.
    func entry(of path: String, _ operation: FileError.Operation) throws(FileError) -> FolderEntry

    /// Opens a folder for reading; the caller closes it.
    func openFolder(_ path: String, _ operation: FileError.Operation) throws(FileError) -> OpenFile
}

extension PathLayer {
    package func rename(_ source: String, to target: String) throws(FileError) {
        try change(source, target, .rename) { renameat($0, $1, $2, $3) == 0 ? 0 : -errno }
    }

    package func rename(_ source: String, toNew target: String) throws(FileError) {
        try change(source, target, .rename, cubby_rename_new)
    }

    package func link(_ source: String, to target: String) throws(FileError) {
        try change(source, target, .link) { linkat($0, $1, $2, $3, 0) == 0 ? 0 : -errno }
    }

    package func remove(_ path: String) throws(FileError) {
        try change(path, .remove) { unlinkat($0, $1, 0) }
    }

    package func removeDirectory(_ path: String) throws(FileError) {
        try change(path, .remove) { unlinkat($0, $1, AT_REMOVEDIR) }
    }

    package func makeDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try change(path, .makeDirectory) { mkdirat($0, $1, permissions) }
    }

    package func syncDirectory(_ path: String) throws(FileError) {
        let folder = try openFolder(path, .sync)
        defer { close(folder) }
        try sync(folder)
    }

    package func list(_ path: String) throws(FileError) -> [String] {
        try DirectoryEntries.names(descriptor: openFolder(path, .list).descriptor, path: path)
    }

    private func change(
        _ path: String, _ operation: FileError.Operation, _ call: (Int32, String) -> Int32
    ) throws(FileError) {
        try checkMayChange([path], by: operation)
        let entry = try entry(of: path, operation)
        _ = try Self.retry(operation, path) { call(entry.folder, entry.name) }
    }

    /// Changes two names; the call returns a negative error number.
    private func change(
        _ source: String, _ target: String, _ operation: FileError.Operation,
        _ call: (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>) -> Int32
    ) throws(FileError) {
        try checkMayChange([source, target], by: operation)
        let old = try entry(of: source, operation)
        let new = try entry(of: target, operation)
        let result = call(old.folder, old.name, new.folder, new.name)
        if result < 0 { throw FileError(operation, target, code: -result) }
    }

    /// Repeats an interrupted call.
    static func retry<Count: SignedInteger>(
        _ operation: FileError.Operation, _ path: String, _ call: () -> Count
    ) throws(FileError) -> Count {
        while true {
            let result = call()
            if result >= 0 { return result }
            let code = errno
            if code != EINTR { throw FileError(operation, path, code: code) }
        }
    }
}

// Calls on open files.
extension PathLayer {
    package func close(_ file: OpenFile) {
        // Linux frees the descriptor even when close is interrupted: never repeat it.
        _ = Glibc.close(file.descriptor)
    }

    package func discard(_ file: OpenFile) {
        _ = WorkerThread {
            // Delays the close, so that the next step's disk writes do not wait for it.
            usleep(500_000)
            close(file)
        }
    }

    package func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        guard let base = buffer.baseAddress, !buffer.isEmpty else { return 0 }
        return try Self.retry(.read, file.path) { Glibc.read(file.descriptor, base, buffer.count) }
    }

    package func read(
        _ file: OpenFile, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileError) -> Int {
        guard let base = buffer.baseAddress, !buffer.isEmpty else { return 0 }
        return try Self.retry(.read, file.path) { pread(file.descriptor, base, buffer.count, off_t(offset)) }
    }

    package func writeAll(_ bytes: RawSpan, to file: OpenFile) throws(FileError) {
        let count = bytes.withUnsafeBytes { cubby_write(file.descriptor, $0.baseAddress, $0.count) }
        if count < bytes.byteCount { throw FileError(.write, file.path, code: errno) }
    }

    package func writeAll(_ bytes: RawSpan, to file: OpenFile, at offset: Int) throws(FileError) {
        let count = bytes.withUnsafeBytes { cubby_write_at(file.descriptor, $0.baseAddress, $0.count, Int64(offset)) }
        if count < bytes.byteCount { throw FileError(.write, file.path, code: errno) }
    }

    package func sync(_ file: OpenFile) throws(FileError) {
        _ = try Self.retry(.sync, file.path) { fsync(file.descriptor) }
    }

    package func syncData(_ file: OpenFile) throws(FileError) {
        _ = try Self.retry(.sync, file.path) { fdatasync(file.descriptor) }
    }

    package func beginSync(_ file: OpenFile) {
        // A failure is ignored, because `sync` reports it, too.
        _ = cubby_begin_sync(file.descriptor)
    }

    package func truncate(_ file: OpenFile, to size: Int) throws(FileError) {
        _ = try Self.retry(.truncate, file.path) { ftruncate(file.descriptor, off_t(size)) }
    }

    package func setPermissions(_ file: OpenFile, to permissions: UInt32) throws(FileError) {
        _ = try Self.retry(.setPermissions, file.path) { fchmod(file.descriptor, permissions) }
    }

    package func status(_ file: OpenFile) throws(FileError) -> FileStatus {
        var raw = stat()
        _ = try Self.retry(.status, file.path) { fstat(file.descriptor, &raw) }
        return FileStatus(raw)
    }

    package func map(_ file: OpenFile) throws(FileError) -> MappedFile {
        try MappedFile(file, count: status(file).size)
    }
}
