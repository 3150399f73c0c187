import ColumnEngine

/// A store of its own, for any number of tasks: an actor that owns an ``ItemStore``.
///
/// ```swift
/// let database = try ItemDatabase(ArchivePersistence(folder: folder))
/// let books = database.collection(of: Book.self)
/// ```
///
/// One collection of models is what a store holds as a rule; several collections see the same items.
public actor ItemDatabase {
    private let store: ItemStore
    nonisolated let commits = CommitRelay()

    /// Opens the store that a persistence keeps.
    ///
    /// - Parameters:
    ///   - persistence: what keeps the items; nobody else uses it.
    ///   - attachments: the path of a folder that exists, for bytes under the items' keys; nil for none.
    ///   - durability: whether each commit survives a power cut.
    /// - Throws: as ``ItemStore/open(_:durability:)``.
    public init(
        _ persistence: sending any ItemPersistence = MemoryPersistence(), attachments: String? = nil,
        durability: Durability = .process
    ) throws(StoreError) {
        store = try ItemStore.open(persistence, durability: durability)
        if let attachments { store.attachments = ItemAttachments(folder: attachments) }
        store.addCommitObserver(commits)
    }

    /// Runs a body with the store. What it changes is committed at its end.
    ///
    /// - Throws: what the body throws; what committing throws.
    public func withStore<Result: Sendable>(_ body: @Sendable (ItemStore) throws -> Result) throws -> Result {
        let result = try body(store)
        try store.commit()
        return result
    }

    /// Runs a body that changes nothing, or commits itself.
    func perform<Result: Sendable>(
        _ body: @Sendable (ItemStore) throws(StoreError) -> Result
    ) throws(StoreError) -> Result { try body(store) }

    /// Runs a body whose changes all happen or none.
    ///
    /// - Throws: what the body throws, after rolling back; what committing throws.
    public func transaction<Result: Sendable>(_ body: @Sendable (ItemStore) throws -> Result) throws -> Result {
        try store.transaction { try body(store) }
    }

    /// Takes back the last transaction.
    ///
    /// - Returns: false when there is nothing to take back.
    @discardableResult
    public func undo() throws(StoreError) -> Bool { try store.undo() }

    /// Does again what ``undo()`` took back last.
    ///
    /// - Returns: false when there is nothing to do again.
    @discardableResult
    public func redo() throws(StoreError) -> Bool { try store.redo() }

    /// Writes the document of all items anew; commits are safe without it. Other calls wait for its end.
    ///
    /// - Returns: false when the document has everything, or there is none.
    @discardableResult
    public func save() throws(StoreError) -> Bool { try store.saveChanges() }

    /// Makes an ordered index on an attribute's field, which conditions and orders use by themselves.
    ///
    /// - Returns: whether it is new.
    @discardableResult
    public func createIndex<Model, Value>(on attribute: ItemAttribute<Model, Value>) throws(StoreError) -> Bool {
        try store.createIndex(attribute.name)
    }
}

extension ItemDatabase {
    /// The items as models whose keys are made for them.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - onProblem: told of items that are no models, which are left out then; if nil, reading throws.
    /// - Returns: the collection, which holds the database.
    public nonisolated func collection<Model>(
        of type: Model.Type, onProblem: (@Sendable (ItemModelError) -> Void)? = nil
    ) -> ItemCollection<Model> {
        ItemCollection(database: self, coding: ItemModelCoding(key: nil), onProblem: onProblem)
    }

    /// The items as models whose `id` is the key.
    public nonisolated func collection<Model: Identifiable>(
        of type: Model.Type, onProblem: (@Sendable (ItemModelError) -> Void)? = nil
    ) -> ItemCollection<Model> where Model.ID: ItemIdentifier {
        ItemCollection(database: self, coding: ItemModelCoding(key: .ofIdentifiable), onProblem: onProblem)
    }

    /// The items as models with a key of their own: `key: Book.isbn`.
    public nonisolated func collection<Model>(
        of type: Model.Type, key: ItemAttribute<Model, some ItemIdentifier>,
        onProblem: (@Sendable (ItemModelError) -> Void)? = nil
    ) -> ItemCollection<Model> {
        ItemCollection(database: self, coding: ItemModelCoding(key: .init(key)), onProblem: onProblem)
    }
}
