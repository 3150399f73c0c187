package import ColumnEngine

/// Passes a store's calls on, and notes them.
package final class WatchedPersistence: ItemPersistence {
    private let inner: any ItemPersistence
    /// Whether each append was to be durable.
    package private(set) var appends: [Bool] = []
    package private(set) var synchronizations = 0

    package init(_ inner: any ItemPersistence) { self.inner = inner }

    package var isReadOnly: Bool { inner.isReadOnly }

    package func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport { try inner.load(into: loader) }

    package func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision {
        appends.append(durable)
        return try inner.append(commit, durable: durable)
    }

    package func synchronize() throws(StoreError) {
        synchronizations += 1
        try inner.synchronize()
    }
}
