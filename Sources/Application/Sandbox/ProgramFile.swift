import CPlatform
package import Files
import Glibc

/// A program's open file: its bytes are checked and started by the same descriptor, so that the file cannot be
/// exchanged in between.
package final class ProgramFile {
    /// The file's identity and the times of its changes; equal stamps are equal bytes.
    package struct Stamp: Sendable, Hashable {
        let device: UInt64
        let inode: UInt64
        let size: Int64
        let modified: [Int]
        let changed: [Int]
    }

    let descriptor: Int32
    package let status: FileStatus
    package let stamp: Stamp
    /// The SHA-256 in hexadecimal digits.
    package let digest: String
    /// Whether an interpreter reads the file after the start (`#!`).
    let isScript: Bool

    /// Opens and reads a program.
    ///
    /// - Parameters:
    ///   - path: without links; a link is refused.
    ///   - known: the digests of files that were read before.
    /// - Throws: `FileError` if it is not a regular file, cannot be read, or changes meanwhile.
    package init(_ path: String, known: [Stamp: String] = [:]) throws(FileError) {
        let opened = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard opened >= 0 else { throw FileError(.open, path, code: errno) }
        // Above the standard streams, which are replaced in the child.
        descriptor = fcntl(opened, F_DUPFD_CLOEXEC, 3)
        let code = errno
        close(opened)
        guard descriptor >= 0 else { throw FileError(.open, path, code: code) }
        do throws(FileError) {
            (stamp, status) = try Self.look(descriptor, path)
            guard status.kind == .regular else {
                throw FileError(.open, path, code: EACCES, reason: "it is not a regular file")
            }
            var start: [UInt8] = [0, 0]
            isScript = pread(descriptor, &start, 2, 0) == 2 && start == Array("#!".utf8)
            if let known = known[stamp] {
                digest = known
            } else {
                digest = try Self.digest(OpenFile(descriptor: descriptor, path: path))
            }
            guard try Self.look(descriptor, path).stamp == stamp else {
                throw FileError(.read, path, code: EBUSY, reason: "it changed while it was read")
            }
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Whether the stamp detects later changes: times within one clock tick are equal.
    package var isSettled: Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return (stamp.changed.first ?? .max) < now.tv_sec &- 2
    }

    private static func look(_ descriptor: Int32, _ path: String) throws(FileError) -> (stamp: Stamp, FileStatus) {
        var raw = stat()
        guard fstat(descriptor, &raw) == 0 else { throw FileError(.status, path, code: errno) }
        let stamp = Stamp(
            device: UInt64(raw.st_dev), inode: UInt64(raw.st_ino), size: Int64(raw.st_size),
            modified: [raw.st_mtim.tv_sec, raw.st_mtim.tv_nsec], changed: [raw.st_ctim.tv_sec, raw.st_ctim.tv_nsec])
        return (stamp, FileStatus(raw))
    }

    private static func digest(_ file: OpenFile) throws(FileError) -> String {
        var digest = SHA256()
        try PosixFileLayer().forEachPiece(of: file) { piece in digest.update(piece) }
        return SHA256.text(digest.finish())
    }
}
