import ColumnEngine

/// Limits of a store's history.
public struct HistoryLimits: Sendable {
    /// Maximum number of commits that can be undone.
    public var commits = 1000
    /// Maximum bytes of history entries and the attachment files kept for them; the last commit is always kept.
    public var bytes = 64 << 20

    /// Creates the default limits.
    public init() {}
}
