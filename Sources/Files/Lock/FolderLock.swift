import Glibc

/// The exclusive ownership of a folder until `release()` or the end of the process, in whatever way it ends. It also
/// excludes other owners in the same process.
///
/// It is a `flock` on the file `.lock` in the folder. The file is never removed: otherwise two processes could each
/// lock a file of their own.
public final class FolderLock {
    /// The path of the lock's file.
    public let path: String
    package let holder: LockHolder
    /// Whether the previous owner did not terminate in order, so that temporary files may remain. False for the first
    /// owner, and after ``noteOrder()``.
    package private(set) var isDisordered: Bool
    private var descriptor: Int32
    private var holdsLock = false

    /// Number of retries, ten milliseconds apart, for the lock of a killed process: it keeps its files until its last
    /// thread has ended.
    private static let exitRetries = 100

    /// Takes the lock, without waiting for a running owner.
    ///
    /// - Parameters:
    ///   - folder: the folder, which must exist.
    ///   - processName: the name shown to others.
    /// - Throws: `FolderLockError.inUse` with the holder, or `.file`.
    public init(_ folder: String, processName: String = ProcessName.current) throws(FolderLockError) {
        let layer: BeneathFileLayer
        do throws(FileError) { layer = try BeneathFileLayer(folder) } catch { throw .file(error) }
        path = Self.file(in: folder)
        isDisordered = false
        holder = LockHolder(
            processIdentifier: getpid(), processName: processName, since: Int64(time(nil)))
        let file: OpenFile
        do throws(FileError) { file = try layer.open(path, .update, permissions: 0o600) } catch { throw .file(error) }
        descriptor = file.descriptor
        var retries = Self.exitRetries
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            let other = code == EWOULDBLOCK ? Self.readHolder(descriptor) : nil
            if retries > 0, let other, other.hasEnded {
                retries -= 1
                usleep(10_000)
                continue
            }
            release()
            if code == EWOULDBLOCK { throw .inUse(path: folder, holder: other) }
            throw .file(FileError(.lock, path, code: code))
        }
        holdsLock = true
        do throws(FileError) {
            // An orderly release truncates the file.
            isDisordered = try layer.status(file).size > 0
            // In one write over the old line, so that a concurrent reader gets one or the other.
            let line = Array(holder.line.utf8)
            try line.withUnsafeBytesThrowing { bytes throws(FileError) in try layer.writeAll(bytes, to: file) }
            try layer.truncate(file, to: line.count)
        } catch {
            release()
            throw .file(error)
        }
    }

    deinit { release() }

    /// Records that the previous owner's temporary files are removed.
    package func noteOrder() { isDisordered = false }

    /// Releases the folder. A second call does nothing.
    public func release() {
        guard descriptor >= 0 else { return }
        if holdsLock {
            if !isDisordered { _ = ftruncate(descriptor, 0) }
            // A close alone leaves the lock to a forked child that has not yet called exec.
            flock(descriptor, LOCK_UN)
        }
        close(descriptor)
        descriptor = -1
    }

    /// The path of the lock file.
    ///
    /// - Parameter folder: the folder.
    /// - Returns: its path.
    package static func file(in folder: String) -> String { PathText.join(folder, ".lock") }

    /// The current owner of a folder.
    ///
    /// - Parameter folder: the folder.
    /// - Returns: nil when there is none, or the lock file is unreadable.
    public static func holder(of folder: String) -> LockHolder? {
        guard let layer = try? BeneathFileLayer(folder),
            let descriptor = try? layer.open(file(in: folder), .read).descriptor
        else { return nil }
        defer { close(descriptor) }
        // A shared lock fails while there is an owner, and ends with the descriptor.
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK else { return nil }
        return readHolder(descriptor)
    }

    private static func readHolder(_ descriptor: Int32) -> LockHolder? {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return LockHolder(line: String(decoding: bytes[..<count], as: UTF8.self))
    }
}
