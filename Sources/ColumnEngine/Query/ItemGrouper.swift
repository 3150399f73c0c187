public import PropertyList

/// Rows in groups of equal keys, in order of appearance.
struct ItemGrouper {
    private let store: ColumnStore
    private let key: VectorKey
    /// The heap of the key's computed texts and values.
    private var heap = CellHeap()
    private var numbers = KeyNumbers()
    /// The first cell of each group.
    private var cells: [Cell] = []
    /// By code of the key's dictionary, the group's number + 1; 0 for a code that has not occurred.
    private var groupOfCode: [UInt32] = []

    private static let batch = 1024

    private let text: String

    init(_ store: ColumnStore, _ key: QueryKey) throws {
        self.store = store
        text = store.text(of: key)
        self.key = try VectorKey(key, store)
    }

    /// Records the rows for which the key has no value.
    func recordMissing() { store.record(key.audit, "groupBy(\(text))") }

    /// The groups of some rows. O(n).
    mutating func groups(of rows: [UInt32], in query: ItemQuery, by fields: [ItemField?]) throws -> [ItemGroup] {
        let numbers = try numbers(of: rows)
        recordMissing()
        let (sorted, starts) = Self.sort(rows, by: numbers, groupCount: cells.count)
        return cells.indices.map { group in
            ItemGroup(
                query, key: value(cells[group]), fields: fields, rows: sorted[starts[group]..<starts[group + 1]])
        }
    }

    /// The number of each row's group, in order of appearance. O(n).
    mutating func numbers(of rows: [UInt32]) throws -> [UInt32] {
        try rows.withUnsafeBufferPointer { try self.numbers(of: $0) }
    }

    /// The values of the groups.
    var values: [PropertyListValue?] { cells.map(value) }

    /// The first cell of each group, and its number of rows. O(n).
    mutating func counts(of rows: [UInt32]) throws -> [(cell: Cell, count: Int)] {
        let numbers = try numbers(of: rows)
        var counts = [Int](repeating: 0, count: cells.count)
        for number in numbers { counts[Int(number)] += 1 }
        return Array(zip(cells, counts))
    }

    /// The rows ordered by group, stably, and the start of each group: a counting sort.
    static func sort(
        _ rows: [UInt32], by numbers: [UInt32], groupCount: Int
    ) -> (rows: [UInt32], starts: [Int]) {
        var starts = [Int](repeating: 0, count: groupCount + 1)
        for number in numbers { starts[Int(number) + 1] += 1 }
        for group in 0..<groupCount { starts[group + 1] += starts[group] }
        var next = starts
        var sorted = [UInt32](repeating: 0, count: rows.count)
        for (row, number) in zip(rows, numbers) {
            sorted[next[Int(number)]] = row
            next[Int(number)] += 1
        }
        return (sorted, starts)
    }

    func value(_ cell: Cell) -> PropertyListValue? {
        // A column's values lie in the store's heap, computed ones in this one.
        cell.kind == .box ? key.value(cell, store, heap) : heap.value(cell)
    }

    private mutating func numbers(of rows: UnsafeBufferPointer<UInt32>) throws -> [UInt32] {
        var numbers = [UInt32](repeating: 0, count: rows.count)
        try numbers.withUnsafeMutableBufferPointer { result in
            if case .view(.codes(let codes, let dictionary), _) = key {
                groupOfCode = [UInt32](repeating: 0, count: dictionary.cells.count)
                for place in rows.indices {
                    if place & 0xFFFF == 0, Interruption.isDue { throw WorkStopped() }
                    result[place] = group(ofCode: codes[Int(rows[place])], dictionary)
                }
            } else if key.readsColumnsAlone {
                try numberHalves(rows, result)
            } else {
                try numberCells(rows, result)
            }
        }
        return numbers
    }

    /// Each half is numbered separately; then the groups of the second are mapped to those of the first.
    private mutating func numberHalves(
        _ rows: UnsafeBufferPointer<UInt32>, _ result: UnsafeMutableBufferPointer<UInt32>
    ) throws {
        let fresh = self
        let parts = TwoThreads.map(rows.indices) { range in
            var part = fresh
            part.numbers = KeyNumbers()
            // The interruption is checked on the caller's thread, and again below.
            try? part.numberCells(
                UnsafeBufferPointer(rebasing: rows[range]), UnsafeMutableBufferPointer(rebasing: result[range]))
            return (range, part)
        }
        if Interruption.isDue { throw WorkStopped() }
        self = parts[0].1
        for (range, part) in parts.dropFirst() {
            let groups = part.cells.map { group(of: $0) }
            for place in range { result[place] = groups[Int(result[place])] }
        }
    }

    private mutating func numberCells(
        _ rows: UnsafeBufferPointer<UInt32>, _ result: UnsafeMutableBufferPointer<UInt32>
    ) throws {
        try withUnsafeTemporaryAllocation(of: Cell.self, capacity: Self.batch) { cells in
            for start in stride(from: 0, to: rows.count, by: Self.batch) {
                if Interruption.isDue { throw WorkStopped() }
                let batch = UnsafeBufferPointer(rebasing: rows[start..<min(start + Self.batch, rows.count)])
                try key.read(batch, store, &heap, UnsafeMutableBufferPointer(rebasing: cells[..<batch.count]))
                for place in batch.indices { result[start + place] = group(of: cells[place]) }
            }
        }
    }

    @inline(__always)
    private mutating func group(ofCode code: UInt32, _ dictionary: CellDictionary) -> UInt32 {
        let known = groupOfCode[Int(code)]
        if known != 0 { return known - 1 }
        let group = group(of: dictionary.cells[Int(code)])
        groupOfCode[Int(code)] = group + 1
        return group
    }

    @inline(__always)
    private mutating func group(of cell: Cell) -> UInt32 {
        let group = numbers.number(of: cell) { key.value($0, store, heap) }
        if Int(group) == cells.count { cells.append(cell) }
        return group
    }
}

/// Numbers the tuples of several keys' values in order of appearance, key by key.
struct TupleNumbers {
    /// The number of each row's tuple.
    private var numbers: [UInt32]
    /// For each tuple, and each key so far, the number of its value.
    private var tuples: [[UInt32]]
    /// For each key, the values by number.
    private var values: [[PropertyListValue?]] = []

    /// The number of pairs up to which a table finds a pair's number, instead of a dictionary.
    private static let tableLimit = 1 << 20

    init(rowCount: Int) {
        numbers = [UInt32](repeating: 0, count: rowCount)
        tuples = rowCount == 0 ? [] : [[]]
    }

    /// Adds a key: the number of each row's value, and the values. O(n).
    mutating func add(_ added: [UInt32], _ values: [PropertyListValue?]) throws {
        self.values.append(values)
        let (width, pairs) = (values.count, tuples.count.multipliedReportingOverflow(by: values.count))
        var next: [[UInt32]] = []
        var table = [UInt32](
            repeating: 0, count: !pairs.overflow && pairs.partialValue <= Self.tableLimit ? pairs.partialValue : 0)
        var dictionary: [UInt64: UInt32] = [:]
        for place in numbers.indices {
            if place & 0xFFFF == 0, Interruption.isDue { throw WorkStopped() }
            let (tuple, value) = (Int(numbers[place]), added[place])
            let known: UInt32
            let pair = UInt64(tuple) * UInt64(width) + UInt64(value)
            if table.isEmpty { known = dictionary[pair] ?? 0 } else { known = table[Int(pair)] }
            if known != 0 {
                numbers[place] = known - 1
                continue
            }
            next.append(tuples[tuple] + [value])
            if table.isEmpty { dictionary[pair] = UInt32(next.count) } else { table[Int(pair)] = UInt32(next.count) }
            numbers[place] = UInt32(next.count - 1)
        }
        tuples = next
    }

    /// The groups of the rows. O(n).
    func groups(of rows: [UInt32], in query: ItemQuery, by fields: [ItemField?]) -> [ItemGroup] {
        let (sorted, starts) = ItemGrouper.sort(rows, by: numbers, groupCount: tuples.count)
        return tuples.indices.map { group in
            let keys = tuples[group].enumerated().map { values[$0][Int($1)] }
            return ItemGroup(
                query, key: keys.first ?? nil, otherKeys: Array(keys.dropFirst()), fields: fields,
                rows: sorted[starts[group]..<starts[group + 1]])
        }
    }
}

/// The items of a query that have the same value of each key.
public final class ItemGroup {
    /// The store of the items. A group does not have its query, whose conditions may refer to the group.
    package let owner: AnyObject
    /// The common value of the first key; nil for the items without one.
    public let key: PropertyListValue?
    /// The common values of the other keys, in order.
    package let otherKeys: [PropertyListValue?]
    /// The field of each key; nil for an expression and a function.
    private let fields: [ItemField?]
    package let rows: ArraySlice<UInt32>
    /// The function by whose value the groups were sorted, and that value; nil before.
    package let order: (function: String, value: PropertyListValue?)?

    init(
        _ query: ItemQuery, key: PropertyListValue?, otherKeys: [PropertyListValue?] = [], fields: [ItemField?],
        rows: ArraySlice<UInt32>
    ) {
        (owner, self.key, self.otherKeys, self.rows) = (query.owner, key, otherKeys, rows)
        (self.fields, order) = (fields, nil)
    }

    /// The same group, sorted by the value of a function.
    ///
    /// - Parameters:
    ///   - group: the group.
    ///   - function: the function's text.
    ///   - value: its value for the group.
    package init(_ group: ItemGroup, sortedBy function: String, _ value: PropertyListValue?) {
        (owner, key, otherKeys) = (group.owner, group.key, group.otherKeys)
        (fields, rows, order) = (group.fields, group.rows, (function, value))
    }

    /// The field of a key, by the key's place; nil for an expression and a function.
    package func field(ofKey place: Int) -> ItemField? { fields.indices.contains(place) ? fields[place] : nil }

    /// The common values of all keys, in the order of the keys.
    public var keys: [PropertyListValue?] { [key] + otherKeys }

    /// The number of items when the group was made.
    public var count: Int { rows.count }
}

/// Numbers the distinct values of a key in order of appearance: the groups' numbers. Numeric values are compared by
/// value, an integer and a real, too.
package struct KeyNumbers {
    private let dictionary = CellDictionary()
    /// By code of the dictionary.
    private var numberOfCode: [UInt32] = [0]
    private var boxes: [PropertyListValue: UInt32] = [:]
    private var absent: UInt32?
    package private(set) var count = 0

    package init() {}

    /// The number of a value. O(1). `boxed` returns the value of a cell in a heap.
    @inline(__always)
    package mutating func number(of cell: Cell, _ boxed: (Cell) -> PropertyListValue) -> UInt32 {
        switch cell.kind {
        case .integer, .shortText, .longText, .no, .yes: return number(ofEntry: cell)
        // Normalises negative zero.
        case .date: return number(ofEntry: .date(cell.realValue + 0))
        case .real, .single:
            let number = CellOrder.number(cell)
            let real = Cell.real(number.isNaN ? .nan : number)
            return self.number(ofEntry: Int64(exactly: number).map(Cell.integer) ?? real)
        case .absent:
            if absent == nil { absent = next() }
            return absent ?? 0
        case .box: return number(of: boxed(cell))
        }
    }

    @inline(__always)
    private mutating func number(ofEntry cell: Cell) -> UInt32 {
        let code = dictionary.code(for: cell)
        if Int(code) == numberOfCode.count { numberOfCode.append(next()) }
        return numberOfCode[Int(code)]
    }

    private mutating func number(of value: PropertyListValue) -> UInt32 {
        if let known = boxes[value] { return known }
        let number = next()
        boxes[value] = number
        return number
    }

    private mutating func next() -> UInt32 {
        count += 1
        return UInt32(count - 1)
    }
}
