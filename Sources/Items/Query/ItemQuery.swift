import ColumnEngine
public import PredicateFormat

/// A question about a store's items: a value that is refined step by step, and answered when it is asked.
///
///     let dear = try store.query(FormatPredicate(format: "valueInDollars > 500")).sorted("name").limit(10).all()
///
/// Each answer is of the store at that moment. A condition that is a function may change the store; each item present at the
/// begin of the answer is examined once, unless it has been removed.
public struct ItemQuery {
    /// The store that is asked.
    public let store: ItemStore
    var rows: RowQuery

    init(_ store: ItemStore) {
        self.store = store
        rows = RowQuery(store.columns)
    }

    /// Only items that satisfy a predicate, too.
    ///
    /// - Throws: `FormatPredicateError` for a field that no item has, with the nearest names, and for a comparison that can
    ///   never hold, because of what it compares or because all values of a field are of another kind. An empty store knows
    ///   no custom fields: there only a name that is like one of the domain's is refused.
    public func filter(_ predicate: FormatPredicate) throws(FormatPredicateError) -> ItemQuery {
        do throws(FormatPredicateError) { try predicate.check(knownFields: store.knownFields, of: "item") } catch {
            if store.count > 0 || !error.suggestions.isEmpty { throw error }
        }
        try store.checkKinds(of: predicate)
        var query = self
        query.rows.add(.predicate(predicate))
        return query
    }

    /// Only items for which a function says yes, too.
    public func filter(_ isIncluded: @escaping (Item) throws -> Bool) -> ItemQuery {
        var query = self
        let store = store
        query.rows.add(
            .function { row in
                // An earlier function may have removed it.
                guard store.columns.isLive(row) else { return false }
                return try isIncluded(store.item(row: row)) && store.columns.isLive(row)
            })
        return query
    }

    /// In the order of a key: text in byte order, numbers by value, absent values first. A second call adds a lesser
    /// key. Items that are equal keep the store's order. A key is a field, or an expression of the predicate language.
    ///
    /// - Throws: `StoreError` for a field that no item has; `FormatPredicateError` for an expression that cannot be read.
    public func sorted(_ key: String, descending: Bool = false) throws -> ItemQuery {
        sorted(try store.key(key), descending: descending)
    }

    /// In the order of a key.
    public func sorted(_ key: ItemKey, descending: Bool = false) -> ItemQuery {
        var query = self
        query.rows.order.append(ItemSortKey(key: store.rowKey(key), isDescending: descending))
        return query
    }

    /// The same for a field whose name's bytes are at hand; a name of the domain makes no `String`.
    public func sorted(utf8 field: UnsafeBufferPointer<UInt8>, descending: Bool = false) throws -> ItemQuery {
        guard let known = ItemField(domain: field) else {
            return try sorted(String(decoding: field, as: UTF8.self), descending: descending)
        }
        var query = self
        query.rows.order.append(ItemSortKey(field: known, isDescending: descending))
        return query
    }

    /// The fields that its predicates and its order speak of, each once, predicates' first.
    public var fields: [String] {
        var names: [String] = []
        for case .predicate(let predicate) in rows.conditions { names += predicate.fields.sorted() }
        for key in rows.order.keys {
            switch key.key {
            case .field(let field): names.append(store.name(of: field))
            case .expression(let expression, _): names += expression.fields.sorted()
            case .function: continue
            }
        }
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    /// At most so many items. A negative number counts as 0.
    public func limit(_ count: Int) -> ItemQuery {
        var query = self
        query.rows.limitCount = Swift.max(0, count)
        return query
    }

    /// Without the first items of the answer. A negative number counts as 0.
    public func offset(_ count: Int) -> ItemQuery {
        var query = self
        query.rows.offsetCount = Swift.max(0, count)
        return query
    }

    // MARK: Answers

    /// The items, in order.
    ///
    /// - Throws: what a condition that is a function throws.
    public func all() throws -> [Item] {
        try rows.rows().map(store.item(row:))
    }

    /// The first item, nil when there is none.
    public func first() throws -> Item? {
        try firstReference().map(store.item)
    }

    /// The number of items.
    public func count() throws -> Int { try rows.count() }

    /// How the query is answered. Runs it, and builds the index that serves it if it is not built yet.
    public func explain() throws -> ItemQueryPlan { try rows.explain() }

    /// Calls a function with each item, in order; those that it removes before their turn are left out. The function
    /// returns false to stop.
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

    /// The fields that some item has had.
    var knownFields: Set<String> { Set(fieldNames) }
}
