import Glibc

/// The owner of a container, as recorded in the lock file.
public struct LockHolder: Sendable, Hashable {
    /// The process's number.
    public var processIdentifier: Int32
    /// The process's name.
    public var processName: String
    /// The time of its lock, in seconds since 1970.
    public var since: Int64

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
    public var text: String {
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
