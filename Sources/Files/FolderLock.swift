import CPlatform
package import Glibc

/// The exclusive ownership of a folder until `release()` or the end of the process, in whatever way it ends. It also
/// excludes other owners in the same process.
///
/// It is a `flock` on the file `.lock` in the folder. The file is never removed: otherwise two processes could each
/// lock a file of their own.
package final class FolderLock {
    /// The path of the lock's file.
    package let path: String
    package let holder: LockHolder
    /// Whether the previous owner did not terminate in order, so that temporary files may remain. False for the first
    /// owner, and after ``recordOrder()``.
    package private(set) var isDisordered: Bool
    private let layer: BeneathFileLayer
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
    package init(_ folder: String, processName: String = ProcessName.current) throws(FolderLockError) {
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
            try layer.writeAll(line.span.bytes, to: file)
            try layer.truncate(file, to: line.count)
        } catch {
            release()
            throw .file(error)
        }
    }

    deinit { release() }

    /// Whether the file in the folder is still the locked one: otherwise another process may have locked its own.
    package var isInPlace: Bool {
        var locked = stat()
        guard descriptor >= 0, fstat(descriptor, &locked) == 0 else { return false }
        // A folder that is gone has no other owner, and a write to it says that it is gone.
        guard let found = try? layer.status(path) else { return !PosixFileLayer().exists(PathText.parent(of: path)) }
        return found.device == UInt64(locked.st_dev) && found.inode == UInt64(locked.st_ino)
    }

    /// Records that the previous owner's temporary files are removed.
    package func recordOrder() { isDisordered = false }

    /// Releases the folder. A second call does nothing.
    package func release() {
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
    package static func holder(of folder: String) -> LockHolder? {
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

/// The reason why a folder could not be locked.
public enum FolderLockError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Another process or this one owns it; `holder` is nil when that process has not written its name yet.
    case inUse(path: String, holder: LockHolder?)
    /// The lock file could not be opened, locked or written.
    case file(FileError)

    /// The reason, and the holder of the lock.
    package var message: String {
        switch self {
        case .inUse(let path, let holder):
            let who = holder?.text ?? "another process"
            return "\(DisplayPath.abbreviate(path)) is in use by \(who): cubby attach opens a prompt in it"
        case .file(let error): return error.message
        }
    }

    public var description: String { message }
}

/// The owner of a container, as recorded in the lock file.
public struct LockHolder: Sendable, Hashable {
    /// The process's number.
    public var processIdentifier: Int32
    /// The process's name.
    package var processName: String
    /// The time of its lock, in seconds since 1970.
    package var since: Int64

    /// - Parameters:
    ///   - processIdentifier: its process id.
    ///   - processName: its name.
    ///   - since: the time of its lock, in seconds since 1970.
    package init(processIdentifier: Int32, processName: String, since: Int64) {
        self.processIdentifier = processIdentifier
        self.processName = processName
        self.since = since
    }

    /// "cubby, process 4711, since 2026-11-21 04:13:00 +0000".
    package var text: String {
        "\(processName), process \(processIdentifier), since \(LocalTime.utcText(secondsSince1970: since))"
    }

    /// Whether the process has ended or is exiting, perhaps with threads and files left.
    var hasEnded: Bool {
        guard let stat else { return kill(processIdentifier, 0) != 0 && errno == ESRCH }
        return Self.hasEnded(stat: stat)
    }

    /// Whether the process is stopped, for example by Ctrl-Z; false without `/proc`.
    package var isSuspended: Bool { stat.map(Self.isSuspended) ?? false }

    /// The line of `/proc/PID/stat`; nil without `/proc`.
    private var stat: String? {
        let bytes = try? PosixFileLayer().contents(of: "/proc/\(processIdentifier)/stat", limit: 4096)
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The fields after the name in a line of `/proc/PID/stat` (proc(5)): the first is the state, the seventh the
    /// kernel's flags. The name is in parentheses and may contain parentheses.
    private static func fields(ofStat stat: String) -> [Substring] {
        guard let end = stat.lastIndex(of: ")") else { return [] }
        return stat[end...].dropFirst().split(separator: " ")
    }

    /// Whether a line of `/proc/PID/stat` shows a process stopped by a signal (`T`) or a debugger (`t`).
    static func isSuspended(stat: String) -> Bool { ["T", "t"].contains(fields(ofStat: stat).first) }

    /// Whether a line of `/proc/PID/stat` shows an ended process.
    static func hasEnded(stat: String) -> Bool {
        let fields = fields(ofStat: stat)
        guard fields.count > 6, let flags = UInt32(fields[6]) else { return false }
        // PF_EXITING: a killed process releases its memory before its files.
        return fields[0] == "Z" || fields[0] == "X" || flags & 4 != 0
    }

    /// One line: process id, time, name. The name is last, because it may contain spaces.
    var line: String { "\(processIdentifier) \(since) \(processName)\n" }

    init?(line: String) {
        let fields = line.split(separator: "\n", omittingEmptySubsequences: false)[0]
            .split(separator: " ", maxSplits: 2)
        guard fields.count == 3, let process = Int32(fields[0]), process > 0, let since = Int64(fields[1]) else {
            return nil
        }
        self.init(processIdentifier: process, processName: String(fields[2]), since: since)
    }
}

/// Formats times for logs and messages.
package enum LocalTime {
    /// `yyyy-MM-dd HH:mm:ss.SSS` in the local time zone, as in NSLog.
    package static func logText(_ moment: timespec) -> String {
        var seconds = moment.tv_sec
        var parts = tm()
        localtime_r(&seconds, &parts)
        return day(parts) + "." + padded(Int32(truncatingIfNeeded: moment.tv_nsec / 1_000_000), 3)
    }

    /// `yyyy-MM-dd HH:mm:ss +0000`, the description of NSDate.
    static func utcText(secondsSince1970: Int64) -> String {
        var seconds = time_t(secondsSince1970)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "\(secondsSince1970) s after 1970" }
        return day(parts) + " +0000"
    }

    /// `yyyy-MM-ddTHH:mm:ss.SSSZ` in UTC, for other programs.
    package static func isoText(_ moment: timespec) -> String {
        var seconds = moment.tv_sec
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let text = day(parts).split(separator: " ").joined(separator: "T")
        return text + "." + padded(Int32(truncatingIfNeeded: moment.tv_nsec / 1_000_000), 3) + "Z"
    }

    private static func day(_ parts: tm) -> String {
        let year = padded(parts.tm_year &+ 1900, 4)
        let date = year + "-" + padded(parts.tm_mon &+ 1, 2) + "-" + padded(parts.tm_mday, 2)
        return date + " " + padded(parts.tm_hour, 2) + ":" + padded(parts.tm_min, 2) + ":" + padded(parts.tm_sec, 2)
    }

    private static func padded(_ number: Int32, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

/// The name of this process.
package enum ProcessName {
    /// The last component of the executable's path, `cubby`.
    package static var current: String {
        let name = PathText.name(of: ProgramArguments.current.first ?? "")
        return name.isEmpty ? "cubby" : name
    }
}

/// The command line.
package enum ProgramArguments {
    /// The program's name and its arguments. The standard library's list is empty without `/proc`.
    package static let current: [String] = (0..<cubby_argument_count()).compactMap { index in
        cubby_argument(index).map { String(cString: $0) }
    }
}
