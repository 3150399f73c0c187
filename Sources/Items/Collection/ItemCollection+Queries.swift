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

    /// The same with the items' keys.
    public func entries(
        where condition: ItemCondition<Model>? = nil, sortedBy orders: [ItemOrdering<Model>] = [], limit: Int? = nil,
        offset: Int = 0
    ) async throws(StoreError) -> [ItemEntry<Model>] {
        try await local { (books) throws(StoreError) in
            try books.entries(where: condition, sortedBy: orders, limit: limit, offset: offset)
        }
    }

    /// The first model that satisfies a condition; nil for none.
    public func first(
        where condition: ItemCondition<Model>? = nil, sortedBy orders: [ItemOrdering<Model>] = []
    ) async throws(StoreError) -> Model? {
        try await local { (books) throws(StoreError) in try books.first(where: condition, sortedBy: orders) }
    }

    /// What is wrong with items that are no models. O(n).
    public func problems() async throws(StoreError) -> [ItemModelError] { try await local { $0.problems() } }

    // MARK: Aggregates

    /// The number of items that satisfy a condition; items that are no models count as well.
    public func count(where condition: ItemCondition<Model>? = nil) async throws(StoreError) -> Int {
        try await local { (books) throws(StoreError) in try books.count(where: condition) }
    }

    /// The sum of an attribute's values.
    ///
    /// - Throws: `StoreError` with `invalidValue` for a sum that the type cannot hold.
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

    /// How many items have each value of an attribute, in order of appearance; those without one are left out.
    public func counts<Value>(
        by attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) async throws(StoreError) -> [(value: Value.Wrapped, count: Int)] {
        try await local { (books) throws(StoreError) in try books.counts(by: attribute, where: condition) }
    }

    // MARK: Many at once

    /// Sets attributes of all items that satisfy a condition: of all of them or, if one refuses, of none.
    ///
    /// - Returns: the number of items.
    @discardableResult
    public func update(
        where condition: ItemCondition<Model>?, _ assignments: [ItemAssignment<Model>]
    ) async throws(StoreError) -> Int {
        try await local { (books) throws(StoreError) in try books.update(where: condition, assignments) }
    }

    /// Takes all items that satisfy a condition out of the store, all or none.
    ///
    /// - Returns: the number of items.
    @discardableResult
    public func delete(where condition: ItemCondition<Model>?) async throws(StoreError) -> Int {
        try await local { (books) throws(StoreError) in try books.delete(where: condition) }
    }

    // MARK: Following

    /// What each commit changes, from now on: an element a commit. Commits of scripts, of ``ItemDatabase/undo()`` and of
    /// other collections are told as well.
    ///
    /// Elements wait in memory for a task that is slow. The sequence ends when its task is cancelled.
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

    /// The models that satisfy a condition, now and again after each commit that changes one of them or which they are.
    public func results(
        where condition: ItemCondition<Model>? = nil, sortedBy orders: [ItemOrdering<Model>] = [], limit: Int? = nil
    ) -> ItemResults<Model> {
        ItemResults(collection: self, condition: condition, orders: orders, limit: limit)
    }
}
