import ColumnEngine
import PredicateFormat
import PropertyList

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
        var query = query(condition).offset(offset)
        for order in orders { query = sorted(query, order) }
        if let limit { query = query.limit(limit) }
        let rows = try answer { try query.rows.rows() }
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
        try answer { try query(condition).count() }
    }

    /// The sum of an attribute's values; items without one are skipped.
    ///
    /// - Throws: `StoreError` with `invalidValue` if the type cannot hold the sum.
    public func sum<Value>(
        _ attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) throws(StoreError) -> Value.Wrapped where Value.Wrapped: NumericItemValue {
        let sum = try aggregate(attribute, condition) { try $0.aggregate(.sum, $1) } ?? .integer(0)
        return try converted(sum, attribute)
    }

    /// The mean of an attribute's values; nil when there are none.
    public func average<Value>(
        _ attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) throws(StoreError) -> Double? where Value.Wrapped: NumericItemValue {
        try aggregate(attribute, condition) { try $0.aggregate(.average, $1) }.flatMap(Double.init(fieldValue:))
    }

    /// The least of an attribute's values; nil when there are none.
    public func min<Value>(
        _ attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) throws(StoreError) -> Value.Wrapped? where Value.Wrapped: OrderedItemValue {
        guard let value = try aggregate(attribute, condition, { try $0.aggregate(.min, $1) }) else { return nil }
        return try converted(value, attribute)
    }

    /// The greatest of an attribute's values; nil when there are none.
    public func max<Value>(
        _ attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) throws(StoreError) -> Value.Wrapped? where Value.Wrapped: OrderedItemValue {
        guard let value = try aggregate(attribute, condition, { try $0.aggregate(.max, $1) }) else { return nil }
        return try converted(value, attribute)
    }

    /// The number of items per value of an attribute, in order of appearance; items without one are left out.
    public func counts<Value>(
        by attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) throws(StoreError) -> [(value: Value.Wrapped, count: Int)] {
        guard let key = key(attribute.path) else { return [] }
        let groups = try answer { try query(condition).groupBy(key) }
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
        for assignment in assignments { values[coding.field(assignment.field)] = .some(assignment.value) }
        return try change { () throws(StoreError) in
            try answer { try query(condition).update(values) }
        }
    }

    /// Removes all items that satisfy a condition, all or none.
    ///
    /// - Returns: the number of items.
    @discardableResult
    public func delete(where condition: ItemCondition<Model>?) throws(StoreError) -> Int {
        try change { () throws(StoreError) in try answer { try query(condition).remove() } }
    }

    // MARK: The engine's query

    /// The query plan of a condition; see ``ItemQuery/explain()``.
    public func explain(where condition: ItemCondition<Model>?) throws(StoreError) -> ItemQueryPlan {
        try answer { try query(condition).explain() }
    }

    /// Does not use ``ItemQuery/filter(_:)``, which refuses fields that no item has: the compiler knows the model's.
    func query(_ condition: ItemCondition<Model>?) -> ItemQuery {
        var query = store.query()
        guard let condition else { return query }
        let node = coding.key.map { condition.node.renaming($0.name, to: "itemKey") } ?? condition.node
        query.rows.add(.predicate(FormatPredicate(node)))
        return query
    }

    private func sorted(_ query: ItemQuery, _ order: ItemOrdering<Model>) -> ItemQuery {
        // A field that no item has does not affect the order.
        guard let key = key(order.path) else { return query }
        return query.sorted(key, descending: order.isDescending)
    }

    private func key(_ path: PredicateKeyPath) -> ItemKey? {
        guard let field = store.existingField(named: coding.field(path.field)) else { return nil }
        if path.rest.isEmpty { return .field(field) }
        let expression = FormatExpression.keyPath(path)
        return .expression(expression, text: expression.description)
    }

    private func aggregate<Value>(
        _ attribute: ItemAttribute<Model, Value>, _ condition: ItemCondition<Model>?,
        _ function: (RowQuery, RowKey) throws -> PropertyListValue?
    ) throws(StoreError) -> PropertyListValue? {
        guard let key = key(attribute.path) else { return nil }
        return try answer { try function(query(condition).rows, store.rowKey(key)) }
    }

    private func converted<Value>(
        _ value: PropertyListValue, _ attribute: ItemAttribute<Model, Value>
    ) throws(StoreError) -> Value.Wrapped {
        if let result = Value.Wrapped(fieldValue: value) { return result }
        throw FieldValidation.refusal(attribute.name, "\(Value.Wrapped.self)", value)
    }

    private func answer<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
        do { return try body() } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.inputOutput, "\(error)", cause: error)
        }
    }
}
