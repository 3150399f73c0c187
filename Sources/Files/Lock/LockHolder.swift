import Glibc

/// The process that owns a container, as it wrote itself into the lock file.
public struct LockHolder: Sendable, Hashable {
    public var processIdentifier: Int32
    public var processName: String
    /// When it took the lock, in seconds since 1970.
    public var since: Int64

    /// - Parameters:
    ///   - processIdentifier: its process id.
    ///   - processName: its name.
    ///   - since: when it took the lock, in seconds since 1970.
    package init(processIdentifier: Int32, processName: String, since: Int64) {
        self.processIdentifier = processIdentifier
        self.processName = processName
        self.since = since
    }

    /// "cubby, process 4711, since 2026-11-21 04:13:00 +0000".
    public var text: String {
        "\(processName), process \(processIdentifier), since \(LocalTime.utcText(secondsSince1970: since))"
    }

    /// Whether the process has ended or is about to, if perhaps not yet with all of its threads and files.
    var hasEnded: Bool {
        guard let stat else { return kill(processIdentifier, 0) != 0 && errno == ESRCH }
        return Self.hasEnded(stat: stat)
    }

    /// Whether the process is stopped, by Ctrl-Z for one; false when `/proc` does not tell.
    package var isSuspended: Bool { stat.map(Self.isSuspended) ?? false }

    /// The line of `/proc/PID/stat`; nil when `/proc` does not tell.
    private var stat: String? {
        let bytes = try? PosixFileLayer().contents(of: "/proc/\(processIdentifier)/stat", limit: 4096)
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    /// What follows the name in the line of `/proc/PID/stat` (proc(5)): the state first, the kernel's flags seventh. The
    /// name is in parentheses and may hold some itself.
    private static func fields(ofStat stat: String) -> [Substring] {
        guard let end = stat.lastIndex(of: ")") else { return [] }
        return stat[end...].dropFirst().split(separator: " ")
    }

    /// The same by the line of `/proc/PID/stat`: `T` is stopped by a signal, `t` by a debugger.
    static func isSuspended(stat: String) -> Bool { ["T", "t"].contains(fields(ofStat: stat).first) }

    /// The same by the line of `/proc/PID/stat` (proc(5)).
    static func hasEnded(stat: String) -> Bool {
        let fields = fields(ofStat: stat)
        guard fields.count > 6, let flags = UInt32(fields[6]) else { return false }
        // PF_EXITING: a process that is killed gives its memory back before its files.
        return fields[0] == "Z" || fields[0] == "X" || flags & 4 != 0
    }

    /// One line: process id, time, name; the name last, because it may hold spaces.
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
