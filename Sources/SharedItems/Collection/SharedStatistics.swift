/// Numbers of events since a collection was opened.
public struct SharedStatistics: Sendable, Hashable {
    /// Commits acknowledged by the server.
    public var commits = 0
    /// Commits that others preceded, which were sent again or refused.
    public var overtaken = 0
    /// Commits whose answer was lost but which were applied.
    public var settledInDoubt = 0
    /// Commits received from other hosts.
    public var remoteCommits = 0
    /// Remote commits that arrived with their notifications and were not requested.
    public var announcedCommits = 0
    /// Pictures uploaded to the server, without those that it had.
    public var picturesSent = 0
    /// Number of lost connections.
    public var disconnections = 0

    /// Creates statistics with zeros.
    public init() {}
}
