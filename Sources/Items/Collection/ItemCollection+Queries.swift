import ColumnEngine

extension ItemCollection {
    // MARK: Reading

    /// The models that satisfy a condition, in order; see ``LocalItemCollection/fetch(where:sortedBy:limit:offset:)``.
    public func fetch(
        where condition: ItemCondition<Model>? = nil, sortedBy orders: [ItemOrdering<Model>] = [], limit: Int? = nil,
        offset: Int = 0
    ) async throws(StoreError) -> [Model] {
        try await local { (books) throws(StoreError) in
            try books.fetch(where: condition, sortedBy: orders, limit: limit, offset: offset)
        }
    }

    /// The same models with their items' keys.
    public func entries(
        where condition: ItemCondition<Model>? = nil, sortedBy orders: [ItemOrdering<Model>] = [], limit: Int? = nil,
        offset: Int = 0
    ) async throws(StoreError) -> [ItemEntry<Model>] {
        try await local { (books) throws(StoreError) in
            try books.entries(where: condition, sortedBy: orders, limit: limit, offset: offset)
        }
    }

    /// The first model that satisfies a condition; nil if there is none.
    public func first(
        where condition: ItemCondition<Model>? = nil, sortedBy orders: [ItemOrdering<Model>] = []
    ) async throws(StoreError) -> Model? {
        try await local { (books) throws(StoreError) in try books.first(where: condition, sortedBy: orders) }
    }

    /// The problems of items that do not decode as models. O(n).
    public func problems() async throws(StoreError) -> [ItemModelError] { try await local { $0.problems() } }

    // MARK: Aggregates

    /// The number of items that satisfy a condition, including those that do not decode as models.
    public func count(where condition: ItemCondition<Model>? = nil) async throws(StoreError) -> Int {
        try await local { (books) throws(StoreError) in try books.count(where: condition) }
    }

    /// The sum of an attribute's values.
    ///
    /// - Throws: `StoreError` with `invalidValue` if the type cannot hold the sum.
    public func sum<Value>(
        _ attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) async throws(StoreError) -> Value.Wrapped where Value.Wrapped: NumericItemValue {
        try await local { (books) throws(StoreError) in try books.sum(attribute, where: condition) }
    }

    /// The mean of an attribute's values; nil when there are none.
    public func average<Value>(
        _ attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) async throws(StoreError) -> Double? where Value.Wrapped: NumericItemValue {
        try await local { (books) throws(StoreError) in try books.average(attribute, where: condition) }
    }

    /// The least of an attribute's values; nil when there are none.
    public func min<Value>(
        _ attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) async throws(StoreError) -> Value.Wrapped? where Value.Wrapped: OrderedItemValue {
        try await local { (books) throws(StoreError) in try books.min(attribute, where: condition) }
    }

    /// The greatest of an attribute's values; nil when there are none.
    public func max<Value>(
        _ attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) async throws(StoreError) -> Value.Wrapped? where Value.Wrapped: OrderedItemValue {
        try await local { (books) throws(StoreError) in try books.max(attribute, where: condition) }
    }

    /// The number of items per value of an attribute, in order of appearance; items without one are left out.
    public func counts<Value>(
        by attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) async throws(StoreError) -> [(value: Value.Wrapped, count: Int)] {
        try await local { (books) throws(StoreError) in try books.counts(by: attribute, where: condition) }
    }

    // MARK: Many at once

    /// Sets attributes of all items that satisfy a condition; if one is refused, none is set.
    ///
    /// - Returns: the number of items.
    @discardableResult
    public func update(
        where condition: ItemCondition<Model>?, _ assignments: [ItemAssignment<Model>]
    ) async throws(StoreError) -> Int {
        try await local { (books) throws(StoreError) in try books.update(where: condition, assignments) }
    }

    /// Removes all items that satisfy a condition, all or none.
    ///
    /// - Returns: the number of items.
    @discardableResult
    public func delete(where condition: ItemCondition<Model>?) async throws(StoreError) -> Int {
        try await local { (books) throws(StoreError) in try books.delete(where: condition) }
    }

    // MARK: Following

    /// The changes of each future commit, one element per commit. Includes commits of scripts, of
    /// ``ItemDatabase/undo()`` and of other collections.
    ///
    /// Elements are buffered without limit for a slow task. The sequence ends when its task is cancelled.
    public func changes() -> AsyncStream<ItemCollectionChanges<Model>> {
        let (stream, continuation) = AsyncStream.makeStream(of: ItemCollectionChanges<Model>.self)
        let (coding, relay) = (coding, database.commits)
        let number = relay.add { store, commit in
            let changes = ItemCollectionChanges(commit, LocalItemCollection(store, coding))
            if !changes.isEmpty { continuation.yield(changes) }
        }
        continuation.onTermination = { _ in relay.remove(number) }
        return stream
    }

    /// The models that satisfy a condition: now, and again after each commit that changes them or the selection.
    public func results(
        where condition: ItemCondition<Model>? = nil, sortedBy orders: [ItemOrdering<Model>] = [], limit: Int? = nil
    ) -> ItemResults<Model> {
        ItemResults(collection: self, condition: condition, orders: orders, limit: limit)
    }
}
