import Application
import Glibc
import Synchronization

/// A file system that fails the n-th call that can fail, having written half of the bytes if that call is a write.
final class FailingFileLayer: FileLayer {
    private let real = PosixFileLayer()
    private let failAt: Int
    private let code: Int32
    private let state = Mutex<(count: Int, calls: [String], failed: String?, open: Int)>((0, [], nil, 0))

    init(failAt: Int = .max, code: Int32 = ENOSPC) {
        self.failAt = failAt
        self.code = code
    }

    var count: Int { state.withLock { $0.count } }
    var calls: [String] { state.withLock { $0.calls } }
    var failedCall: String? { state.withLock { $0.failed } }
    /// Files opened and not closed.
    var openFiles: Int { state.withLock { $0.open } }

    private func step(_ name: String, _ operation: FileError.Operation, _ path: String) throws(FileError) {
        let fails = state.withLock { state in
            state.count += 1
            state.calls.append(name)
            if state.count == failAt { state.failed = name }
            return state.count == failAt
        }
        if fails { throw FileError(operation, path, code: code) }
    }

    func open(_ path: String, _ access: FileAccess, permissions: UInt32) throws(FileError) -> OpenFile {
        try step("open", .open, path)
        let file = try real.open(path, access, permissions: permissions)
        state.withLock { $0.open += 1 }
        return file
    }

    func close(_ file: OpenFile) {
        state.withLock { $0.open -= 1 }
        real.close(file)
    }

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
