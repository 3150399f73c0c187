import ColumnEngine

/// A database's items as models, for any task: each call runs on the ``ItemDatabase`` that owns the store.
///
/// ```swift
/// let books = try ItemDatabase(ArchivePersistence(folder: folder)).collection(of: Book.self)
/// try await books.insert(Book(title: "Ulysses", pages: 730))
/// let long = try await books.fetch(where: Book.pages > 300, sortedBy: [.descending(Book.pages)], limit: 20)
/// ```
///
/// A model is a `Codable` struct: each property is a field, and nested structs are dictionaries. Properties named like
/// the fields of every item (`name`, `serialNumber`, `valueInDollars`, `dateCreated`) are stored there.
///
/// A collection has the items of its kind, which the field `itemKind` has: the name of the model's type, unless an
/// ``ItemModel`` gives another. Items without a kind, as scripts and earlier versions make them, are in every collection,
/// and get the kind when they are updated. If the model is `Identifiable`, its `id` identifies the item within its kind:
/// the item's key is `Book:7`, and that of a UUID the UUID itself. Otherwise, without a `key:`, a key is generated. Each
/// change is a transaction, a step of ``ItemDatabase/undo()``.
public struct ItemCollection<Model: Codable & Sendable>: Sendable {
    /// The database that contains the collection.
    package let database: ItemDatabase
    let coding: ItemModelCoding<Model>
    let onProblem: (@Sendable (ItemModelError) -> Void)?

    /// The same items, whose fields are declared with the kinds of the model's properties, by their coding keys, as soon
    /// as a model is written: scripts and imports then store nothing in them that the models cannot have.
    ///
    /// ```swift
    /// let books = database.collection(of: Book.self).declaringFields()
    /// ```
    ///
    /// It is part of the change that writes the model, and undone with it. A field that is declared already stays as it
    /// is; so do those of every item. If items have values that do not fit, as scripts may have stored them, the change
    /// fails with `unfittingItems`, and nothing is written: a collection declares nothing unless it is asked to.
    ///
    /// - Returns: a collection that declares.
    public func declaringFields() -> Self {
        var coding = coding
        coding.declares = true
        return Self(database: database, coding: coding, onProblem: onProblem)
    }

    // MARK: One item

    /// The model with a key; nil if there is none.
    ///
    /// - Throws: `StoreError` for an item that does not decode as a model.
    public func model(forKey key: some ItemIdentifier) async throws(StoreError) -> Model? {
        try await local { (books) throws(StoreError) in try books.model(forKey: key) }
    }

    /// Appends an item.
    ///
    /// - Returns: the item's key.
    /// - Throws: `StoreError`: `duplicateKey`, `invalidValue` naming the field, `readOnly`, `inputOutput`.
    @discardableResult
    public func insert(_ model: Model) async throws(StoreError) -> String {
        try await local { (books) throws(StoreError) in try books.insert(model) }
    }

    /// Appends items, all or none.
    ///
    /// - Returns: their keys.
    /// - Throws: as ``insert(_:)``.
    @discardableResult
    public func insert(contentsOf models: [Model]) async throws(StoreError) -> [String] {
        try await local { (books) throws(StoreError) in try books.insert(contentsOf: models) }
    }

    /// Writes a model's values to the item with its key. Fields that the model does not have are unchanged.
    ///
    /// - Returns: false if there is no such item.
    /// - Throws: `StoreError`: `invalidValue`, `readOnly`, `inputOutput`; the item is then unchanged.
    @discardableResult
    public func update(_ model: Model) async throws(StoreError) -> Bool {
        try await local { (books) throws(StoreError) in try books.update(model) }
    }

    /// The same for the item with a given key.
    @discardableResult
    public func update(_ model: Model, forKey key: some ItemIdentifier) async throws(StoreError) -> Bool {
        try await local { (books) throws(StoreError) in try books.update(model, forKey: key) }
    }

    /// Updates the item with the model's key, or appends it.
    public func upsert(_ model: Model) async throws(StoreError) {
        try await local { (books) throws(StoreError) in try books.upsert(model) }
    }

    /// Removes the item with a key, even if it does not decode as a model.
    ///
    /// - Returns: false if there is no such item.
    @discardableResult
    public func delete(key: some ItemIdentifier) async throws(StoreError) -> Bool {
        try await local { (books) throws(StoreError) in try books.delete(key: key) }
    }

    /// Removes the model's item.
    @discardableResult
    public func delete(_ model: Model) async throws(StoreError) -> Bool {
        try await local { (books) throws(StoreError) in try books.delete(model) }
    }

    // MARK: Transactions

    /// Runs a body as a transaction, with the collection on the store's own executor.
    ///
    /// - Throws: errors of the body, after rolling back; `StoreError` of the commit.
    @discardableResult
    public func transaction<Result: Sendable>(
        _ body: @Sendable (LocalItemCollection<Model>) throws -> Result
    ) async throws -> Result {
        let (coding, onProblem) = (coding, onProblem)
        return try await database.transaction { try body(LocalItemCollection($0, coding, onProblem)) }
    }

    // MARK: Pictures and other bytes

    /// Stores bytes with an item: they are committed, undone and removed with it. Nil removes them.
    ///
    /// - Throws: `StoreError`: `itemRemoved` if there is no such item; `inputOutput` for a database without an
    ///   attachments folder.
    public func setAttachment(_ bytes: [UInt8]?, forKey key: some ItemIdentifier) async throws(StoreError) {
        try await local { (books) throws(StoreError) in try books.setAttachment(bytes, forKey: key) }
    }

    /// Stores several attachments of an item, in order; see ``ItemAttachments/setAllBytes(_:forKey:)``.
    ///
    /// - Throws: as ``setAttachment(_:forKey:)``.
    public func setAttachments(_ all: [[UInt8]], forKey key: some ItemIdentifier) async throws(StoreError) {
        try await local { (books) throws(StoreError) in try books.setAttachments(all, forKey: key) }
    }

    /// All attachments of an item, in order.
    public func attachments(forKey key: some ItemIdentifier) async throws(StoreError) -> [[UInt8]] {
        try await local { (books) throws(StoreError) in try books.attachments(forKey: key) }
    }

    /// The first attachment of an item; nil if there is none.
    public func attachment(forKey key: some ItemIdentifier) async throws(StoreError) -> [UInt8]? {
        try await local { (books) throws(StoreError) in try books.attachment(forKey: key) }
    }

    // MARK: The store's executor

    func local<Result: Sendable>(
        _ body: @Sendable (LocalItemCollection<Model>) throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        let (coding, onProblem) = (coding, onProblem)
        return try await database.perform { (store) throws(StoreError) in
            try body(LocalItemCollection(store, coding, onProblem))
        }
    }
}

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

    /// The number of items that satisfy a condition; see ``LocalItemCollection/count(where:)``.
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
    /// Elements are buffered without limit for a slow task. The sequence ends when its task is cancelled, and with the
    /// database.
    public func changes() -> AsyncStream<ItemCollectionChanges<Model>> {
        let (stream, continuation) = AsyncStream.makeStream(of: ItemCollectionChanges<Model>.self)
        let (coding, relay) = (coding, database.commits)
        let number = relay.add(
            { store, commit in
                let changes = ItemCollectionChanges(commit, LocalItemCollection(store, coding))
                if !changes.isEmpty { continuation.yield(changes) }
            }, onEnd: { continuation.finish() })
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

/// A model with the key of its item.
public struct ItemEntry<Model: Sendable>: Sendable {
    /// The item's key.
    public let key: String
    /// The model.
    public var model: Model

    /// Creates an entry.
    package init(key: String, model: Model) { (self.key, self.model) = (key, model) }
}

extension ItemEntry: Equatable where Model: Equatable {}
extension ItemEntry: Hashable where Model: Hashable {}
