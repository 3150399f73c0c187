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
    public init(processIdentifier: Int32, processName: String, since: Int64) {
        self.processIdentifier = processIdentifier
        self.processName = processName
        self.since = since
    }

    /// "cubby, process 4711, since 2026-11-21 04:13:00 +0000".
    public var text: String {
        "\(processName), process \(processIdentifier), since \(LocalTime.utcText(secondsSince1970: since))"
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
