import ColumnEngine

/// How much of the past a store can take back.
public struct HistoryLimits: Sendable {
    /// Commits that `undo` reaches back.
    public var commits = 1000
    /// Bytes of history entries, the attachments' files that they keep included; the last commit is kept whatever its size.
    public var bytes = 64 << 20

    /// Creates the usual limits.
    public init() {}
}
