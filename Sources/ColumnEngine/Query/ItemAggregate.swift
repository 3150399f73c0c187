import CPlatform
import PredicateFormat
package import PropertyList

/// The sum and the count of a key's numbers.
struct ItemAggregate {
    private(set) var count = 0
    /// Wide enough for the sum of any number of 64-bit integers.
    private var integers: Int128 = 0
    private var reals = 0.0
    private var hasReals = false
    /// The values that are not numbers, by their kinds.
    private(set) var otherKinds: [OtherKind: Int] = [:]

    /// A kind of values that are not added up.
    enum OtherKind: String, CaseIterable {
        case truth = "a truth value", date = "a date", text = "text", data = "data", collection = "a collection"

        init?(_ cell: Cell) {
            switch cell.kind {
            case .no, .yes: self = .truth
            case .date: self = .date
            case .shortText, .longText: self = .text
            default: return nil
            }
        }
    }

    /// The boxes of a batch, whose values are in a heap.
    private var boxes: [Cell] = []

    private static let batch = 1024
    /// Prefetch distance in rows.
    private static let lookahead = 32

    /// Adds the numbers of the rows that are in the store, and counts other values.
    mutating func add(_ rows: UnsafeBufferPointer<UInt32>, _ key: VectorKey, _ store: ColumnStore) throws {
        try Self.forEachLiveBatch(rows, store) { batch in
            switch key {
            case .view(.numbers(let numbers), _) where numbers.kind == .integer: addIntegers(batch, numbers)
            case .view(.numbers(let numbers), _) where numbers.kind == .real: addReals(batch, numbers)
            default:
                var heap = CellHeap()
                try key.withCells(batch, store, &heap) { cells in for cell in cells { add(cell) } }
                for box in boxes { add(boxed: key.value(box, store, heap)) }
                boxes.removeAll(keepingCapacity: true)
            }
        }
    }

    /// Calls a body with batches of the rows that are in the store.
    static func forEachLiveBatch(
        _ rows: UnsafeBufferPointer<UInt32>, _ store: ColumnStore, _ body: (UnsafeBufferPointer<UInt32>) throws -> Void
    ) throws {
        let areAllLive = store.order.count == store.table.rowCount
        for start in stride(from: 0, to: rows.count, by: batch) {
            if Interruption.isDue { throw WorkStopped() }
            let batch = UnsafeBufferPointer(rebasing: rows[start..<min(start + batch, rows.count)])
            if areAllLive {
                try body(batch)
                continue
            }
            try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: batch.count) { live in
                _ = live.update(fromContentsOf: batch)
                let count = live.keep { store.table.state($0) == .live }
                try body(UnsafeBufferPointer(live.first(count)))
            }
        }
    }

    private mutating func addIntegers(_ rows: UnsafeBufferPointer<UInt32>, _ numbers: NumberView) {
        let values = numbers.integers
        var (sum, number) = (Int64(0), 0)
        for (place, row) in rows.enumerated() {
            // The values of a group's rows are scattered over the column.
            cubby_prefetch(values + Int(rows[min(place &+ Self.lookahead, rows.count &- 1)]))
            guard numbers.isPresent(row) else { continue }
            let (next, overflow) = sum.addingReportingOverflow(values[Int(row)])
            if overflow {
                add(sum)
                sum = values[Int(row)]
            } else {
                sum = next
            }
            number += 1
        }
        add(sum)
        count += number
    }

    private mutating func addReals(_ rows: UnsafeBufferPointer<UInt32>, _ numbers: NumberView) {
        let values = numbers.reals
        for (place, row) in rows.enumerated() {
            cubby_prefetch(values + Int(rows[min(place &+ Self.lookahead, rows.count &- 1)]))
            guard numbers.isPresent(row) else { continue }
            if numbers.isIntegral(row) {
                add(Int64(values[Int(row)]))
            } else {
                reals += values[Int(row)]
                hasReals = true
            }
            count += 1
        }
    }

    private mutating func add(_ integer: Int64) { integers += Int128(integer) }

    private mutating func add(_ cell: Cell) {
        switch cell.kind {
        case .absent: return
        case .integer: add(cell.integerValue)
        case .real, .single:
            reals += CellOrder.number(cell)
            hasReals = true
        case .box: return boxes.append(cell)
        default:
            if let kind = OtherKind(cell) { otherKinds[kind, default: 0] += 1 }
            return
        }
        count += 1
    }

    private mutating func add(boxed value: PropertyListValue) {
        switch value {
        case .wideInteger(let integer):
            let (sum, overflow) = integers.addingReportingOverflow(integer)
            if overflow {
                reals += Double(integer)
                hasReals = true
            } else {
                integers = sum
            }
            count += 1
        case .data: otherKinds[.data, default: 0] += 1
        default: otherKinds[.collection, default: 0] += 1
        }
    }

    /// An integer if all numbers were integers and the sum fits 64 bits, else a real.
    var sum: PropertyListValue {
        if !hasReals, let sum = Int64(exactly: integers) { return .integer(sum) }
        return .real(reals + Double(integers))
    }

    var average: Double? { count == 0 ? nil : (reals + Double(integers)) / Double(count) }

    // MARK: Extremes

    /// The best value of a kind so far.
    fileprivate struct Best {
        var count = 0
        var cell: Cell?
        var value: PropertyListValue?
    }

    /// The least or the greatest of a key's values, in the sort order; nil if no row has one. Of values of several
    /// kinds those of the most frequent kind are compared, and the others are counted.
    static func extreme(
        _ rows: UnsafeBufferPointer<UInt32>, _ key: VectorKey, _ store: ColumnStore, wanted: Int
    ) throws -> (value: PropertyListValue?, otherKinds: [(kind: String, count: Int)]) {
        // By the bit of their kind.
        var bests = [Best](repeating: Best(), count: 4)
        var heap = CellHeap()
        try forEachLiveBatch(rows, store) { batch in
            var scratch = CellHeap()
            var found = [Cell?](repeating: nil, count: bests.count)
            var boxes: [Cell] = []
            try key.withCells(batch, store, &scratch) { cells in
                for cell in cells where !cell.isAbsent {
                    if cell.kind == .box {
                        boxes.append(cell)
                        continue
                    }
                    let kind = KindSet(cell).rawValue.trailingZeroBitCount
                    bests[kind].count += 1
                    let current = found[kind] ?? bests[kind].cell
                    if let current, CellOrder.compare(cell, current).signum() != wanted { continue }
                    found[kind] = cell
                }
            }
            for (kind, cell) in found.enumerated() {
                guard let cell else { continue }
                // The batch's computed values are freed with it: a text is copied.
                bests[kind].value = scratch.value(cell)
                bests[kind].cell = cell.isText ? cell.withText { heap.text($0) } : cell
            }
            for box in boxes {
                let value = key.value(box, store, scratch)
                if case .wideInteger = value {
                    bests[0].take(value, wanted)
                } else {
                    if bests[3].count == 0 { bests[3].value = value }
                    bests[3].count += 1
                }
            }
        }
        let winner = bests.indices.max { (bests[$0].count, -$0) < (bests[$1].count, -$1) } ?? 0
        let otherKinds = bests.indices.filter { $0 != winner && bests[$0].count > 0 }.map {
            (kind: KindSet(rawValue: 1 << $0).named, count: bests[$0].count)
        }
        return (bests[winner].value, otherKinds)
    }
}

extension ItemAggregate.Best {
    /// Compares an integer beyond 64 bits, which is before or after all others of the numbers.
    fileprivate mutating func take(_ wide: PropertyListValue, _ wanted: Int) {
        count += 1
        if let value, let first = PredicateNumber(wide), let second = PredicateNumber(value),
            PredicateNumber.order(first, second) ?? 0 != wanted
        {
            return
        }
        value = wide
        if case .wideInteger(let integer) = wide { cell = .real(Double(integer)) }
    }
}

/// An aggregate function: `count()`, `sum(valueInDollars)`, `average(width * height)`, `min(acquired)`, `max(name)`.
package struct ItemAggregateFunction {
    /// The functions' names, as scripts write them.
    package enum Name: String, Sendable, CaseIterable {
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

    init(_ name: Name, _ key: QueryKey, _ store: ColumnStore) throws {
        self.init(store, name, store.text(of: key), try VectorKey(key, store))
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
        store.recordWholeRead()
        guard let key else { return .integer(Int64(rows.count)) }
        defer { store.record(key.audit, "\(name.rawValue)(\(text))") }
        switch name {
        case .min, .max:
            let (value, otherKinds) = try ItemAggregate.extreme(rows, key, store, wanted: name == .min ? -1 : 1)
            for (kind, count) in otherKinds { record("is " + kind, count) }
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
            let otherKinds = ItemAggregate.OtherKind.allCases.compactMap { kind in
                totals.otherKinds[kind].map { (kind, $0) }
            }
            if totals.count == 0, !isPart, let (kind, count) = otherKinds.first {
                throw StoreError(
                    .invalidValue(field: text),
                    "\(text) cannot be added up: \(example(rows) ?? "it is \(kind.rawValue) in \(count.counted("item"))")\(advice(kind))"
                )
            }
            for (kind, count) in otherKinds { record("is " + kind.rawValue, count) }
            if !isPart { try checkComputed(key, hasValues: totals.count > 0) }
            if isPart, totals.count == 0, !otherKinds.isEmpty || key.audit?.all.isEmpty == false { return nil }
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
        // The groups' own values were recorded.
        let saved = store.questions.leftOut
        defer { store.questions.leftOut = saved }
        _ = try rows().withUnsafeBufferPointer { try value(of: $0) }
    }

    private func record(_ reason: String, _ count: Int) {
        store.questions.leftOut.record("\(name.rawValue)(\(text))", text, reason, count)
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
