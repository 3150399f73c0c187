public import ColumnEngine
package import ItemArchive
public import PredicateFormat
public import PropertyList

extension ItemQuery {
    /// The queried store.
    // Only stores make queries, in `ItemStore.query()`.
    package var store: ItemStore { unsafeDowncast(owner, to: ItemStore.self) }

    /// Restricts the query to items that satisfy a predicate.
    ///
    /// - Throws: `FormatPredicateError` for a field that no item has, with the nearest names, and for a comparison that
    ///   never holds: because of its operands, or because all values of a field are of another kind. An empty store
    ///   knows no custom fields: it refuses only names similar to one of the domain's.
    public func filter(_ predicate: FormatPredicate) throws(FormatPredicateError) -> ItemQuery {
        let predicate = predicate.replacingPaths(store.columns.resolved)
        try store.columns.checkCondition(predicate, advice: store.kindAdvice)
        return filter(.predicate(predicate))
    }

    /// Restricts the query to items for which a function returns true.
    public func filter(_ isIncluded: @escaping (Item) throws -> Bool) -> ItemQuery {
        let store = store
        return filter(
            .function { row in
                // An earlier call may have removed it.
                guard store.columns.isLive(row) else { return false }
                return try isIncluded(store.item(row: row)) && store.columns.isLive(row)
            })
    }

    /// Sorts by a key: text in byte order, numbers by value, absent values first. A second call adds a less significant
    /// key. Equal items keep the store's order. A key is a field, or an expression of the predicate language.
    ///
    /// - Throws: `unknownField` for a field that no item has; `invalidExpression`.
    public func sorted(_ key: String, descending: Bool = false) throws(StoreError) -> ItemQuery {
        sorted(try store.key(key), descending: descending)
    }

    /// Sorts by a key.
    package func sorted(_ key: QueryKey, descending: Bool = false) -> ItemQuery {
        sorted(ItemSortKey(key, isDescending: descending))
    }

    /// The fields that the predicates and the order use, each once, the predicates' first.
    package var fields: [String] {
        var names: [String] = []
        for case .predicate(let predicate) in conditions { names += predicate.fieldNames }
        for key in order {
            switch key.key {
            case .field(let field): names.append(store.name(of: field))
            case .expression(let expression, _): names += expression.fieldNames
            case .function: continue
            }
        }
        var seen: NameSet = []
        return names.filter { seen.insert($0).inserted }
    }

    // MARK: Answers

    /// The items, in order.
    ///
    /// - Throws: `functionFailed` with the error of a condition that is a function as the cause.
    public func all() throws(StoreError) -> [Item] {
        try rows().map(store.item(row:))
    }

    /// The first item; nil if there is none.
    public func first() throws(StoreError) -> Item? {
        try firstReference().map(store.item)
    }

    /// The first items, in order: at most `count`. A negative number counts as 0.
    ///
    /// - Throws: as ``all()``.
    package func first(_ count: Int) throws(StoreError) -> [Item] { try firstReferences(count).map(store.item) }

    /// Calls a function with each item, in order, skipping items removed in the meantime. The function returns false to
    /// stop.
    ///
    /// - Throws: errors of the function; `StoreError` as ``all()``.
    public func each(_ body: (Item) throws -> Bool) throws {
        try store.columns.pinningRows {
            if order.isEmpty {
                try visit(changes: true) { try body(store.item(row: $0)) }
                return
            }
            for row in try rows() where store.columns.isLive(row) {
                if try !body(store.item(row: row)) { return }
            }
        }
    }
}

extension ItemStore {
    /// A query of all items.
    public func query() -> ItemQuery { ItemQuery(columns, of: self) }

    /// A query of the items that satisfy a predicate; see `filter(_:)` of `ItemQuery`.
    public func query(_ predicate: FormatPredicate) throws(FormatPredicateError) -> ItemQuery {
        try query().filter(predicate)
    }
}

extension ItemQuery {
    /// Groups the items by equal values of a key, in order of appearance; items without the key form one group. A key
    /// is a field, or an expression: `dims.w`, `name.length`, `width * height`.
    ///
    /// - Throws: as `sum`.
    public func groupBy(_ key: String) throws(StoreError) -> [ItemGroup] { try groupBy(store.key(key)) }

    /// Groups the items by equal results of a function.
    package func groupBy(_ key: @escaping (Item) throws -> PropertyListValue?) throws(StoreError) -> [ItemGroup] {
        try groupBy(store.key(key))
    }

    /// Groups the items by equal values of a key.
    package func groupBy(_ key: QueryKey) throws(StoreError) -> [ItemGroup] { try groupBy([key]) }

    /// Groups the items by equal values of each of several keys, in order of appearance: ``ItemGroup/keys`` has the
    /// values. Without keys all items are one group.
    ///
    /// - Throws: as `sum`.
    public func groupBy(_ keys: [String]) throws(StoreError) -> [ItemGroup] { try groupBy(keys.map(store.key)) }

    /// The different combinations of the values of several keys, and how many items have each: the most frequent first,
    /// equally frequent ones in order of appearance. A value is nil for items that have none.
    package func counts(_ keys: [String]) throws(StoreError) -> [(values: [PropertyListValue?], count: Int)] {
        try groups(by: keys.map(store.key)).sorted(by: .count, descending: true).map { ($0.keys, $0.count) }
    }

    /// The different values of a key, in order of appearance, without absent ones.
    public func distinct(_ key: String) throws(StoreError) -> [PropertyListValue] {
        try groupBy(key).compactMap(\.key)
    }

    /// The different combinations of the values of several keys, in order of appearance: for each key its value, nil if
    /// the items have none. The items that have none of the keys are left out.
    public func distinct(_ keys: [String]) throws(StoreError) -> [[PropertyListValue?]] {
        try groupBy(keys).map(\.keys).filter { $0.contains { $0 != nil } }
    }
}

extension ItemQuery {
    /// Sets fields of every item; if one is refused, none is set. Nil removes a field. Observers are notified once.
    ///
    /// - Returns: the number of items.
    @discardableResult
    public func update(_ values: [String: PropertyListValue?]) throws(StoreError) -> Int {
        try update(exactly: Dictionary(uniqueKeysWithValues: values.map { (ExactText($0.key), $0.value) }))
    }

    /// Sets fields by names that are compared by their bytes.
    @discardableResult
    package func update(exactly values: [ExactText: PropertyListValue?]) throws(StoreError) -> Int {
        var fields: [(ItemField, PropertyListValue?)] = []
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            fields.append((try store.columns.fieldForAssignment(name.string, value), value))
        }
        return try StoreError.answering {
            try changeEach { row in
                for (field, value) in fields { try store.set(row, field, value) }
                return true
            }
        }
    }

    /// Runs a function on every item, as one change: if it throws, no item is changed. Observers are notified once.
    ///
    /// - Parameter change: changes its item, or other items.
    /// - Returns: the number of changed items, of which some may have other attachments only.
    /// - Throws: errors of the function; `StoreError` if an observer refuses.
    @discardableResult
    public func update(_ change: (Item) throws -> Void) throws -> Int {
        try changeEach { row in
            let (before, filesBefore) = (store.columns.changeCount, store.attachments?.changeCount)
            try change(store.item(row: row))
            return store.columns.changeCount > before || store.attachments?.changeCount != filesBefore
        }
    }

    /// Removes every item; if an observer refuses one, none is removed. Observers are notified once.
    ///
    /// - Returns: the number of items.
    @discardableResult
    public func remove() throws(StoreError) -> Int {
        try StoreError.answering {
            try store.columns.pinningRows {
                // A condition that is a function may have removed items.
                try store.remove(rows: try rows().filter(store.columns.isLive))
            }
        }
    }

    /// Changes every item or, if one call throws, none; the function returns whether it changed its item.
    ///
    /// - Returns: the number of changed items.
    func changeEach(_ change: (UInt32) throws -> Bool) throws -> Int {
        try store.columns.pinningRows {
            let rows = try rows()
            return try store.performBulkChange {
                try store.allOrNone {
                    var count = 0
                    for row in rows where store.columns.isLive(row) {
                        if Interruption.isDue { throw WorkStopped() }
                        if try change(row) { count += 1 }
                    }
                    return count
                }
            }
        }
    }
}

extension ItemStore {
    /// Parses a key: the field of that name if there is one, else an expression over fields.
    ///
    /// - Throws: `unknownField` for a name that no item has; `invalidExpression`.
    package func key(_ text: String) throws(StoreError) -> QueryKey { try columns.key(text) }

    /// The key that a function gives, which is not called for an item that an earlier call removed.
    package func key(_ function: @escaping (Item) throws -> PropertyListValue?) -> QueryKey {
        .function { [self] row in columns.isLive(row) ? try function(item(row: row)) : nil }
    }
}

extension Item {
    /// Whether the item satisfies a predicate.
    ///
    /// - Throws: what ``ItemQuery/filter(_:)`` throws; `itemRemoved`.
    package func satisfies(_ predicate: FormatPredicate) throws -> Bool {
        try store.columns.holds(predicate, store.row(reference), advice: store.kindAdvice)
    }
}

/// Detects comparisons of fields with operands that none of their values is comparable with.
extension ItemStore {
    /// What to do about a field whose values are all of another kind.
    var kindAdvice: ColumnStore.KindAdvice {
        { [columns] name, kind, other in
            guard columns.existingField(named: name).map(columns.isCustom) ?? true else { return nil }
            let fact = "every \(name) is \(kind.named)"
            guard let other else {
                return kind == .string ? fact + ": items:convert(\"\(name)\", \"real\") makes numbers of them" : fact
            }
            guard let wanted = ItemFieldKind(for: other) else { return fact }
            return "\(fact): items:convert(\"\(name)\", \"\(wanted.rawValue)\") makes it comparable"
        }
    }
}

extension ItemFieldKind {
    /// The conversion that makes values comparable with an operand; nil if there is none.
    fileprivate init?(for operand: FormatExpression) {
        switch operand {
        case .constant(.array(let values)):
            guard let first = values.first else { return nil }
            self.init(for: .constant(first))
        case .constant(.boolean): self = .boolean
        case .constant(.integer): self = .integer
        case .constant(.string): self = .string
        default:
            switch PredicateKind(of: operand) {
            case .number: self = .real
            case .date: self = .date
            case .string: self = .string
            default: return nil
            }
        }
    }
}

extension ItemStore {
    /// The fields of every item with values that are not of their kinds, as an application's archive has them: how many
    /// items, and the first three. O(1) if there are none.
    package func misfits() -> [FieldMisfits] { columns.misfits() }

    /// What is carried as the archive has it, and read otherwise or not at all by the application, in a line each, for
    /// the user.
    package var carriedNotices: [String] {
        misfits().map { "\($0): carried as it is, until it is changed" } + loadReport.remarks
    }
}

extension ItemQuery {
    /// The same for the items of an export, and the fields in it.
    ///
    /// - Parameter names: the fields; all if nil.
    /// - Returns: the lines.
    /// - Throws: errors of the query's conditions.
    package func carriedNotices(exporting names: [String]?) throws -> [String] {
        let columns = store.columns
        columns.recordWholeRead()
        let rows = try rows()
        let unheld = try store.document.unheldObjects(of: rows).filter { names?.contains($0.field) ?? true }
        let fields = columns.schema.numbers.filter { field in
            columns.hasMisfits(field) && names?.contains(columns.name(of: field)) ?? true
        }
        let misfits = fields.isEmpty ? [] : columns.misfits(among: rows, in: fields)
        return misfits.map { "\($0): exported as it is" } + unheld.map { "not exported: \($0)" }
    }
}

/// Objects of an application's archive, of one field and class, that exports and copies of the items lack.
package struct UnheldObjects: Sendable, Hashable, CustomStringConvertible {
    /// The field's name.
    package let field: String
    /// What is lacking: the objects' class, or the digits of a decimal.
    package let kind: String
    /// The number of items.
    package private(set) var count = 0
    /// The first three, by name or key.
    package private(set) var examples: [String] = []

    /// `foo (Foo) of 2 items: "Lamp", "Chair"`.
    package var description: String {
        VisibleText.line(
            "\(field) (\(kind)) of \(count.counted("item")): \(examples.joined(separator: ", "))"
                + (count > examples.count ? ", …" : ""))
    }

    static func all(_ objects: [UnheldObject], _ columns: ColumnStore) -> [UnheldObjects] {
        var all: [UnheldObjects] = []
        for object in objects {
            let place = all.firstIndex { $0.field == object.field && $0.kind == object.kind } ?? all.count
            if place == all.count { all.append(UnheldObjects(field: object.field, kind: object.kind)) }
            all[place].count += 1
            if all[place].examples.count < 3 { all[place].examples.append(columns.label(object.row)) }
        }
        return all
    }
}
