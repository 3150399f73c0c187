/// The findings on opening a store.
public struct ItemLoadReport: Sendable, Hashable {
    /// Items in the archive.
    public var archivedItems = 0
    /// Commits of the journal that were not in the archive.
    public var replayedRecords = 0
    /// The collection's revision.
    public var revision = ItemRevision.initial
    /// Whether the archive is damaged, and was read only in part.
    public var isSalvaged = false
    /// Problems, in words for the user; unusable parts were kept aside.
    public var notices: [String] = []
    /// What is carried in the archive and not shown exactly, in words for the user; nothing is lost.
    public var remarks: [String] = []
    /// Files that damaged parts were moved to.
    public var keptAside: [String] = []

    /// Creates an empty report.
    public init() {}
}
