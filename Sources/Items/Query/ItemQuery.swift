import ColumnEngine
public import PredicateFormat

/// A query over a store's items: a value that is refined step by step, and evaluated on demand.
///
///     let dear = try store.query(FormatPredicate(format: "valueInDollars > 500")).sorted("name").limit(10).all()
///
/// Each result is of the store at that moment. A condition that is a function may change the store; each item present
/// at the start is examined once, unless it has been removed.
public struct ItemQuery {
    /// The queried store.
    public let store: ItemStore
    var rows: RowQuery

    init(_ store: ItemStore) {
        self.store = store
        rows = RowQuery(store.columns)
    }

    /// Restricts the query to items that satisfy a predicate.
    ///
    /// - Throws: `FormatPredicateError` for a field that no item has, with the nearest names, and for a comparison that
    ///   never holds: because of its operands, or because all values of a field are of another kind. An empty store
    ///   knows no custom fields: it refuses only names similar to one of the domain's.
    public func filter(_ predicate: FormatPredicate) throws(FormatPredicateError) -> ItemQuery {
        do throws(FormatPredicateError) { try predicate.check(knownFields: store.knownFields, of: "item") } catch {
            if store.count > 0 || !error.suggestions.isEmpty { throw error }
        }
        try store.checkKinds(of: predicate)
        var query = self
        query.rows.add(.predicate(predicate))
        return query
    }

    /// Restricts the query to items for which a function returns true.
    public func filter(_ isIncluded: @escaping (Item) throws -> Bool) -> ItemQuery {
        var query = self
        let store = store
        query.rows.add(
            .function { row in
                // An earlier call may have removed it.
                guard store.columns.isLive(row) else { return false }
                return try isIncluded(store.item(row: row)) && store.columns.isLive(row)
            })
        return query
    }

    /// Sorts by a key: text in byte order, numbers by value, absent values first. A second call adds a less significant
    /// key. Equal items keep the store's order. A key is a field, or an expression of the predicate language.
    ///
    /// - Throws: `StoreError` for a field that no item has; `FormatPredicateError` for an invalid expression.
    public func sorted(_ key: String, descending: Bool = false) throws -> ItemQuery {
        sorted(try store.key(key), descending: descending)
    }

    /// Sorts by a key.
    public func sorted(_ key: ItemKey, descending: Bool = false) -> ItemQuery {
        var query = self
        query.rows.order.append(ItemSortKey(key: store.rowKey(key), isDescending: descending))
        return query
    }

    /// The same for a field's name in UTF-8; a name of the domain needs no `String`.
    public func sorted(utf8 field: UnsafeBufferPointer<UInt8>, descending: Bool = false) throws -> ItemQuery {
        guard let known = ItemField(domain: field) else {
            return try sorted(String(decoding: field, as: UTF8.self), descending: descending)
        }
        var query = self
        query.rows.order.append(ItemSortKey(field: known, isDescending: descending))
        return query
    }

    /// The fields that the predicates and the order use, each once, the predicates' first.
    public var fields: [String] {
        var names: [String] = []
        for case .predicate(let predicate) in rows.conditions { names += predicate.fieldNames }
        for key in rows.order.keys {
            switch key.key {
            case .field(let field): names.append(store.name(of: field))
            case .expression(let expression, _): names += expression.fieldNames
            case .function: continue
            }
        }
        var seen: NameSet = []
        return names.filter { seen.insert($0).inserted }
    }

    /// Limits the number of items. A negative number counts as 0.
    public func limit(_ count: Int) -> ItemQuery {
        var query = self
        query.rows.limitCount = Swift.max(0, count)
        return query
    }

    /// Skips the first items. A negative number counts as 0.
    public func offset(_ count: Int) -> ItemQuery {
        var query = self
        query.rows.offsetCount = Swift.max(0, count)
        return query
    }

    // MARK: Answers

    /// The items, in order.
    ///
    /// - Throws: errors of conditions that are functions.
    public func all() throws -> [Item] {
        try rows.rows().map(store.item(row:))
    }

    /// The first item; nil if there is none.
    public func first() throws -> Item? {
        try firstReference().map(store.item)
    }

    /// The first items, in order: at most `count`. A negative number counts as 0.
    ///
    /// - Throws: as ``all()``.
    public func first(_ count: Int) throws -> [Item] { try firstReferences(count).map(store.item) }

    /// The number of items.
    public func count() throws -> Int { try rows.count() }

    /// The query plan. Runs the query, and builds the index that it uses if it is not built yet.
    public func explain() throws -> ItemQueryPlan { try rows.explain() }

    /// Calls a function with each item, in order, skipping items removed in the meantime. The function returns false to
    /// stop.
    public func each(_ body: (Item) throws -> Bool) throws {
        try store.columns.pinningRows {
            if rows.order.isEmpty {
                try rows.visit(changes: true) { try body(store.item(row: $0)) }
                return
            }
            for row in try rows.rows() where store.columns.isLive(row) {
                if try !body(store.item(row: row)) { return }
            }
        }
    }
}

extension ItemStore {
    /// A query of all items.
    public func query() -> ItemQuery { ItemQuery(self) }

    /// A query of the items that satisfy a predicate; see ``ItemQuery/filter(_:)-(FormatPredicate)``.
    public func query(_ predicate: FormatPredicate) throws(FormatPredicateError) -> ItemQuery {
        try ItemQuery(self).filter(predicate)
    }

    /// The fields that some item has or had.
    var knownFields: [String] { fieldNames }
}
