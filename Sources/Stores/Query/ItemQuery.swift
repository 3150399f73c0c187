public import PredicateFormat
import Wording

/// A question about a store's items: a value that is refined step by step, and answered when it is asked.
///
///     let dear = try store.query(FormatPredicate(format: "valueInDollars > 500")).sorted("name").limit(10).all()
///
/// Each answer looks at the store as it is then. A condition that is a function may change the store; the items that
/// were there when the answer began are looked at once each, as long as they are there.
public struct ItemQuery {
    enum Condition {
        case predicate(FormatPredicate)
        case function((Item) throws -> Bool)
    }

    public let store: ItemStore
    private var refinement: ItemQueryConditions?
    var order = ItemSortOrder()
    var limitCount: Int?
    var offsetCount = 0

    init(_ store: ItemStore) {
        self.store = store
    }

    /// What an item has to satisfy, all of it.
    var conditions: [Condition] { refinement?.all ?? [] }

    var hasConditions: Bool { refinement != nil }

    /// Only items that satisfy a predicate, too.
    ///
    /// - Throws: `FormatPredicateError` for a field that no item has, with the nearest names, and for a comparison that can
    ///   never hold.
    public func filter(_ predicate: FormatPredicate) throws(FormatPredicateError) -> ItemQuery {
        try predicate.check(knownFields: store.knownFields, of: "item")
        try predicate.check(kinds: ItemStore.domainKinds)
        return satisfying(.predicate(predicate))
    }

    /// Only items for which a function says yes, too.
    public func filter(_ isIncluded: @escaping (Item) throws -> Bool) -> ItemQuery {
        satisfying(.function(isIncluded))
    }

    private func satisfying(_ condition: Condition) -> ItemQuery {
        var query = self
        query.refinement = ItemQueryConditions(conditions + [condition])
        return query
    }

    /// In the order of a key: text in byte order, numbers by value, absent values first. A second call adds a lesser
    /// key. Items that are equal keep the store's order. A key is a field, or an expression of the predicate language.
    ///
    /// - Throws: ``StoreError`` for a field that no item has; ``FormatPredicateError`` for an expression that cannot be read.
    public func sorted(_ key: String, descending: Bool = false) throws -> ItemQuery {
        sorted(try store.key(key), descending: descending)
    }

    /// In the order of a key.
    public func sorted(_ key: ItemKey, descending: Bool = false) -> ItemQuery {
        var query = self
        query.order.append(ItemSortKey(key: key, isDescending: descending))
        return query
    }

    /// The same for a field whose name's bytes are at hand; a name of the domain makes no `String`.
    public func sorted(utf8 field: UnsafeBufferPointer<UInt8>, descending: Bool = false) throws -> ItemQuery {
        guard let known = ItemField(domain: field) else {
            return try sorted(String(decoding: field, as: UTF8.self), descending: descending)
        }
        var query = self
        query.order.append(ItemSortKey(field: known, isDescending: descending))
        return query
    }

    /// The fields that its predicates and its order speak of, each once, predicates' first.
    public var fields: [String] {
        var names: [String] = []
        for case .predicate(let predicate) in conditions { names += predicate.fields.sorted() }
        for key in order.keys {
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
        query.limitCount = Swift.max(0, count)
        return query
    }

    /// Without the first items of the answer. A negative number counts as 0.
    public func offset(_ count: Int) -> ItemQuery {
        var query = self
        query.offsetCount = Swift.max(0, count)
        return query
    }

    // MARK: Answers

    /// The items, in order.
    ///
    /// - Throws: what a condition that is a function throws.
    public func all() throws -> [Item] {
        try rows().map(store.item(row:))
    }

    /// The first item, nil when there is none.
    public func first() throws -> Item? {
        var query = self
        query.limitCount = Swift.min(1, limitCount ?? 1)
        return try query.rows().first.map(store.item(row:))
    }

    /// The number of items.
    public func count() throws -> Int {
        var query = self
        query.order = ItemSortOrder()
        let access = access()
        if case .index(_, let ranges, isExact: true) = access {
            let found = ranges.reduce(0) { $0 + $1.count }
            return Swift.min(limitCount ?? .max, Swift.max(0, found - offsetCount))
        }
        if !hasConditions { return Swift.min(limitCount ?? .max, Swift.max(0, store.count - offsetCount)) }
        var count = 0
        try query.visitBatches(access, nil) { count += $0.count }
        return count
    }

    /// Calls a function with each item, in order; those that it removes before their turn are left out. The function
    /// returns false to stop.
    public func each(_ body: (Item) throws -> Bool) throws {
        try store.pinningRows {
            if order.isEmpty {
                try visit(changes: true) { try body(store.item(row: $0)) }
                return
            }
            for row in try rows() where store.table.state(row) == .live {
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

    static let domainKinds: [String: PredicateKind] = [
        "name": .string, "serialNumber": .string, "valueInDollars": .number, "dateCreated": .date, "itemKey": .string,
    ]

    /// The fields that some item has had.
    var knownFields: Set<String> { Set(fields.names) }

    /// The field that a query names.
    func queriedField(_ name: String) throws(StoreError) -> ItemField {
        if let field = fields.existing(name) { return field }
        let nearest = NearestNames.nearest(to: name, among: fields.names)
        let hint = nearest.isEmpty ? "" : ": did you mean \(nearest.joined(separator: " or "))?"
        throw StoreError(.unknownField(name), "no item has a field \(name)\(hint)")
    }

    /// Runs a body during which no row of a removed item is given to a new one.
    func pinningRows<Result>(_ body: () throws -> Result) rethrows -> Result {
        cursorCount += 1
        defer { unpinRows() }
        return try body()
    }

    func unpinRows() {
        cursorCount -= 1
        guard cursorCount == 0 else { return }
        for row in rowsToFree { table.freeRow(row) }
        rowsToFree = []
    }
}
