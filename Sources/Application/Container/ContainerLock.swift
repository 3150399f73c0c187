import Files
import Glibc

/// Makes this process the only owner of a container, until `release()` or its end, however it ends.
///
/// A `flock` on the container's lock file, which stays there for good: removing it would let two processes each lock a file of
/// their own.
public final class ContainerLock {
    public let path: String
    public let holder: LockHolder
    /// Whether the owner before this one did not come to its end in order: what it was writing may lie about. False for
    /// the first owner, and again after ``noteOrder()``.
    public private(set) var isDisordered: Bool
    private var descriptor: Int32
    private var holdsLock = false

    /// A process that was killed has its files until the last of its threads has ended: how often, every ten
    /// milliseconds, the lock of one that has ended otherwise is tried again.
    private static let looksAtTheEnd = 100

    /// Takes the lock without waiting for one who lives.
    ///
    /// - Parameters:
    ///   - container: whose folders exist.
    ///   - processName: what others are told.
    /// - Throws: `ContainerLockError.inUse` naming the holder, or `.file`.
    public init(_ container: Container, processName: String = ProcessName.current) throws(ContainerLockError) {
        let layer: BeneathFileLayer
        do throws(FileError) { layer = try BeneathFileLayer(container.path) } catch { throw .file(error) }
        path = container.lockFile
        isDisordered = false
        holder = LockHolder(
            processIdentifier: getpid(), processName: processName, since: Int64(time(nil)))
        let file: OpenFile
        do throws(FileError) { file = try layer.open(path, .update, permissions: 0o600) } catch { throw .file(error) }
        descriptor = file.descriptor
        var looks = Self.looksAtTheEnd
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            let other = code == EWOULDBLOCK ? Self.readHolder(descriptor) : nil
            if looks > 0, let other, other.hasEnded {
                looks -= 1
                usleep(10_000)
                continue
            }
            release()
            if code == EWOULDBLOCK { throw .inUse(path: container.path, holder: other) }
            throw .file(FileError(.lock, path, code: code))
        }
        holdsLock = true
        do throws(FileError) {
            // Who gives a container up in order empties the file.
            isDisordered = try layer.status(file).size > 0
            // In one write over the old line, so that who asks meanwhile reads one or the other.
            let line = Array(holder.line.utf8)
            try line.withUnsafeBytesThrowing { bytes throws(FileError) in try layer.writeAll(bytes, to: file) }
            try layer.truncate(file, to: line.count)
        } catch {
            release()
            throw .file(error)
        }
    }

    deinit { release() }

    /// What an earlier owner left lying about has been seen to.
    public func noteOrder() { isDisordered = false }

    /// Gives the container up. Does nothing the second time.
    public func release() {
        guard descriptor >= 0 else { return }
        if holdsLock {
            if !isDisordered { _ = ftruncate(descriptor, 0) }
            // Closing alone would leave it to a child that has not come to its program yet, and has the descriptor, too.
            flock(descriptor, LOCK_UN)
        }
        close(descriptor)
        descriptor = -1
    }

    /// Who owns a container now.
    ///
    /// - Parameter container: which one.
    /// - Returns: nil when nobody does, or nothing can be read.
    public static func holder(of container: Container) -> LockHolder? {
        guard let layer = try? BeneathFileLayer(container.path),
            let descriptor = try? layer.open(container.lockFile, .read).descriptor
        else { return nil }
        defer { close(descriptor) }
        // A shared lock is refused while the owner lives, and gone again with the descriptor.
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
