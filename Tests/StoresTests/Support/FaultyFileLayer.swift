import Application
import Glibc
import Synchronization

/// A file system that fails the n-th call that changes or reads something, having written half of the bytes if that
/// call is a write. With `keepsFailing` every call from then on fails, as on a full or lost disk.
final class FaultyFileLayer: FileLayer {
    private struct State {
        var count = 0
        var failAt = Int.max
        var keepsFailing = false
        var failed: String?
    }

    private let real = PosixFileLayer()
    private let code: Int32
    private let state = Mutex(State())

    init(code: Int32 = ENOSPC) {
        self.code = code
    }

    /// Calls since `arm`.
    var count: Int { state.withLock { $0.count } }
    var failedCall: String? { state.withLock { $0.failed } }

    /// Fails the n-th call from now on.
    func arm(failAt: Int, keepsFailing: Bool = false) {
        state.withLock { $0 = State(failAt: failAt, keepsFailing: keepsFailing) }
    }

    func disarm() { arm(failAt: .max) }

    private func step(_ name: String, _ operation: FileError.Operation, _ path: String) throws(FileError) {
        let fails = state.withLock { state in
            state.count += 1
            let fails = state.count == state.failAt || state.keepsFailing && state.count > state.failAt
            if fails, state.failed == nil { state.failed = name }
            return fails
        }
        if fails { throw FileError(operation, path, code: code) }
    }

    func open(_ path: String, _ access: FileAccess, permissions: UInt32) throws(FileError) -> OpenFile {
        try step("open", .open, path)
        return try real.open(path, access, permissions: permissions)
    }

    func close(_ file: OpenFile) { real.close(file) }

    func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try step("read", .read, file.path)
        return try real.read(file, into: buffer)
    }

    func writeAll(_ bytes: UnsafeRawBufferPointer, to file: OpenFile) throws(FileError) {
        do throws(FileError) {
            try step("write", .write, file.path)
        } catch {
            try real.writeAll(UnsafeRawBufferPointer(rebasing: bytes.prefix(bytes.count / 2)), to: file)
            throw error
        }
        try real.writeAll(bytes, to: file)
    }

    func sync(_ file: OpenFile) throws(FileError) {
        try step("sync", .sync, file.path)
        try real.sync(file)
    }

    func truncate(_ file: OpenFile, to size: Int) throws(FileError) {
        try step("truncate", .truncate, file.path)
        try real.truncate(file, to: size)
    }

    func setPermissions(_ file: OpenFile, to permissions: UInt32) throws(FileError) {
        try step("setPermissions", .setPermissions, file.path)
        try real.setPermissions(file, to: permissions)
    }

    func status(_ file: OpenFile) throws(FileError) -> FileStatus {
        try step("status", .status, file.path)
        return try real.status(file)
    }

    func map(_ file: OpenFile) throws(FileError) -> MappedFile {
        try step("map", .map, file.path)
        return try real.map(file)
    }

    func rename(_ source: String, to target: String) throws(FileError) {
        try step("rename", .rename, target)
        try real.rename(source, to: target)
    }

    func remove(_ path: String) throws(FileError) { try real.remove(path) }
    func removeDirectory(_ path: String) throws(FileError) { try real.removeDirectory(path) }

    func syncDirectory(_ path: String) throws(FileError) {
        try step("syncDirectory", .sync, path)
        try real.syncDirectory(path)
    }

    func status(_ path: String) throws(FileError) -> FileStatus? {
        try step("status", .status, path)
        return try real.status(path)
    }

    func list(_ path: String) throws(FileError) -> [String] {
        try step("list", .list, path)
        return try real.list(path)
    }

    func makeDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try step("makeDirectory", .makeDirectory, path)
        try real.makeDirectory(path, permissions: permissions)
    }
}
