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

    /// The same items, whose fields are declared with the kinds of the model's properties: see
    /// ``ItemCollection/declaringFields()``.
    public func declaringFields() -> Self {
        var coding = coding
        coding.declares = true
        return Self(store, coding, onProblem)
    }

    // MARK: One item

    /// The model with a key; nil if there is none.
    ///
    /// - Throws: `StoreError` for an item that does not decode as a model.
    public func model(forKey key: some ItemIdentifier) throws(StoreError) -> Model? {
        try row(key.itemKey).map { (row) throws(StoreError) in try model(row, reader()) }
    }

    /// The model with an id, which is no key; nil if there is none. The reader and the field with the ids serve for many.
    func model(ofID id: String, in idField: ItemField?, _ reader: ItemRowReader) throws(StoreError) -> Model? {
        guard let row = store.columns.row(ofKind: coding.kind, id: id, in: idField) else { return nil }
        return try model(row, reader)
    }

    private func model(_ row: UInt32, _ reader: ItemRowReader) throws(StoreError) -> Model {
        reader.row = row
        do { return try coding.model(reader) } catch { throw StoreError(error) }
    }

    /// Appends an item.
    ///
    /// - Returns: the item's key.
    /// - Throws: `StoreError`: `duplicateKey`, `invalidValue` naming the field, `readOnly`, `vetoed`, `inputOutput`.
    @discardableResult
    public func insert(_ model: Model) throws(StoreError) -> String {
        try insert(contentsOf: CollectionOfOne(model))[0]
    }

    /// Appends items, all or none.
    ///
    /// - Returns: their keys.
    /// - Throws: as ``insert(_:)``.
    @discardableResult
    public func insert(contentsOf models: some Sequence<Model>) throws(StoreError) -> [String] {
        try store.change { () throws(StoreError) in
            var keys: [String] = []
            for model in models {
                if keys.isEmpty { try declareKind() }
                keys.append(try append(model))
            }
            return keys
        }
    }

    /// Writes a model's values to the item with its key. Fields that the model does not have are unchanged, and so are keys
    /// in dictionaries that a nested struct does not have; arrays are replaced as a whole.
    ///
    /// - Returns: false if there is no such item.
    /// - Throws: `StoreError`: `invalidValue`, `readOnly`, `vetoed`, `inputOutput`; the item is then unchanged.
    @discardableResult
    public func update(_ model: Model) throws(StoreError) -> Bool {
        try update(model, in: row(ofID: ownID(of: model)))
    }

    /// The same for the item with a given key.
    @discardableResult
    public func update(_ model: Model, forKey key: some ItemIdentifier) throws(StoreError) -> Bool {
        try update(model, in: row(key.itemKey))
    }

    private func update(_ model: Model, in row: UInt32?) throws(StoreError) -> Bool {
        guard let row else { return false }
        let columns = store.columns
        let fields = try coding.fields(of: model) { name in
            columns.existingField(named: coding.field(name)).flatMap { columns.value(row, $0) }
        }
        try store.change { () throws(StoreError) in
            try declareKind()
            try declareFields(of: model, fields)
            if let key = coding.key, key.text(model) != store.columns.id(row, in: idField) {
                throw StoreError(
                    .invalidValue(field: key.name),
                    "\(key.name) of the model is \(key.text(model)), and the item is \(store.columns.keyString(row)): "
                        + "an item keeps its key")
            }
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
        try delete(row(key.itemKey))
    }

    /// Removes the model's item.
    @discardableResult
    public func delete(_ model: Model) throws(StoreError) -> Bool { try delete(row(ofID: ownID(of: model))) }

    private func delete(_ row: UInt32?) throws(StoreError) -> Bool {
        guard let row else { return false }
        try store.change { () throws(StoreError) in try store.remove(row: row) }
        return true
    }

    // MARK: Pictures and other bytes

    /// Stores bytes with an item: they are committed, undone and removed with it. Nil removes them.
    ///
    /// - Throws: `StoreError`: `itemRemoved` if there is no such item; `inputOutput` for a store without a folder for
    ///   attachments.
    public func setAttachment(_ bytes: [UInt8]?, forKey key: some ItemIdentifier) throws(StoreError) {
        try setAttachments(bytes.map { [$0] } ?? [], forKey: key)
    }

    /// Stores several attachments of an item, in order; see ``ItemAttachments/setAllBytes(_:forKey:)``.
    ///
    /// - Throws: as ``setAttachment(_:forKey:)``.
    public func setAttachments(_ all: [[UInt8]], forKey key: some ItemIdentifier) throws(StoreError) {
        guard let row = row(key.itemKey) else {
            throw StoreError(.itemRemoved, "there is no \(coding.kind) \(key.itemKey) to have attachments")
        }
        let attachments = try attachments()
        try store.change { () throws(StoreError) in
            try attachments.setAllBytes(all, forKey: store.columns.keyString(row))
        }
    }

    /// All attachments of an item, in order; none if there is no such item.
    public func attachments(forKey key: some ItemIdentifier) throws(StoreError) -> [[UInt8]] {
        guard let key = attachmentKey(key) else { return [] }
        return try attachments().allBytes(forKey: key)
    }

    /// The first attachment of an item; nil if there is none.
    public func attachment(forKey key: some ItemIdentifier) throws(StoreError) -> [UInt8]? {
        guard let key = attachmentKey(key) else { return nil }
        return try attachments().bytes(forKey: key)
    }

    /// The key of an item; nil if there is none, and for a key that cannot be a file's name, whose attachments are refused
    /// when they are set.
    private func attachmentKey(_ key: some ItemIdentifier) -> String? {
        row(key.itemKey).map(store.columns.keyString).flatMap { AttachmentKey.isKey($0) ? $0 : nil }
    }

    private func attachments() throws(StoreError) -> ItemAttachments {
        if let attachments = store.attachments { return attachments }
        throw StoreError(.inputOutput, "the database has no folder for attachments: give it one when it is made")
    }

    // MARK: Transactions

    /// Runs a body as a transaction; see ``ItemStore/transaction(isolation:retries:_:)``.
    public func transaction<Result>(_ body: (Self) throws -> Result) throws -> Result {
        try store.transaction { try body(self) }
    }

    // MARK: Steps

    private func append(_ model: Model) throws(StoreError) -> String {
        let fields = try coding.fields(of: model)
        try declareFields(of: model, fields)
        let draft = try store.beginItem()
        return try draft.orDiscarded { () throws(StoreError) in
            if let key = try newKey(of: model) { try draft.set(.string(key), forField: "itemKey") }
            for case (let name, let value?) in fields { try draft.set(value, forField: name) }
            let item = try store.insertReference(draft, keepsKey: true)
            return store.columns.keyString(item.row)
        }
    }

    /// The key of a new item; nil for one that keeps the UUID that it has.
    private func newKey(of model: Model) throws(StoreError) -> String? {
        guard let key = coding.key else { return nil }
        if let problem = key.problem { throw problem }
        let id = key.text(model)
        try store.columns.checkNewID(coding.kind, id, in: idField)
        let newKey = store.columns.newKey(coding.kind, id)
        // An item whose id is in its key alone can have no other key.
        return newKey ?? (key.isField ? nil : ItemKind.key(coding.kind, id))
    }

    /// Declares the fields of a model about which nothing is declared, if the collection does so.
    private func declareFields(
        of model: Model, _ fields: [(name: String, value: PropertyListValue?)]
    ) throws(StoreError) {
        guard coding.declares, fields.contains(where: { coding.isUndeclared($0.name, store.columns) }) else { return }
        let missing = try coding.declarations(of: model, missingIn: store.columns)
        if !missing.isEmpty { try StoreError.answering { try store.declare(missing) } }
    }

    /// Declares the field of kinds, unless the collection's server knows no declarations, and what the model declares.
    private func declareKind() throws(StoreError) {
        let columns = store.columns
        var missing = coding.declarations.filter { declaration in
            let field = columns.existingField(named: declaration.name)
            return field.flatMap(columns.declaration(of:)) != declaration
        }
        let field = columns.existingField(named: ItemKind.fieldName)
        if field.flatMap(columns.declaration(of:))?.kind != .string, store.replica.remote?.declaringDenial == nil {
            // A script may have made items of this kind before the program's first.
            if !columns.hasKinds, let field, columns.hasValues(field, otherThan: coding.kind) {
                throw StoreError(
                    .unfittingItems(field: ItemKind.fieldName),
                    "items have a field itemKind of their own, which a store with models has for their kinds: give it "
                        + "another name")
            }
            missing.insert(ItemKind.declaration, at: 0)
        }
        if missing.isEmpty { return }
        try StoreError.answering { try store.declare(missing) }
    }

    func ownID(of model: Model) throws(StoreError) -> String {
        guard let key = coding.key else {
            throw StoreError(
                .invalidValue(field: "itemKey"),
                "\(Model.self) has no key of its own: name the item's by forKey:, or declare a property as the key")
        }
        return key.text(model)
    }

    /// The field with the ids; nil for models whose ids are in the items' keys alone.
    var idField: ItemField? {
        guard let key = coding.key, key.isField else { return nil }
        return store.columns.existingField(named: coding.field(key.name))
    }

    /// The row of the kind's item with an id.
    func row(ofID id: String) -> UInt32? { store.columns.row(ofKind: coding.kind, id: id, in: idField) }

    /// The row of the kind's item with an id, or else with a key.
    func row(_ id: String) -> UInt32? {
        if let row = row(ofID: id) { return row }
        return store.columns.row(ofKey: id).flatMap { store.columns.isOf(coding.kind, $0) ? $0 : nil }
    }

    func reader() -> ItemRowReader { ItemRowReader(store.columns, coding) }
}

extension LocalItemCollection {
    /// The items of a store as models with generated keys.
    @_disfavoredOverload
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

    /// The items of a store as models that have the text of `id` as their key.
    @_disfavoredOverload
    public init(_ store: ItemStore, of type: Model.Type = Model.self)
    where Model: Identifiable, Model.ID: LosslessStringConvertible & Sendable {
        self.init(store, ItemModelCoding(key: .ofText))
    }

    /// Not to be used: an `id` of another type is no key.
    ///
    /// - Precondition: false. One that was not available would leave such a model to the initializer for those without an id.
    @available(
        *, deprecated, message: "an id is a key if its type is String, UUID, an integer or LosslessStringConvertible"
    )
    @_disfavoredOverload
    public init(_ store: ItemStore, of type: Model.Type = Model.self) where Model: Identifiable {
        precondition(
            Model.ID.self is any ItemIdentifier.Type,
            "the id of \(Model.self) is not a key: its type is not String, UUID, an integer or LosslessStringConvertible"
        )
        self.init(store, ItemModelCoding(key: nil))
    }
}

extension ItemModelCoding.Key where Model: Identifiable, Model.ID: ItemIdentifier {
    static var ofIdentifiable: Self { Self(ItemAttribute(ModelProbe.keyName(of: \Model.id), \.id)) }
}

extension ItemModelCoding.Key where Model: Identifiable, Model.ID: LosslessStringConvertible & Sendable {
    static var ofText: Self { Self(name: ModelProbe.keyName(of: \Model.id), \.id) }
}
