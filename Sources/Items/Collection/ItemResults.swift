import ColumnEngine
import PropertyList
import Synchronization

/// A query's models: now, and again after each commit that affects them; see
/// ``ItemCollection/results(where:sortedBy:limit:)``.
///
/// Any number of tasks may iterate, each from the start. A slow task gets the latest result and skips earlier ones; a
/// cancelled task gets nil.
public struct ItemResults<Model: Codable & Sendable>: AsyncSequence, Sendable {
    public typealias Element = [Model]
    public typealias Failure = StoreError

    let collection: ItemCollection<Model>
    let condition: ItemCondition<Model>?
    let orders: [ItemOrdering<Model>]
    let limit: Int?

    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// The results of one iteration.
    public struct Iterator: AsyncIteratorProtocol {
        private let results: ItemResults
        private let changes: ChangedKeys
        private var commits: AsyncStream<Void>.Iterator
        /// The keys of the last result; nil before the first.
        private var keys: [String]?

        init(_ results: ItemResults) {
            self.results = results
            let changes = ChangedKeys()
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let relay = results.collection.database.commits
            let number = relay.add(
                { _, commit in
                    changes.add(commit)
                    continuation.yield()
                }, onEnd: { continuation.finish() })
            continuation.onTermination = { _ in relay.remove(number) }
            self.changes = changes
            commits = stream.makeAsyncIterator()
        }

        /// The next result that differs from the last; nil when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(StoreError) -> [Model]? {
            if keys == nil {
                guard !Task.isCancelled else { return nil }
                let (entries, _) = try await Self.fetch(results, changes)
                keys = entries.map(\.key)
                return entries.map(\.model)
            }
            while await commits.next(isolation: actor) != nil {
                let (entries, changed) = try await Self.fetch(results, changes)
                let newKeys = entries.map(\.key)
                // Items without changes are still equal.
                guard newKeys != keys || newKeys.contains(where: changed.contains) else { continue }
                keys = newKeys
                return entries.map(\.model)
            }
            return nil
        }

        /// The result, and the keys changed since the last one: taken together, so that no change is missed.
        private static func fetch(
            _ results: ItemResults, _ changes: ChangedKeys
        ) async throws(StoreError) -> ([ItemEntry<Model>], NameSet) {
            return try await results.collection.local { (collection) throws(StoreError) in
                let changed = changes.take()
                return (
                    try collection.entries(where: results.condition, sortedBy: results.orders, limit: results.limit),
                    changed
                )
            }
        }
    }
}

/// Collects the keys of items that commits changed, until they are taken.
private final class ChangedKeys: Sendable {
    private let keys = Mutex<NameSet>([])

    func add(_ commit: ItemStoreCommit) {
        let new = commit.map(\.itemKey)
        keys.withLock { keys in for key in new { keys.insert(key) } }
    }

    func take() -> NameSet {
        keys.withLock { keys in
            defer { keys = [] }
            return keys
        }
    }
}

/// The changes of one commit to a collection, with the models right after the commit.
public struct ItemCollectionChanges<Model: Codable & Sendable>: Sendable {
    /// The reason for the commit.
    public let cause: ItemStoreCommit.Cause
    /// New items, in order of insertion.
    public private(set) var inserted: [ItemEntry<Model>] = []
    /// Items with changed fields, each once.
    public private(set) var updated: [ItemEntry<Model>] = []
    /// The keys of removed items.
    public private(set) var removed: [String] = []
    /// Inserted and updated items that do not decode as models.
    package private(set) var problems: [ItemModelError] = []

    /// Whether nothing but the order of the items changed.
    package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && removed.isEmpty && problems.isEmpty }

    init(_ commit: ItemStoreCommit, _ collection: LocalItemCollection<Model>) {
        cause = commit.cause
        // An item's first and last change within the commit decide.
        var kinds: NameTable<(wasThere: Bool, isThere: Bool)> = [:]
        var keys: [String] = []
        var foreign: NameSet = []
        for change in commit where change.kind != .move && change.kind != .declare {
            if kinds[change.itemKey] == nil { keys.append(change.itemKey) }
            let wasThere = kinds[change.itemKey]?.wasThere ?? (change.kind != .insert)
            kinds[change.itemKey] = (wasThere, change.kind != .remove)
            guard change.kind == .remove, case .string(let kind)? = change.values?[ItemKind.fieldName] else { continue }
            if kind != collection.coding.kind { foreign.insert(change.itemKey) }
        }
        let reader = collection.reader()
        for key in keys {
            guard let (wasThere, isThere) = kinds[key] else { continue }
            guard isThere, let item = collection.store.item(forKey: key) else {
                if wasThere, !foreign.contains(key) { removed.append(key) }
                continue
            }
            guard collection.store.columns.isOf(collection.coding.kind, item.row) else { continue }
            reader.row = item.row
            do throws(ItemModelError) {
                let entry = ItemEntry(key: key, model: try collection.coding.model(reader))
                if wasThere { updated.append(entry) } else { inserted.append(entry) }
            } catch {
                problems.append(error)
            }
        }
    }
}
