public import ColumnEngine
import Synchronization

/// A store for any number of tasks: an actor that owns an ``ItemStore``.
///
/// ```swift
/// let database = try ItemDatabase(ArchivePersistence(folder: folder))
/// let books = database.collection(of: Book.self)
/// ```
///
/// Models of several types have a collection each, of the items of their kind; see ``ItemCollection``.
public actor ItemDatabase {
    private let store: ItemStore
    nonisolated let commits = CommitRelay()

    /// Opens the store of a persistence.
    ///
    /// - Parameters:
    ///   - persistence: stores the items; not to be used elsewhere.
    ///   - attachments: the path of an existing folder for attachments; nil for none.
    ///   - schema: the fields of every item.
    ///   - durability: whether each commit survives a power cut.
    ///   - migrations: all steps that the program's models have ever taken, in order: those that have not run here are run,
    ///     and a store that knows others is only read. See ``Migration``.
    /// - Throws: as ``ItemStore/open(_:schema:durability:)`` and ``ItemStore/migrate(_:)``.
    public init(
        _ persistence: sending any ItemPersistence = MemoryPersistence(), attachments: String? = nil,
        schema: ItemSchema = .household, durability: CommitDurability = .process, migrations: [Migration] = []
    ) throws(StoreError) {
        store = try ItemStore.open(persistence, schema: schema, durability: durability)
        if let attachments { store.attachments = ItemAttachments(folder: attachments) }
        try store.migrate(migrations)
        store.addCommitObserver(commits)
    }

    deinit { commits.end() }

    /// Runs a body with the store, and commits its changes at the end.
    ///
    /// - Throws: errors of the body and of the commit.
    public func withStore<Result: Sendable>(_ body: @Sendable (ItemStore) throws -> Result) throws -> Result {
        let result = try body(store)
        try store.commit()
        return result
    }

    /// Runs a body that makes no changes, or commits them itself.
    func perform<Result: Sendable>(
        _ body: @Sendable (ItemStore) throws(StoreError) -> Result
    ) throws(StoreError) -> Result { try body(store) }

    /// Runs a body as a transaction: its changes are made as a whole or not at all.
    ///
    /// - Throws: errors of the body, after rolling back; errors of the commit.
    public func transaction<Result: Sendable>(_ body: @Sendable (ItemStore) throws -> Result) throws -> Result {
        try store.transaction { try body(store) }
    }

    /// Undoes the last transaction.
    ///
    /// - Returns: false if there is nothing to undo.
    @discardableResult
    public func undo() throws(StoreError) -> Bool { try store.undo() }

    /// Redoes the step that ``undo()`` reverted last.
    ///
    /// - Returns: false if there is nothing to redo.
    @discardableResult
    public func redo() throws(StoreError) -> Bool { try store.redo() }

    /// Rewrites the document of all items. Commits are safe without it. Other calls wait until it is done.
    ///
    /// - Returns: false if the document is up to date, or there is none.
    @discardableResult
    public func save() throws(StoreError) -> Bool { try store.saveChanges() }

    /// Declares fields; see ``ItemStore/declare(_:freeing:converting:)``.
    public func declare(
        _ declarations: [FieldDeclaration], freeing freed: [String] = [], converting converts: Bool = false
    ) throws {
        try store.transaction { try store.declare(declarations, freeing: freed, converting: converts) }
    }

    /// Makes an ordered index on an attribute's field, used automatically by conditions and orders.
    ///
    /// - Returns: whether it is new.
    @discardableResult
    public func createIndex<Model, Value>(on attribute: ItemAttribute<Model, Value>) throws(StoreError) -> Bool {
        if let problem = attribute.problem { throw problem }
        return try store.createIndex(attribute.name)
    }
}

extension ItemDatabase {
    /// The items as models with generated keys.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - onProblem: called with items that do not decode as models, which are skipped; if nil, reading throws.
    /// - Returns: the collection, which retains the database.
    @_disfavoredOverload
    public nonisolated func collection<Model>(
        of type: Model.Type, onProblem: (@Sendable (ItemModelError) -> Void)? = nil
    ) -> ItemCollection<Model> {
        ItemCollection(database: self, coding: ItemModelCoding(key: nil), onProblem: onProblem)
    }

    /// The items as models that have `id` as their key.
    public nonisolated func collection<Model: Identifiable>(
        of type: Model.Type, onProblem: (@Sendable (ItemModelError) -> Void)? = nil
    ) -> ItemCollection<Model> where Model.ID: ItemIdentifier {
        ItemCollection(database: self, coding: ItemModelCoding(key: .ofIdentifiable), onProblem: onProblem)
    }

    /// The items as models that have the text of `id` as their key.
    @_disfavoredOverload
    public nonisolated func collection<Model: Identifiable>(
        of type: Model.Type, onProblem: (@Sendable (ItemModelError) -> Void)? = nil
    ) -> ItemCollection<Model> where Model.ID: LosslessStringConvertible & Sendable {
        ItemCollection(database: self, coding: ItemModelCoding(key: .ofText), onProblem: onProblem)
    }

    // An id of another type is no key, and does not compile: these two are equally good for it. One that was not available
    // would leave it to the first function of all, for models without an id.

    /// Ambiguous: an `id` is a key if its type is `String`, `UUID`, an integer or `LosslessStringConvertible`.
    @_disfavoredOverload
    public nonisolated func collection<Model: Identifiable>(
        of type: Model.Type, onProblem: (@Sendable (ItemModelError) -> Void)? = nil
    ) -> ItemCollection<Model> {
        ItemCollection(database: self, coding: ItemModelCoding(key: nil), onProblem: onProblem)
    }

    /// Ambiguous: an `id` is a key if its type is `String`, `UUID`, an integer or `LosslessStringConvertible`.
    @_disfavoredOverload
    public nonisolated func collection<Model: Identifiable, OtherID>(
        of type: Model.Type, onProblem: (@Sendable (ItemModelError) -> Void)? = nil
    ) -> ItemCollection<Model> where Model.ID == OtherID {
        ItemCollection(database: self, coding: ItemModelCoding(key: nil), onProblem: onProblem)
    }

    /// The items as models with a key property: `key: Book.isbn`.
    public nonisolated func collection<Model>(
        of type: Model.Type, key: ItemAttribute<Model, some ItemIdentifier>,
        onProblem: (@Sendable (ItemModelError) -> Void)? = nil
    ) -> ItemCollection<Model> {
        ItemCollection(database: self, coding: ItemModelCoding(key: .init(key)), onProblem: onProblem)
    }
}

/// Forwards a database's commits to change sequences.
///
/// Sequences are added and removed on any thread; they are notified on the store's.
final class CommitRelay: ItemCommitObserver, Sendable {
    typealias Receiver = @Sendable (ItemStore, ItemStoreCommit) -> Void

    private struct State {
        var receivers: [Int: (receive: Receiver, end: @Sendable () -> Void)] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    /// Adds a receiver, until ``remove(_:)`` is called with the returned number.
    func add(_ receiver: @escaping Receiver, onEnd end: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.last += 1
            state.receivers[state.last] = (receiver, end)
            return state.last
        }
    }

    /// Ends the sequences: there are no further commits.
    func end() {
        let receivers = state.withLock { $0.receivers }
        for receiver in receivers.values { receiver.end() }
    }

    func remove(_ number: Int) { _ = state.withLock { $0.receivers.removeValue(forKey: number) } }

    /// The number of receivers.
    var count: Int { state.withLock { $0.receivers.count } }

    func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) {
        let receivers = state.withLock { $0.receivers }
        for receiver in receivers.values { receiver.receive(store, commit) }
    }
}
