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
/// the fields of every item (`name`, `serialNumber`, `valueInDollars`, `dateCreated`) are stored there. If the model is
/// `Identifiable` by a `UUID` or a `String`, or a `key:` is given, that is the item's key; otherwise a key is
/// generated. Each change is a transaction, a step of ``ItemDatabase/undo()``.
public struct ItemCollection<Model: Codable & Sendable>: Sendable {
    /// The database that contains the collection.
    public let database: ItemDatabase
    let coding: ItemModelCoding<Model>
    let onProblem: (@Sendable (ItemModelError) -> Void)?

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
    /// - Throws: `StoreError` with `inputOutput` for a database without an attachments folder.
    public func setAttachment(_ bytes: [UInt8]?, forKey key: some ItemIdentifier) async throws(StoreError) {
        try await local { (books) throws(StoreError) in
            let attachments = try books.attachments()
            try books.change { () throws(StoreError) in
                if let bytes {
                    try attachments.setBytes(bytes, forKey: key.itemKey)
                } else {
                    try attachments.removeBytes(forKey: key.itemKey)
                }
            }
        }
    }

    /// Stores several attachments of an item, in order; see ``ItemAttachments/setAllBytes(_:forKey:)``.
    ///
    /// - Throws: as ``setAttachment(_:forKey:)``.
    public func setAttachments(_ all: [[UInt8]], forKey key: some ItemIdentifier) async throws(StoreError) {
        try await local { (books) throws(StoreError) in
            let attachments = try books.attachments()
            try books.change { () throws(StoreError) in try attachments.setAllBytes(all, forKey: key.itemKey) }
        }
    }

    /// All attachments of an item, in order.
    public func attachments(forKey key: some ItemIdentifier) async throws(StoreError) -> [[UInt8]] {
        try await local { (books) throws(StoreError) in try books.attachments().allBytes(forKey: key.itemKey) }
    }

    /// The first attachment of an item; nil if there is none.
    public func attachment(forKey key: some ItemIdentifier) async throws(StoreError) -> [UInt8]? {
        try await local { (books) throws(StoreError) in try books.attachments().bytes(forKey: key.itemKey) }
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

extension LocalItemCollection {
    fileprivate func attachments() throws(StoreError) -> ItemAttachments {
        if let attachments = store.attachments { return attachments }
        throw StoreError(.inputOutput, "the database has no folder for attachments: give it one when it is made")
    }
}
