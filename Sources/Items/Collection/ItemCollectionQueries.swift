import ColumnEngine
import PredicateFormat
import PropertyList
import Synchronization

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
        try decoded(where: condition, sortedBy: orders, limit: limit, offset: offset) { $1 }
    }

    /// The same as ``fetch(where:sortedBy:limit:offset:)``, with the items' keys.
    public func entries(
        where condition: ItemCondition<Model>? = nil, sortedBy orders: [ItemOrdering<Model>] = [], limit: Int? = nil,
        offset: Int = 0
    ) throws(StoreError) -> [ItemEntry<Model>] {
        try decoded(where: condition, sortedBy: orders, limit: limit, offset: offset) {
            ItemEntry(key: $0.key, model: $1)
        }
    }

    /// What is made of each item found and its model.
    private func decoded<Element>(
        where condition: ItemCondition<Model>?, sortedBy orders: [ItemOrdering<Model>], limit: Int?, offset: Int,
        _ element: (ItemRowReader, Model) -> Element
    ) throws(StoreError) -> [Element] {
        try check(orders.map(\.use))
        var query = try selection(condition)
        for order in orders { query = try sorted(query, order) }
        // Those that do not decode count as none: a lenient collection knows them when it has decoded them.
        let end = limit.map { Swift.max(0, $0) } ?? .max
        if onProblem == nil { query = query.offset(offset).limit(end) }
        var skipped = onProblem == nil ? 0 : Swift.max(0, offset)
        let rows = try query.rows()
        var elements: [Element] = []
        let reader = reader()
        for row in rows where elements.count < end {
            reader.row = row
            do throws(ItemModelError) {
                let model = try coding.model(reader)
                if skipped > 0 { skipped -= 1 } else { elements.append(element(reader, model)) }
            } catch {
                guard let onProblem else { throw StoreError(error) }
                onProblem(error)
            }
        }
        return elements
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
        try (aggregate(.sum, attribute, condition) ?? .integer(0)).converted(attribute.name)
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
        try aggregate(.min, attribute, condition)?.converted(attribute.name)
    }

    /// The greatest of an attribute's values; nil when there are none.
    public func max<Value>(
        _ attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) throws(StoreError) -> Value.Wrapped? where Value.Wrapped: OrderedItemValue {
        try aggregate(.max, attribute, condition)?.converted(attribute.name)
    }

    /// The number of items per value of an attribute, in order of appearance; items without one are left out.
    public func counts<Value>(
        by attribute: ItemAttribute<Model, Value>, where condition: ItemCondition<Model>? = nil
    ) throws(StoreError) -> [(value: Value.Wrapped, count: Int)] {
        try check([attribute.use])
        guard let key = try key(attribute.path) else { return [] }
        let groups = try query(condition).groupBy(key)
        var counts: [(value: Value.Wrapped, count: Int)] = []
        for group in groups {
            guard let value = group.key else { continue }
            counts.append((try value.converted(attribute.name), group.count))
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
        var values: [ExactText: PropertyListValue?] = [:]
        try check(assignments.map(\.use))
        for assignment in assignments {
            if assignment.field == coding.key?.name { throw FieldValidation.keyIsReadOnly }
            values[ExactText(coding.field(assignment.field))] = .some(assignment.value)
        }
        return try store.change { () throws(StoreError) in
            try query(condition).update(exactly: values)
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
        let query = try selection(condition)
        guard let onProblem else { return query }
        let problem = problem(reader())
        return query.filter(
            .function { row in
                guard let problem = problem(row) else { return true }
                onProblem(problem)
                return false
            })
    }

    /// The items of the kind, and those without a kind, that satisfy a condition, whether they decode or not.
    private func selection(_ condition: ItemCondition<Model>?) throws(StoreError) -> ItemQuery {
        if let problem = coding.key?.problem { throw problem }
        var parts: [PredicateNode] = []
        if let condition {
            try check(condition.uses)
            let node = try condition.node.replacing(fieldComparison)
            if case .and(let all) = node { parts = all } else { parts = [node] }
        }
        return selection(parts)
    }

    private func selection(_ conditions: [PredicateNode]) -> ItemQuery {
        var parts = conditions
        if store.columns.hasKinds {
            let kind = PredicateKeyPath(ItemKind.fieldName)
            parts.append(
                .or([.comparing(kind, .equal, .string(coding.kind)), .comparing(kind, .equal, .null)]))
        }
        guard let node = parts.first else { return store.query() }
        return store.query().filter(.predicate(FormatPredicate(parts.count == 1 ? node : .and(parts))))
    }

    /// A comparison of a property as one of its field; of the id as one of the item's id, wherever that is.
    private func fieldComparison(
        _ comparison: PredicateComparison, _ path: PredicateKeyPath
    ) throws(StoreError) -> PredicateNode {
        var comparison = comparison
        comparison.left = .keyPath(PredicateKeyPath(coding.field(path.field), path.rest))
        guard let key = coding.key, path.field == key.name, path.rest.isEmpty else { return .comparison(comparison) }
        if let keys = keys(comparison) {
            let among = Self.isAmong(keys)
            return comparison.operation == .notEqual ? .not(among) : among
        }
        let itemKey = FormatExpression.keyPath(PredicateKeyPath("itemKey"))
        guard key.isField, hasIDs else {
            comparison.left = itemKey
            return .comparison(comparison)
        }
        let rows = try itemsWithoutIDField()
        if rows.isEmpty { return .comparison(comparison) }
        let predicate = FormatPredicate(.comparison(comparison))
        let found = rows.filter { row in predicate.evaluate { _ in key.value(store.columns.id(row, in: idField)) } }
        let hasID = PredicateComparison(comparison.left, .notEqual, .constant(.null))
        return .or([
            .and([.comparison(hasID), .comparison(comparison)]), Self.isAmong(found.map(store.columns.keyString)),
        ])
    }

    /// The keys of the items whose ids a comparison names: it is of one with others, whether they are equal.
    private func keys(_ comparison: PredicateComparison) -> [String]? {
        guard comparison.options.isEmpty, [.equal, .notEqual, .in].contains(comparison.operation),
            case .constant(let value) = comparison.right
        else { return nil }
        let ids = if case .array(let values) = value, comparison.operation == .in { values } else { [value] }
        let texts = ids.compactMap(ItemKind.text(of:))
        guard texts.count == ids.count else { return nil }
        return texts.flatMap { store.columns.rows(ofKind: coding.kind, id: $0, in: idField) }.map(
            store.columns.keyString)
    }

    private static func isAmong(_ keys: [String]) -> PredicateNode {
        .comparing(PredicateKeyPath("itemKey"), .in, .array(keys.map { .string($0) }))
    }

    /// Whether an item may have an id that is not its key.
    private var hasIDs: Bool { idField != nil || store.columns.existingField(named: ItemKind.fieldName) != nil }

    /// The items with their ids in their keys alone, as earlier versions and scripts made them.
    private func itemsWithoutIDField() throws(StoreError) -> [UInt32] {
        guard let name = coding.key?.name, idField != nil else { return try selection([]).rows() }
        return try selection([.comparing(PredicateKeyPath(coding.field(name)), .equal, .null)]).rows()
    }

    private func sorted(_ query: ItemQuery, _ order: ItemOrdering<Model>) throws(StoreError) -> ItemQuery {
        // A field that no item has does not affect the order.
        guard let key = try key(order.path) else { return query }
        return query.sorted(key, descending: order.isDescending)
    }

    private func key(_ path: PredicateKeyPath) throws(StoreError) -> QueryKey? {
        if let key = coding.key, path.field == key.name, path.rest.isEmpty { return try self.key(ofIDs: key) }
        guard let field = store.existingField(named: coding.field(path.field)) else { return nil }
        if path.rest.isEmpty { return .field(field) }
        let expression = FormatExpression.keyPath(path)
        return .expression(expression, text: expression.description)
    }

    private func key(ofIDs key: ItemModelCoding<Model>.Key) throws(StoreError) -> QueryKey {
        guard key.isField, hasIDs else { return .field(store.columns.keyField) }
        if let idField, try itemsWithoutIDField().isEmpty { return .field(idField) }
        return .function { [columns = store.columns, idField] row in
            idField.flatMap { columns.value(row, $0) } ?? key.value(columns.id(row, in: idField))
        }
    }

    private func aggregate<Value>(
        _ name: ItemAggregate.Name, _ attribute: ItemAttribute<Model, Value>, _ condition: ItemCondition<Model>?
    ) throws(StoreError) -> PropertyListValue? {
        try check([attribute.use])
        guard let key = try key(attribute.path) else { return nil }
        return try query(condition).aggregate(name, key)
    }
}

/// A query's models: now, and again after each commit that affects them; see
/// ``ItemCollection/results(where:sortedBy:limit:)``.
///
/// Any number of tasks may iterate, each from the start. A slow task gets the latest result and skips earlier ones; a
/// cancelled task gets nil.
public struct ItemResults<Model: Codable & Sendable>: AsyncSequence, Sendable {
    public typealias Element = [Model]
    public typealias Failure = StoreError

    let collection: ItemCollection<Model>
    let condition: ItemCondition<Model>?
    let orders: [ItemOrdering<Model>]
    let limit: Int?

    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// The results of one iteration.
    public struct Iterator: AsyncIteratorProtocol {
        private let results: ItemResults
        private let changes: ChangedKeys
        private var commits: AsyncStream<Void>.Iterator
        /// The keys of the last result; nil before the first.
        private var keys: [String]?

        init(_ results: ItemResults) {
            self.results = results
            let changes = ChangedKeys()
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let relay = results.collection.database.commits
            let number = relay.add(
                { _, commit in
                    changes.add(commit)
                    continuation.yield()
                }, onEnd: { continuation.finish() })
            continuation.onTermination = { _ in relay.remove(number) }
            self.changes = changes
            commits = stream.makeAsyncIterator()
        }

        /// The next result that differs from the last; nil when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(StoreError) -> [Model]? {
            if keys == nil {
                guard !Task.isCancelled else { return nil }
                let (entries, _) = try await Self.fetch(results, changes)
                keys = entries.map(\.key)
                return entries.map(\.model)
            }
            while await commits.next(isolation: actor) != nil {
                let (entries, changed) = try await Self.fetch(results, changes)
                let newKeys = entries.map(\.key)
                // Items without changes are still equal.
                guard newKeys != keys || newKeys.contains(where: changed.contains) else { continue }
                keys = newKeys
                return entries.map(\.model)
            }
            return nil
        }

        /// The result, and the keys changed since the last one: taken together, so that no change is missed.
        private static func fetch(
            _ results: ItemResults, _ changes: ChangedKeys
        ) async throws(StoreError) -> ([ItemEntry<Model>], NameSet) {
            return try await results.collection.local { (collection) throws(StoreError) in
                let changed = changes.take()
                return (
                    try collection.entries(where: results.condition, sortedBy: results.orders, limit: results.limit),
                    changed
                )
            }
        }
    }
}

/// Collects the keys of items that commits changed, until they are taken.
private final class ChangedKeys: Sendable {
    private let keys = Mutex<NameSet>([])

    func add(_ commit: ItemStoreCommit) {
        let new = commit.map(\.itemKey)
        keys.withLock { keys in for key in new { keys.insert(key) } }
    }

    func take() -> NameSet {
        keys.withLock { keys in
            defer { keys = [] }
            return keys
        }
    }
}

/// The changes of one commit to a collection, with the models right after the commit.
public struct ItemCollectionChanges<Model: Codable & Sendable>: Sendable {
    /// The reason for the commit.
    public let cause: ItemStoreCommit.Cause
    /// New items, in order of insertion.
    public private(set) var inserted: [ItemEntry<Model>] = []
    /// Items with changed fields, each once.
    public private(set) var updated: [ItemEntry<Model>] = []
    /// The keys of removed items.
    public private(set) var removed: [String] = []
    /// Inserted and updated items that do not decode as models.
    package private(set) var problems: [ItemModelError] = []

    /// Whether nothing but the order of the items changed.
    package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && removed.isEmpty && problems.isEmpty }

    init(_ commit: ItemStoreCommit, _ collection: LocalItemCollection<Model>) {
        cause = commit.cause
        // An item's first and last change within the commit decide.
        var kinds: NameTable<(wasThere: Bool, isThere: Bool)> = [:]
        var keys: [String] = []
        var foreign: NameSet = []
        for change in commit where change.kind != .move && change.kind != .declare {
            if kinds[change.itemKey] == nil { keys.append(change.itemKey) }
            let wasThere = kinds[change.itemKey]?.wasThere ?? (change.kind != .insert)
            kinds[change.itemKey] = (wasThere, change.kind != .remove)
            guard change.kind == .remove, case .string(let kind)? = change.values?[ItemKind.fieldName] else { continue }
            if kind != collection.coding.kind { foreign.insert(change.itemKey) }
        }
        let reader = collection.reader()
        for key in keys {
            guard let (wasThere, isThere) = kinds[key] else { continue }
            guard isThere, let item = collection.store.item(forKey: key) else {
                if wasThere, !foreign.contains(key) { removed.append(key) }
                continue
            }
            guard collection.store.columns.isOf(collection.coding.kind, item.row) else { continue }
            reader.row = item.row
            do throws(ItemModelError) {
                let entry = ItemEntry(key: key, model: try collection.coding.model(reader))
                if wasThere { updated.append(entry) } else { inserted.append(entry) }
            } catch {
                problems.append(error)
            }
        }
    }
}
