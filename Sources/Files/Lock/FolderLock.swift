import Glibc

/// Makes its holder the only owner of a folder, until `release()` or the process's end, however that ends. Of one process
/// there is one holder, too.
///
/// A `flock` on the file `.lock` in the folder, which stays there for good: removing it would let two processes each lock a
/// file of their own.
public final class FolderLock {
    public let path: String
    package let holder: LockHolder
    /// Whether the owner before this one did not come to its end in order: what it was writing may lie about. False for
    /// the first owner, and again after ``noteOrder()``.
    package private(set) var isDisordered: Bool
    private var descriptor: Int32
    private var holdsLock = false

    /// A process that was killed has its files until the last of its threads has ended: how often, every ten
    /// milliseconds, the lock of one that has ended otherwise is tried again.
    private static let looksAtTheEnd = 100

    /// Takes the lock without waiting for one who lives.
    ///
    /// - Parameters:
    ///   - folder: which one; it must exist.
    ///   - processName: what others are told.
    /// - Throws: `FolderLockError.inUse` naming the holder, or `.file`.
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
            if code == EWOULDBLOCK { throw .inUse(path: folder, holder: other) }
            throw .file(FileError(.lock, path, code: code))
        }
        holdsLock = true
        do throws(FileError) {
            // Who gives a folder up in order empties the file.
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
    package func noteOrder() { isDisordered = false }

    /// Gives the folder up. Does nothing the second time.
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

    /// The file that is locked.
    ///
    /// - Parameter folder: which folder's.
    /// - Returns: its path.
    package static func file(in folder: String) -> String { PathText.join(folder, ".lock") }

    /// Who owns a folder now.
    ///
    /// - Parameter folder: which one.
    /// - Returns: nil when nobody does, or nothing can be read.
    public static func holder(of folder: String) -> LockHolder? {
        guard let layer = try? BeneathFileLayer(folder),
            let descriptor = try? layer.open(file(in: folder), .read).descriptor
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
