/// The items of another persistence as of their loading, for a run that leaves nothing: commits succeed, and nothing is
/// written.
package final class ScratchPersistence: ItemPersistence {
    package let isReadOnly = false
    private let origin: any ItemPersistence
    private var revision = ItemRevision.initial

    /// - Parameter origin: what is loaded; it is never appended to.
    package init(_ origin: any ItemPersistence) { self.origin = origin }

    package func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport {
        let report = try origin.load(into: loader)
        revision = report.revision
        return report
    }

    package func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision {
        try commit.checkFollows(revision)
        revision = revision.next
        return revision
    }

    package func synchronize() throws(StoreError) {}

    package var closedPaths: [String] { origin.closedPaths }
}
