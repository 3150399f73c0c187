import ColumnEngine
import PropertyList

/// A store's items as models, on the thread that owns the store: for transactions of ``ItemCollection``, and for hosts
/// of scripts.
///
/// Each change is a transaction, nested in the enclosing one if there is one. Not `Sendable`, like the store.
public struct LocalItemCollection<Model: Codable & Sendable> {
    /// The store of the items.
    public let store: ItemStore
    let coding: ItemModelCoding<Model>
    /// Called with items that do not decode as models; if nil, reading throws.
    let onProblem: (@Sendable (ItemModelError) -> Void)?

    init(
        _ store: ItemStore, _ coding: ItemModelCoding<Model>, _ onProblem: (@Sendable (ItemModelError) -> Void)? = nil
    ) {
        (self.store, self.coding, self.onProblem) = (store, coding, onProblem)
    }

    // MARK: One item

    /// The model with a key; nil if there is none.
    ///
    /// - Throws: `StoreError` for an item that does not decode as a model.
    public func model(forKey key: some ItemIdentifier) throws(StoreError) -> Model? {
        guard let row = row(key.itemKey) else { return nil }
        let reader = reader()
        reader.row = row
        do { return try coding.model(reader) } catch { throw StoreError(error) }
    }

    /// Appends an item.
    ///
    /// - Returns: the item's key.
    /// - Throws: `StoreError`: `duplicateKey`, `invalidValue` naming the field, `readOnly`, `vetoed`, `inputOutput`.
    @discardableResult
    public func insert(_ model: Model) throws(StoreError) -> String {
        try change { () throws(StoreError) in try append(model) }
    }

    /// Appends items, all or none.
    ///
    /// - Returns: their keys.
    /// - Throws: as ``insert(_:)``.
    @discardableResult
    public func insert(contentsOf models: some Sequence<Model>) throws(StoreError) -> [String] {
        try change { () throws(StoreError) in
            var keys: [String] = []
            for model in models { keys.append(try append(model)) }
            return keys
        }
    }

    /// Writes a model's values to the item with its key. Fields that the model does not have are unchanged.
    ///
    /// - Returns: false if there is no such item.
    /// - Throws: `StoreError`: `invalidValue`, `readOnly`, `vetoed`, `inputOutput`; the item is then unchanged.
    @discardableResult
    public func update(_ model: Model) throws(StoreError) -> Bool {
        try update(model, forKey: ownKey(of: model))
    }

    /// The same for the item with a given key.
    @discardableResult
    public func update(_ model: Model, forKey key: some ItemIdentifier) throws(StoreError) -> Bool {
        guard let row = row(key.itemKey) else { return false }
        let fields = try coding.fields(of: model)
        try change { () throws(StoreError) in
            for (name, value) in fields {
                if value == nil, store.columns.existingField(named: name) == nil { continue }
                try store.set(row, try store.columns.fieldForAssignment(name, value), value)
            }
        }
        return true
    }

    /// Updates the item with the model's key, or appends it.
    ///
    /// - Throws: as ``update(_:)`` and ``insert(_:)``.
    public func upsert(_ model: Model) throws(StoreError) {
        if try !update(model) { try insert(model) }
    }

    /// Removes the item with a key, even if it does not decode as a model.
    ///
    /// - Returns: false if there is no such item.
    /// - Throws: `StoreError`: `readOnly`, `vetoed`, `inputOutput`.
    @discardableResult
    public func delete(key: some ItemIdentifier) throws(StoreError) -> Bool {
        guard let row = row(key.itemKey) else { return false }
        try change { () throws(StoreError) in try store.remove(row: row) }
        return true
    }

    /// Removes the model's item.
    @discardableResult
    public func delete(_ model: Model) throws(StoreError) -> Bool { try delete(key: ownKey(of: model)) }

    // MARK: Transactions

    /// Runs a body as a transaction; see ``ItemStore/transaction(_:)``.
    public func transaction<Result>(_ body: (Self) throws -> Result) throws -> Result {
        try store.transaction { try body(self) }
    }

    func change<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        do { return try store.transaction(body) } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.inputOutput, "\(error)", cause: error)
        }
    }

    // MARK: Steps

    private func append(_ model: Model) throws(StoreError) -> String {
        let fields = try coding.fields(of: model)
        let draft = try store.beginItem()
        do throws(StoreError) {
            if let key = coding.key { try draft.set(.string(key.text(model)), forField: "itemKey") }
            for case (let name, let value?) in fields { try draft.set(value, forField: name) }
            let item = try store.insertReference(draft)
            return store.columns.keyString(item.row)
        } catch {
            draft.discard()
            throw error
        }
    }

    func ownKey(of model: Model) throws(StoreError) -> String {
        guard let key = coding.key else {
            throw StoreError(
                .invalidValue(field: "itemKey"),
                "\(Model.self) has no key of its own: name the item's by forKey:, or declare a property as the key")
        }
        return key.text(model)
    }

    func row(_ key: String) -> UInt32? {
        var key = key
        return key.withUTF8 { store.columns.row(forKey: $0) }
    }

    func reader() -> ItemRowReader { ItemRowReader(store.columns, keyName: coding.key?.name) }
}

extension LocalItemCollection {
    /// The items of a store as models with generated keys.
    public init(_ store: ItemStore, of type: Model.Type = Model.self) {
        self.init(store, ItemModelCoding(key: nil))
    }

    /// The items of a store as models with a key property.
    public init(_ store: ItemStore, of type: Model.Type = Model.self, key: ItemAttribute<Model, some ItemIdentifier>) {
        self.init(store, ItemModelCoding(key: .init(key)))
    }

    /// The items of a store as models that have `id` as their key.
    public init(_ store: ItemStore, of type: Model.Type = Model.self)
    where Model: Identifiable, Model.ID: ItemIdentifier {
        self.init(store, ItemModelCoding(key: .ofIdentifiable))
    }
}

extension ItemModelCoding.Key where Model: Identifiable, Model.ID: ItemIdentifier {
    static var ofIdentifiable: Self { Self(ItemAttribute("id", \.id)) }
}
