/// What opening a store found.
public struct ItemLoadReport: Sendable, Hashable {
    /// Items in the archive.
    public var archivedItems = 0
    /// Commits that were in the journal and not in the archive.
    public var replayedRecords = 0
    /// The collection's revision.
    public var revision = ItemRevision.initial
    /// Whether the archive is damaged, and only a part of it was read.
    public var isSalvaged = false
    /// What was not as it should be, in words for the user; what could not be used was kept aside.
    public var notices: [String] = []
    /// Files that damaged parts were moved to.
    public var keptAside: [String] = []

    /// Creates a report of nothing.
    public init() {}
}
