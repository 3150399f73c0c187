package import Files
import Glibc
import Synchronization

/// A file system that fails the n-th call that changes or reads something, having written half of the bytes if that
/// call is a write. With `keepsFailing` every call from then on fails, as on a full or lost disk.
package final class FaultyFileLayer: FileLayer {
    private struct State {
        var calls: [String] = []
        var trace: [String] = []
        var failAt = Int.max
        var keepsFailing = false
        var failed: String?
        var open = 0
        var writing: [OpenFile] = []
        var wasClosedWhileWriting = false
    }

    /// What a layer and those beneath its folders have in common.
    private final class Shared: Sendable {
        let state = Mutex(State())
        let beforeOpening = Mutex<(@Sendable (String) -> Void)?>(nil)
        let beforeChange = Mutex<(@Sendable () -> Void)?>(nil)
    }

    private let real: any FileLayer
    private let code: Int32
    private let shared: Shared

    /// - Parameters:
    ///   - real: the file system.
    ///   - failAt: which call fails, from 1.
    ///   - code: the system's error number.
    package init(_ real: any FileLayer = PosixFileLayer(), failAt: Int = .max, code: Int32 = FileLayerCode.noSpace) {
        (self.real, self.code, shared) = (real, code, Shared())
        arm(failAt: failAt)
    }

    private init(_ real: any FileLayer, of other: FaultyFileLayer) {
        (self.real, code, shared) = (real, other.code, other.shared)
    }

    package func beneath(_ folder: String) throws(FileError) -> any FileLayer {
        try step("beneath", .open, folder)
        return FaultyFileLayer(try real.beneath(folder), of: self)
    }

    /// Calls since `arm`.
    package var count: Int { shared.state.withLock { $0.calls.count } }
    /// Their names.
    package var calls: [String] { shared.state.withLock { $0.calls } }
    /// What was renamed, removed and synced since `arm`: the call's name and its paths.
    package var trace: [String] { shared.state.withLock { $0.trace } }
    /// The first call that failed.
    package var failedCall: String? { shared.state.withLock { $0.failed } }
    /// Files opened and not closed.
    package var openFiles: Int { shared.state.withLock { $0.open } }

    /// Whether a file was closed while another thread wrote to it: its descriptor may have been another's by then.
    package var wasClosedWhileWriting: Bool { shared.state.withLock { $0.wasClosedWhileWriting } }

    /// Fails the n-th call from now on.
    package func arm(failAt: Int, keepsFailing: Bool = false) {
        shared.state.withLock { state in
            (state.failAt, state.keepsFailing, state.failed, state.calls) = (failAt, keepsFailing, nil, [])
            state.trace = []
        }
    }

    package func disarm() { arm(failAt: .max) }

    /// Has a function called with the path of each file before it is opened: it may keep the caller waiting.
    package func beforeOpening(_ body: @escaping @Sendable (String) -> Void) {
        shared.beforeOpening.withLock { $0 = body }
    }

    /// Has a function called before each step that may change something: what it finds is what a killed process leaves.
    package func beforeChange(_ body: @escaping @Sendable () -> Void) {
        shared.beforeChange.withLock { $0 = body }
    }

    private func note(_ call: String) { shared.state.withLock { $0.trace.append(call) } }

    private func step(_ name: String, _ operation: FileError.Operation, _ path: String) throws(FileError) {
        let fails = shared.state.withLock { state in
            state.calls.append(name)
            let count = state.calls.count
            let fails = count == state.failAt || state.keepsFailing && count > state.failAt
            if fails, state.failed == nil { state.failed = name }
            return fails
        }
        if fails { throw FileError(operation, path, code: code) }
        if !["read", "status", "list", "map", "sync", "beneath"].contains(name) {
            shared.beforeChange.withLock { $0 }?()
        }
    }

    package func open(_ path: String, _ access: FileAccess, permissions: UInt32) throws(FileError) -> OpenFile {
        try step("open", .open, path)
        shared.beforeOpening.withLock { $0 }?(path)
        let file = try real.open(path, access, permissions: permissions)
        shared.state.withLock { $0.open += 1 }
        return file
    }

    package func close(_ file: OpenFile) {
        shared.state.withLock { state in
            state.open -= 1
            if state.writing.contains(file) { state.wasClosedWhileWriting = true }
        }
        real.close(file)
    }

    package func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try step("read", .read, file.path)
        return try real.read(file, into: buffer)
    }

    package func read(
        _ file: OpenFile, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileError) -> Int {
        try step("read", .read, file.path)
        return try real.read(file, at: offset, into: buffer)
    }

    package func writeAll(_ bytes: RawSpan, to file: OpenFile) throws(FileError) {
        shared.state.withLock { $0.writing.append(file) }
        defer { shared.state.withLock { state in state.writing.removeAll { $0 == file } } }
        do throws(FileError) {
            try step("write", .write, file.path)
        } catch {
            try real.writeAll(bytes.extracting(first: bytes.byteCount / 2), to: file)
            throw error
        }
        try real.writeAll(bytes, to: file)
    }

    package func writeAll(_ bytes: RawSpan, to file: OpenFile, at offset: Int) throws(FileError) {
        do throws(FileError) {
            try step("write", .write, file.path)
        } catch {
            try real.writeAll(bytes.extracting(first: bytes.byteCount / 2), to: file, at: offset)
            throw error
        }
        try real.writeAll(bytes, to: file, at: offset)
    }

    package func sync(_ file: OpenFile) throws(FileError) {
        try step("sync", .sync, file.path)
        note("sync \(file.path)")
        try real.sync(file)
    }

    package func syncData(_ file: OpenFile) throws(FileError) {
        try step("sync", .sync, file.path)
        note("sync \(file.path)")
        try real.syncData(file)
    }

    package func truncate(_ file: OpenFile, to size: Int) throws(FileError) {
        try step("truncate", .truncate, file.path)
        try real.truncate(file, to: size)
    }

    package func setPermissions(_ file: OpenFile, to permissions: UInt32) throws(FileError) {
        try step("setPermissions", .setPermissions, file.path)
        try real.setPermissions(file, to: permissions)
    }

    package func status(_ file: OpenFile) throws(FileError) -> FileStatus {
        try step("status", .status, file.path)
        return try real.status(file)
    }

    package func map(_ file: OpenFile) throws(FileError) -> MappedFile {
        try step("map", .map, file.path)
        return try real.map(file)
    }

    package func rename(_ source: String, to target: String) throws(FileError) {
        try step("rename", .rename, target)
        note("rename \(source) \(target)")
        try real.rename(source, to: target)
    }

    package func rename(_ source: String, toNew target: String) throws(FileError) {
        try step("rename", .rename, target)
        note("rename \(source) \(target)")
        try real.rename(source, toNew: target)
    }

    package func link(_ source: String, to target: String) throws(FileError) {
        try step("link", .link, target)
        try real.link(source, to: target)
    }

    package func remove(_ path: String) throws(FileError) {
        note("remove \(path)")
        shared.beforeChange.withLock { $0 }?()
        try real.remove(path)
    }

    package func removeDirectory(_ path: String) throws(FileError) {
        shared.beforeChange.withLock { $0 }?()
        try real.removeDirectory(path)
    }

    package func syncDirectory(_ path: String) throws(FileError) {
        try step("syncDirectory", .sync, path)
        note("syncDirectory \(path)")
        try real.syncDirectory(path)
    }

    package func status(_ path: String) throws(FileError) -> FileStatus? {
        try step("status", .status, path)
        return try real.status(path)
    }

    package func linkTarget(_ path: String) throws(FileError) -> String { try real.linkTarget(path) }

    package func list(_ path: String) throws(FileError) -> [String] {
        try step("list", .list, path)
        return try real.list(path)
    }

    package func makeDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try step("makeDirectory", .makeDirectory, path)
        try real.makeDirectory(path, permissions: permissions)
    }
}
