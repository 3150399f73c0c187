import CPlatform
import Glibc

/// The real file system.
public struct PosixFileLayer: FileLayer {
    /// Creates the layer; it has no state.
    public init() {}

    public func open(_ path: String, _ access: FileAccess, permissions: UInt32) throws(FileError) -> OpenFile {
        try check(path, .open)
        let descriptor = try retry(.open, path) { Glibc.open(path, access.flags, permissions) }
        return OpenFile(descriptor: descriptor, path: path)
    }

    public func close(_ file: OpenFile) {
        // Linux frees the descriptor even when close is interrupted: never repeat it.
        _ = Glibc.close(file.descriptor)
    }

    public func discard(_ file: OpenFile) {
        _ = WorkerThread {
            // Delays the close, so that the next step's disk writes do not wait for it.
            usleep(500_000)
            close(file)
        }
    }

    public func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        guard let base = buffer.baseAddress, !buffer.isEmpty else { return 0 }
        return try retry(.read, file.path) { Glibc.read(file.descriptor, base, buffer.count) }
    }

    public func read(
        _ file: OpenFile, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileError) -> Int {
        guard let base = buffer.baseAddress, !buffer.isEmpty else { return 0 }
        return try retry(.read, file.path) { pread(file.descriptor, base, buffer.count, off_t(offset)) }
    }

    public func writeAll(_ bytes: UnsafeRawBufferPointer, to file: OpenFile) throws(FileError) {
        let count = cubby_write(file.descriptor, bytes.baseAddress, bytes.count)
        if count < bytes.count { throw FileError(.write, file.path, code: errno) }
    }

    public func writeAll(
        _ bytes: UnsafeRawBufferPointer, to file: OpenFile, at offset: Int
    ) throws(FileError) {
        let count = cubby_write_at(file.descriptor, bytes.baseAddress, bytes.count, Int64(offset))
        if count < bytes.count { throw FileError(.write, file.path, code: errno) }
    }

    public func sync(_ file: OpenFile) throws(FileError) {
        _ = try retry(.sync, file.path) { fsync(file.descriptor) }
    }

    public func syncData(_ file: OpenFile) throws(FileError) {
        _ = try retry(.sync, file.path) { fdatasync(file.descriptor) }
    }

    public func beginSync(_ file: OpenFile) {
        // A failure is ignored, because `sync` reports it, too.
        _ = cubby_begin_sync(file.descriptor)
    }

    public func truncate(_ file: OpenFile, to size: Int) throws(FileError) {
        _ = try retry(.truncate, file.path) { ftruncate(file.descriptor, off_t(size)) }
    }

    public func setPermissions(_ file: OpenFile, to permissions: UInt32) throws(FileError) {
        _ = try retry(.setPermissions, file.path) { fchmod(file.descriptor, permissions) }
    }

    public func status(_ file: OpenFile) throws(FileError) -> FileStatus {
        var raw = stat()
        _ = try retry(.status, file.path) { fstat(file.descriptor, &raw) }
        return FileStatus(raw)
    }

    public func map(_ file: OpenFile) throws(FileError) -> MappedFile {
        try MappedFile(file, count: status(file).size)
    }

    public func rename(_ source: String, to target: String) throws(FileError) {
        try check(source, .rename)
        try check(target, .rename)
        _ = try retry(.rename, target) { Glibc.rename(source, target) }
    }

    public func rename(_ source: String, toNew target: String) throws(FileError) {
        try check(source, .rename)
        try check(target, .rename)
        let result = cubby_rename_new(AT_FDCWD, source, AT_FDCWD, target)
        if result < 0 { throw FileError(.rename, target, code: -result) }
    }

    public func link(_ source: String, to target: String) throws(FileError) {
        try check(source, .link)
        try check(target, .link)
        _ = try retry(.link, target) { Glibc.link(source, target) }
    }

    public func remove(_ path: String) throws(FileError) {
        try check(path, .remove)
        _ = try retry(.remove, path) { unlink(path) }
    }

    public func removeDirectory(_ path: String) throws(FileError) {
        try check(path, .remove)
        _ = try retry(.remove, path) { rmdir(path) }
    }

    public func syncDirectory(_ path: String) throws(FileError) {
        try check(path, .sync)
        let descriptor = try retry(.sync, path) { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { _ = Glibc.close(descriptor) }
        _ = try retry(.sync, path) { fsync(descriptor) }
    }

    public func status(_ path: String) throws(FileError) -> FileStatus? {
        try check(path, .status)
        var raw = stat()
        do throws(FileError) {
            _ = try retry(.status, path) { lstat(path, &raw) }
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw error
        }
        return FileStatus(raw)
    }

    public func linkTarget(_ path: String) throws(FileError) -> String {
        try check(path, .status)
        return try LinkTarget.read(AT_FDCWD, path, path)
    }

    public func list(_ path: String) throws(FileError) -> [String] {
        try check(path, .list)
        let descriptor = try retry(.list, path) { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        return try DirectoryEntries.names(descriptor: descriptor, path: path)
    }

    public func makeDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try check(path, .makeDirectory)
        _ = try retry(.makeDirectory, path) { mkdir(path, permissions) }
    }

    /// Refuses a NUL in a path, which C would truncate to another path.
    private func check(_ path: String, _ operation: FileError.Operation) throws(FileError) {
        if path.utf8.contains(0) { throw FileError(operation, path, code: EINVAL, reason: "the path holds a NUL") }
    }

    private func retry<Count: SignedInteger>(
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
