package import PropertyList

/// An aggregate function: `count()`, `sum(valueInDollars)`, `average(width * height)`, `min(acquired)`, `max(name)`.
public struct ItemAggregateFunction {
    /// The functions' names, as scripts write them.
    public enum Name: String, Sendable, CaseIterable {
        /// The number of items, or of those with a value.
        case count
        /// The sum of the numbers.
        case sum
        /// The mean of the numbers.
        case average
        /// The least value.
        case min
        /// The greatest value.
        case max
    }

    private let store: ColumnStore
    private let name: Name
    private let text: String
    private let key: VectorKey?

    package init(_ name: Name, _ key: String, _ store: ColumnStore) throws {
        try self.init(name, store.key(key), store)
    }

    init(_ name: Name, _ key: RowKey, _ store: ColumnStore) {
        self.init(store, name, store.text(of: key), VectorKey(key, RowQuery(store)))
    }

    private init(_ store: ColumnStore, _ name: Name, _ text: String, _ key: VectorKey?) {
        (self.store, self.name, self.text, self.key) = (store, name, text, key)
    }

    /// Parses a function.
    ///
    /// - Throws: ``StoreError`` for a text that is not a function of a key, and errors of ``ColumnStore/key(_:)``.
    package init(format: String, of store: ColumnStore) throws {
        let trimmed = format.drop { $0 == " " }
        guard let open = trimmed.firstIndex(of: "("), trimmed.last == ")",
            let name = Name(rawValue: String(trimmed[..<open]))
        else {
            throw StoreError(
                .invalidValue(field: format),
                "\(format) is no function of a group: write count(), sum(f), average(f), min(f) or max(f)")
        }
        let argument = String(trimmed[trimmed.index(after: open)...].dropLast())
        guard argument.contains(where: { $0 != " " }) else {
            guard name == .count else {
                throw StoreError(
                    .invalidValue(field: format), "\(name.rawValue) takes a field or an expression: \(name.rawValue)(f)"
                )
            }
            self.init(store, name, "", nil)
            return
        }
        try self.init(name, argument, store)
    }

    /// The function's value for some rows; nil if it is undefined without values.
    package func value(of rows: UnsafeBufferPointer<UInt32>) throws -> PropertyListValue? {
        store.noteWholeRead()
        guard let key else { return .integer(Int64(rows.count)) }
        switch name {
        case .min, .max: return try ItemAggregate.extreme(rows, key, store, wanted: name == .min ? -1 : 1)
        case .count, .sum, .average:
            var totals = ItemAggregate()
            if name == .count {
                var number = 0
                try ItemAggregate.forEachLiveBatch(rows, store) { batch in
                    var heap = CellHeap()
                    try key.withCells(batch, store, &heap) { for cell in $0 where !cell.isAbsent { number += 1 } }
                }
                return .integer(Int64(number))
            }
            try totals.add(rows, key, text, store)
            return name == .sum ? totals.sum : totals.average.map(PropertyListValue.real)
        }
    }
}
