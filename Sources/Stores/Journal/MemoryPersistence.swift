/// A persistence that keeps everything in this process: for stores that nothing outlives, and for tests.
public final class MemoryPersistence: ItemPersistence {
    /// The document: each item's record.
    public private(set) var archive: [ItemFields]?
    /// The changes of each commit since the document was written.
    public private(set) var records: [[UInt8]] = []
    /// Set to make every append and replacement fail with this error.
    public var failure: StoreError?
    public var isReadOnly = false

    private let keepsRecords: Bool

    /// - Parameters:
    ///   - keepsRecords: whether a second store can be loaded from this persistence.
    ///   - records: commits to begin with.
    public init(keepsRecords: Bool = false, records: [[UInt8]] = []) {
        self.keepsRecords = keepsRecords
        self.records = records
    }

    public var hasArchive: Bool { archive != nil }
    public var archivePath: String? { nil }

    public func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport {
        var report = ItemLoadReport()
        for fields in archive ?? [] { try loader.add(fields) }
        for record in records { try loader.replay(record) }
        report.archivedItems = archive?.count ?? 0
        report.replayedRecords = records.count
        return report
    }

    public func append(_ commit: inout CommitBytes, durable: Bool) throws(StoreError) {
        if let failure { throw failure }
        if keepsRecords { records.append(Array(commit.changes)) }
    }

    public func synchronize() throws(StoreError) {
        if let failure { throw failure }
    }

    public func beginReplacement(_ snapshot: ItemSnapshot) throws(StoreError) -> any ItemReplacement {
        if let failure { throw failure }
        return Replacement(snapshot: snapshot, recordCount: records.count)
    }

    public func finish(_ replacement: any ItemReplacement) throws(StoreError) {
        if let failure { throw failure }
        guard let replacement = replacement as? Replacement else { return }
        archive = keepsRecords ? (0..<replacement.snapshot.count).map(replacement.snapshot.fields(at:)) : []
        records.removeFirst(replacement.recordCount)
    }

    public func abandon(_ replacement: any ItemReplacement) {}

    private final class Replacement: ItemReplacement {
        let snapshot: ItemSnapshot
        let recordCount: Int

        init(snapshot: ItemSnapshot, recordCount: Int) {
            self.snapshot = snapshot
            self.recordCount = recordCount
        }

        func write() throws(StoreError) {}
    }
}
