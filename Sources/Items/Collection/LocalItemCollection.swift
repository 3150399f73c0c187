import ColumnEngine
import PredicateFormat
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
        try store.change { () throws(StoreError) in try append(model) }
    }

    /// Appends items, all or none.
    ///
    /// - Returns: their keys.
    /// - Throws: as ``insert(_:)``.
    @discardableResult
    public func insert(contentsOf models: some Sequence<Model>) throws(StoreError) -> [String] {
        try store.change { () throws(StoreError) in
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
        try store.change { () throws(StoreError) in
            try declareFields(of: model, fields)
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
        try store.change { () throws(StoreError) in try store.remove(row: row) }
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

    // MARK: Steps

    private func append(_ model: Model) throws(StoreError) -> String {
        let fields = try coding.fields(of: model)
        try declareFields(of: model, fields)
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

    /// Declares the fields of a model about which nothing is declared, if the collection does so.
    private func declareFields(
        of model: Model, _ fields: [(name: String, value: PropertyListValue?)]
    ) throws(StoreError) {
        guard coding.declares, fields.contains(where: { coding.isUndeclared($0.name, store.columns) }) else { return }
        let missing = try coding.declarations(of: model, missingIn: store.columns)
        if !missing.isEmpty { try StoreError.answering { try store.declare(missing) } }
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

extension LocalItemCollection {
    // MARK: Reading

    /// The models that satisfy a condition, in order.
    ///
    /// - Parameters:
    ///   - condition: selects the items; all if nil.
    ///   - orders: the sort criteria, the most significant first; the store's order if empty.
    ///   - limit: the maximum number of models.
    ///   - offset: the number of models to skip first.
    /// - Returns: the models.
    /// - Throws: `StoreError` for an item that does not decode as a model, unless the collection has `onProblem`.
    public func fetch(
        where condition: ItemCondition<Model>? = nil, sortedBy orders: [ItemOrdering<Model>] = [], limit: Int? = nil,
        offset: Int = 0
    ) throws(StoreError) -> [Model] {
        try entries(where: condition, sortedBy: orders, limit: limit, offset: offset).map(\.model)
    }

    /// The same as ``fetch(where:sortedBy:limit:offset:)``, with the items' keys.
    public func entries(
        where condition: ItemCondition<Model>? = nil, sortedBy orders: [ItemOrdering<Model>] = [], limit: Int? = nil,
        offset: Int = 0
    ) throws(StoreError) -> [ItemEntry<Model>] {
        try check(orders.map(\.use))
        var query = try query(condition).offset(offset)
        for order in orders { query = sorted(query, order) }
        if let limit { query = query.limit(limit) }
        let rows = try query.rows()
        var entries: [ItemEntry<Model>] = []
        entries.reserveCapacity(rows.count)
        let reader = reader()
        for row in rows {
            reader.row = row
            do throws(ItemModelError) {
                entries.append(ItemEntry(key: reader.key, model: try coding.model(reader)))
            } catch {
                guard let onProblem else { throw StoreError(error) }
                onProblem(error)
            }
        }
        return entries
    }

    /// The first model that satisfies a condition; nil if there is none.
    public func first(
        where condition: ItemCondition<Model>? = nil, sortedBy orders: [ItemOrdering<Model>] = []
    ) throws(StoreError) -> Model? {
        try fetch(where: condition, sortedBy: orders, limit: 1).first
    }

    /// The problems of items that do not decode as models. O(n).
    public func problems() -> [ItemModelError] {
        let reader = reader()
        return store.columns.slots.filter { $0 != ItemOrder.hole }.compactMap { row in
            reader.row = row
            do throws(ItemModelError) {
                _ = try coding.model(reader)
                return nil
            } catch {
                return error
            }
        }
    }

    // MARK: Aggregates

    /// The number of items that satisfy a condition, including those that do not decode as models.
    public func count(where condition: ItemCondition<Model>? = nil) throws(StoreError) -> Int {
        try query(condition).count()
    }

    /// The sum of an attribute's values; items without one are skipped.
    ///
    /// - Throws: `StoreError` with `invalidValue` if the type cannot hold the sum.
    public func sum<Value>(
        _ attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) throws(StoreError) -> Value.Wrapped where Value.Wrapped: NumericItemValue {
        let sum = try aggregate(.sum, attribute, condition) ?? .integer(0)
        return try converted(sum, attribute)
    }

    /// The mean of an attribute's values; nil when there are none.
    public func average<Value>(
        _ attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) throws(StoreError) -> Double? where Value.Wrapped: NumericItemValue {
        try aggregate(.average, attribute, condition).flatMap(Double.init(fieldValue:))
    }

    /// The least of an attribute's values; nil when there are none.
    public func min<Value>(
        _ attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) throws(StoreError) -> Value.Wrapped? where Value.Wrapped: OrderedItemValue {
        guard let value = try aggregate(.min, attribute, condition) else { return nil }
        return try converted(value, attribute)
    }

    /// The greatest of an attribute's values; nil when there are none.
    public func max<Value>(
        _ attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) throws(StoreError) -> Value.Wrapped? where Value.Wrapped: OrderedItemValue {
        guard let value = try aggregate(.max, attribute, condition) else { return nil }
        return try converted(value, attribute)
    }

    /// The number of items per value of an attribute, in order of appearance; items without one are left out.
    public func counts<Value>(
        by attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) throws(StoreError) -> [(value: Value.Wrapped, count: Int)] {
        try check([attribute.use])
        guard let key = key(attribute.path) else { return [] }
        let groups = try query(condition).groupBy(key)
        var counts: [(value: Value.Wrapped, count: Int)] = []
        for group in groups {
            guard let value = group.key else { continue }
            counts.append((try converted(value, attribute), group.count))
        }
        return counts
    }

    // MARK: Many at once

    /// Sets attributes of all items that satisfy a condition; if one is refused, none is set.
    ///
    /// - Returns: the number of items.
    @discardableResult
    public func update(
        where condition: ItemCondition<Model>?, _ assignments: [ItemAssignment<Model>]
    ) throws(StoreError) -> Int {
        var values: [String: PropertyListValue?] = [:]
        try check(assignments.map(\.use))
        for assignment in assignments { values[coding.field(assignment.field)] = .some(assignment.value) }
        return try store.change { () throws(StoreError) in
            try query(condition).update(values)
        }
    }

    /// Removes all items that satisfy a condition, all or none.
    ///
    /// - Returns: the number of items.
    @discardableResult
    public func delete(where condition: ItemCondition<Model>?) throws(StoreError) -> Int {
        try store.change { () throws(StoreError) in try query(condition).remove() }
    }

    // MARK: The engine's query

    /// The query plan of a condition; see ``ItemQuery/explain()``.
    package func explain(where condition: ItemCondition<Model>?) throws(StoreError) -> ItemQueryPlan {
        try query(condition).explain()
    }

    /// Does not use ``ItemQuery/filter(_:)``, which refuses fields that no item has: the compiler knows the model's.
    func query(_ condition: ItemCondition<Model>?) throws(StoreError) -> ItemQuery {
        guard let condition else { return store.query() }
        try check(condition.uses)
        let node = coding.key.map { condition.node.renaming($0.name, to: "itemKey") } ?? condition.node
        return store.query().filter(.predicate(FormatPredicate(node)))
    }

    private func sorted(_ query: ItemQuery, _ order: ItemOrdering<Model>) -> ItemQuery {
        // A field that no item has does not affect the order.
        guard let key = key(order.path) else { return query }
        return query.sorted(key, descending: order.isDescending)
    }

    private func key(_ path: PredicateKeyPath) -> QueryKey? {
        guard let field = store.existingField(named: coding.field(path.field)) else { return nil }
        if path.rest.isEmpty { return .field(field) }
        let expression = FormatExpression.keyPath(path)
        return .expression(expression, text: expression.description)
    }

    private func aggregate<Value>(
        _ name: ItemAggregate.Name, _ attribute: ItemAttribute<Model, Value>, _ condition: ItemCondition<Model>?
    ) throws(StoreError) -> PropertyListValue? {
        try check([attribute.use])
        guard let key = key(attribute.path) else { return nil }
        return try query(condition).aggregate(name, key)
    }

    private func converted<Value>(
        _ value: PropertyListValue, _ attribute: ItemAttribute<Model, Value>
    ) throws(StoreError) -> Value.Wrapped {
        try value.converted(attribute.name)
    }
}
