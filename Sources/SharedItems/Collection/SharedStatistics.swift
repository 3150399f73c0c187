/// How often each thing happened since a collection was opened.
public struct SharedStatistics: Sendable, Hashable {
    /// Commits that the server acknowledged.
    public var commits = 0
    /// Commits that others were ahead of, which were sent again or refused.
    public var overtaken = 0
    /// Commits whose answer was lost and that had happened.
    public var settledInDoubt = 0
    /// Commits of other hosts that came.
    public var remoteCommits = 0
    /// Those of them that came with their notifications, and were not asked for.
    public var announcedCommits = 0
    /// Pictures whose bytes the server was sent; those that it had are not among them.
    public var picturesSent = 0
    /// How often the connection broke.
    public var disconnections = 0

    /// Creates statistics of nothing.
    public init() {}
}
