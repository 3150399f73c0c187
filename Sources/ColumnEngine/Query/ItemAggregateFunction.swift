import PredicateFormat
package import PropertyList
import Wording

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

    init(_ name: Name, _ key: RowKey, _ store: ColumnStore) throws {
        self.init(store, name, store.text(of: key), try VectorKey(key, RowQuery(store)))
    }

    private init(_ store: ColumnStore, _ name: Name, _ text: String, _ key: VectorKey?) {
        (self.store, self.name, self.text, self.key) = (store, name, text, key)
    }

    /// Parses a function.
    ///
    /// - Throws: ``StoreError`` for a text that is not a function of a key, and errors of ``ColumnStore/key(_:)``.
    package init(format: String, of store: ColumnStore) throws {
        let trimmed = format.drop { $0.is(" ") }
        guard let open = trimmed.firstIndex(of: "("), trimmed.last == ")",
            let name = Name(exactly: String(trimmed[..<open]))
        else {
            throw StoreError(
                .invalidValue(field: format),
                "\(format) is not a function of a group: write count(), sum(f), average(f), min(f) or max(f)")
        }
        let argument = String(trimmed[trimmed.index(after: open)...].dropLast())
        guard argument.contains(where: { !$0.is(" ") }) else {
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

    /// The function's value for some rows; nil if it is undefined without values. `isPart` tells that they are one of
    /// several groups: then values that are all of another kind are counted and the result is nil; otherwise they are an
    /// error, as they are when no group has another: ``check(_:of:)``.
    package func value(of rows: UnsafeBufferPointer<UInt32>, isPart: Bool = false) throws -> PropertyListValue? {
        store.noteWholeRead()
        guard let key else { return .integer(Int64(rows.count)) }
        defer { store.note(key.audit, "\(name.rawValue)(\(text))") }
        switch name {
        case .min, .max:
            let (value, others) = try ItemAggregate.extreme(rows, key, store, wanted: name == .min ? -1 : 1)
            for (kind, count) in others { note("is " + kind, count) }
            if !isPart { try checkComputed(key, hasValues: value != nil) }
            return value
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
            try totals.add(rows, key, store)
            let others = ItemAggregate.OtherKind.allCases.compactMap { kind in totals.others[kind].map { (kind, $0) } }
            if totals.count == 0, !isPart, let (kind, count) = others.first {
                throw StoreError(
                    .invalidValue(field: text),
                    "\(text) cannot be added up: \(example(rows) ?? "it is \(kind.rawValue) in \(count.counted("item"))")\(advice(kind))"
                )
            }
            for (kind, count) in others { note("is " + kind.rawValue, count) }
            if !isPart { try checkComputed(key, hasValues: totals.count > 0) }
            if isPart, totals.count == 0, !others.isEmpty || key.audit?.all.isEmpty == false { return nil }
            return name == .sum ? totals.sum : totals.average.map(PropertyListValue.real)
        }
    }

    /// Refuses a function that has a value for no group, as for all items at once; `rows` are those of all groups.
    ///
    /// - Throws: as ``value(of:isPart:)``.
    package func check(_ values: some Sequence<PropertyListValue?>, of rows: () -> [UInt32]) throws {
        var isUndefined = false
        for value in values {
            if value == nil { isUndefined = true } else if name != .sum || value != .integer(0) { return }
        }
        guard isUndefined else { return }
        // The groups' own values were noted.
        let noted = store.leftOut
        defer { store.leftOut = noted }
        _ = try rows().withUnsafeBufferPointer { try value(of: $0) }
    }

    private func note(_ reason: String, _ count: Int) {
        store.leftOut.note("\(name.rawValue)(\(text))", text, reason, count)
    }

    /// Refuses an expression that has a value for no item, because of the kinds of their values.
    private func checkComputed(_ key: VectorKey, hasValues: Bool) throws(StoreError) {
        guard !hasValues, let audit = key.audit, let (fault, count) = audit.all.first(where: { $0.fault.isOfKind })
        else {
            return
        }
        throw StoreError(
            .invalidValue(field: text),
            "\(text) has no value: \(fault.subject) \(fault.text) in \(count.counted("item"))")
    }

    /// The first of a field's values, which are not numbers.
    private func example(_ rows: UnsafeBufferPointer<UInt32>) -> String? {
        guard let field = store.fields.existing(text), let row = rows.first(where: { store.value($0, field) != nil })
        else { return nil }
        let value = FieldValidation.describe(store.value(row, field))
        return "\(value) of item \(store.table.keyString(row)) is not a number"
    }

    private func advice(_ kind: ItemAggregate.OtherKind) -> String {
        guard kind == .text, store.fields.existing(text) != nil else { return "" }
        return "; items:convert(\"\(text)\", \"real\") makes numbers of texts"
    }
}
