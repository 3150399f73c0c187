import ColumnEngine
import PredicateFormat
import PropertyList

/// Questions to the items of a collection, and changes of many at once.
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
                throw StoreError(error)
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

    /// The problems of the kind's items, and of those without a kind, that do not decode as models. O(n).
    public func problems() -> [ItemModelError] {
        store.columns.slots.filter { $0 != ItemOrder.hole && store.columns.isOf(coding.kind, $0) }
            .compactMap(problem(reader()))
    }

    /// Why a row does not decode as a model; nil if it does.
    private func problem(_ reader: ItemRowReader) -> (UInt32) -> ItemModelError? {
        { [coding] row in
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

    /// The number of items that satisfy a condition. Those that do not decode as models count, unless the collection has
    /// `onProblem`, which then gets them.
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
        for assignment in assignments {
            if assignment.field == coding.key?.name { throw FieldValidation.keyIsReadOnly }
            values[coding.field(assignment.field)] = .some(assignment.value)
        }
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

    /// The items of the kind, and those without a kind, that satisfy a condition; of a lenient collection, those that
    /// decode as models.
    ///
    /// Does not use ``ItemQuery/filter(_:)``, which refuses fields that no item has: the compiler knows the model's.
    func query(_ condition: ItemCondition<Model>?) throws(StoreError) -> ItemQuery {
        if let problem = coding.key?.problem { throw problem }
        var parts: [PredicateNode] = []
        if let condition {
            try check(condition.uses)
            let node = condition.node.replacing(fieldComparison)
            if case .and(let all) = node { parts = all } else { parts = [node] }
        }
        if store.columns.hasKinds {
            let kind = FormatExpression.keyPath(PredicateKeyPath(ItemKind.fieldName))
            parts.append(
                .or([
                    .comparison(PredicateComparison(kind, .equal, .constant(.string(coding.kind)))),
                    .comparison(PredicateComparison(kind, .equal, .constant(.null))),
                ]))
        }
        var query = store.query()
        if let node = parts.first {
            query = query.filter(.predicate(FormatPredicate(parts.count == 1 ? node : .and(parts))))
        }
        guard let onProblem else { return query }
        let problem = problem(reader())
        return query.filter(
            .function { row in
                guard let problem = problem(row) else { return true }
                onProblem(problem)
                return false
            })
    }

    /// A comparison of a property as one of its field; of the id, where it is equal, as one of the item's key.
    private func fieldComparison(_ comparison: PredicateComparison, _ path: PredicateKeyPath) -> PredicateNode {
        var comparison = comparison
        comparison.left = .keyPath(PredicateKeyPath(coding.field(path.field), path.rest))
        guard let key = coding.key, path.field == key.name, path.rest.isEmpty, comparison.options.isEmpty,
            case .constant(let value) = comparison.right
        else { return .comparison(comparison) }
        let ids = if case .array(let values) = value, comparison.operation == .in { values } else { [value] }
        let texts = ids.compactMap(ItemKind.text(of:))
        guard texts.count == ids.count, [.equal, .notEqual, .in].contains(comparison.operation) else {
            if key.isField, store.columns.hasKinds { return .comparison(comparison) }
            comparison.left = .keyPath(PredicateKeyPath("itemKey"))
            return .comparison(comparison)
        }
        let keys = texts.flatMap { ItemKind.keys(coding.kind, $0) }.map { PropertyListValue.string($0) }
        let among = PredicateNode.comparison(
            PredicateComparison(.keyPath(PredicateKeyPath("itemKey")), .in, .constant(.array(keys))))
        return comparison.operation == .notEqual ? .not(among) : among
    }

    private func sorted(_ query: ItemQuery, _ order: ItemOrdering<Model>) -> ItemQuery {
        // A field that no item has does not affect the order.
        guard let key = key(order.path) else { return query }
        return query.sorted(key, descending: order.isDescending)
    }

    private func key(_ path: PredicateKeyPath) -> QueryKey? {
        let isKey = path.field == coding.key?.name && !(coding.key?.isField == true && store.columns.hasKinds)
        guard let field = store.existingField(named: isKey ? "itemKey" : coding.field(path.field)) else { return nil }
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
