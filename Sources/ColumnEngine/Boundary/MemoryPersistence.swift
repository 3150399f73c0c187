/// A persistence in this process's memory: for temporary stores, and for tests.
public final class MemoryPersistence: ItemPersistence {
    /// The changes of each commit, oldest first, if they are kept.
    public private(set) var commits: [[ItemChange]] = []
    /// Set to make every append and synchronization fail with this error.
    public var failure: StoreError?
    public let isReadOnly: Bool

    private let keepsCommits: Bool
    private var revision: ItemRevision

    /// - Parameters:
    ///   - keepsCommits: whether another store can be loaded from this persistence.
    ///   - isReadOnly: whether the store refuses changes.
    ///   - commits: the initial commits.
    public init(keepsCommits: Bool = false, isReadOnly: Bool = false, commits: [[ItemChange]] = []) {
        self.keepsCommits = keepsCommits
        self.isReadOnly = isReadOnly
        self.commits = commits
        revision = ItemRevision(rawValue: UInt64(commits.count))
    }

    public func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport {
        var report = ItemLoadReport()
        for changes in commits { try loader.replay(changes) }
        report.replayedRecords = commits.count
        report.revision = revision
        return report
    }

    public func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision {
        if isReadOnly { throw .storeIsReadOnly }
        if let failure { throw failure }
        try commit.checkFollows(revision)
        if keepsCommits {
            var changes: [ItemChange] = []
            changes.reserveCapacity(commit.count)
            commit.forEach { changes.append(commit.change($0)) }
            commits.append(changes)
        }
        revision = revision.next
        return revision
    }

    public func synchronize() throws(StoreError) {
        if let failure { throw failure }
    }
}
