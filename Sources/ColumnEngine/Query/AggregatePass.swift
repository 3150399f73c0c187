import CPlatform
import PredicateFormat
import PropertyList

/// What takes the numbers of a key, in the order of the rows.
protocol NumberReceiver {
    mutating func add(_ integer: Int64)
    mutating func add(_ real: Double)
    /// Adds an integer beyond 64 bits.
    mutating func add(wide integer: Int128)
    /// Adds the integers that some rows have in a column.
    ///
    /// - Returns: their number.
    mutating func add(integersOf rows: UnsafeBufferPointer<UInt32>, in numbers: NumberView) -> Int
}

extension NumberReceiver {
    mutating func add(wide integer: Int128) { add(Double(integer)) }

    mutating func add(integersOf rows: UnsafeBufferPointer<UInt32>, in numbers: NumberView) -> Int {
        let values = numbers.integers
        var count = 0
        for (place, row) in rows.enumerated() {
            numbers.prefetch(values, rows, place)
            guard numbers.isPresent(row) else { continue }
            add(values[Int(row)])
            count += 1
        }
        return count
    }
}

extension NumberView {
    /// Prefetches the value of a row some places ahead: the values of a group's rows are scattered over the column.
    @inline(__always)
    fileprivate func prefetch<Value>(
        _ values: UnsafePointer<Value>, _ rows: UnsafeBufferPointer<UInt32>, _ place: Int
    ) {
        cubby_prefetch(values + Int(rows[min(place &+ 32, rows.count &- 1)]))
    }
}

/// A pass over a key's values: it counts the numbers, hands them to a receiver, and counts the others by their kinds.
struct NumberPass<Receiver: NumberReceiver> {
    var receiver: Receiver
    private(set) var count = 0
    /// The values that are not numbers, by their kinds.
    private(set) var otherKinds: [OtherKind: Int] = [:]
    /// The boxes of a batch, whose values are in a heap.
    private var boxes: [Cell] = []

    init(_ receiver: Receiver) { self.receiver = receiver }

    /// Passes the rows that are in the store.
    mutating func add(_ rows: UnsafeBufferPointer<UInt32>, _ key: VectorKey, _ store: ColumnStore) throws {
        try store.forEachLiveBatch(rows) { batch in
            switch key {
            case .view(.numbers(let numbers), _) where numbers.kind == .integer:
                count += receiver.add(integersOf: batch, in: numbers)
            case .view(.numbers(let numbers), _) where numbers.kind == .real: addReals(batch, numbers)
            default:
                var heap = CellHeap()
                try key.withCells(batch, store, &heap) { cells in for cell in cells { add(cell) } }
                for box in boxes { add(boxed: key.value(box, store, heap)) }
                boxes.removeAll(keepingCapacity: true)
            }
        }
    }

    private mutating func addReals(_ rows: UnsafeBufferPointer<UInt32>, _ numbers: NumberView) {
        let values = numbers.reals
        for (place, row) in rows.enumerated() {
            numbers.prefetch(values, rows, place)
            guard numbers.isPresent(row) else { continue }
            if numbers.isIntegral(row) {
                receiver.add(Int64(values[Int(row)]))
            } else {
                receiver.add(values[Int(row)])
            }
            count += 1
        }
    }

    private mutating func add(_ cell: Cell) {
        switch cell.kind {
        case .absent: return
        case .integer: receiver.add(cell.integerValue)
        case .real, .single: receiver.add(CellOrder.number(cell))
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
            receiver.add(wide: integer)
            count += 1
        case .data: otherKinds[.data, default: 0] += 1
        default: otherKinds[.collection, default: 0] += 1
        }
    }
}

/// A kind of values that are not computed with.
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

extension ColumnStore {
    /// Calls a body with batches of the rows that are in the store.
    func forEachLiveBatch(
        _ rows: UnsafeBufferPointer<UInt32>, _ body: (UnsafeBufferPointer<UInt32>) throws -> Void
    ) throws {
        let areAllLive = order.count == table.rowCount
        for start in stride(from: 0, to: rows.count, by: SelectionVector.batch) {
            if Interruption.isDue { throw WorkStopped() }
            let batch = UnsafeBufferPointer(rebasing: rows[start..<min(start + SelectionVector.batch, rows.count)])
            if areAllLive {
                try body(batch)
                continue
            }
            try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: batch.count) { live in
                _ = live.update(fromContentsOf: batch)
                let count = live.keep { table.state($0) == .live }
                try body(UnsafeBufferPointer(live.first(count)))
            }
        }
    }
}

/// The sum of numbers.
struct NumberTotal: NumberReceiver {
    /// Wide enough for the sum of any number of 64-bit integers.
    private var integers: Int128 = 0
    private var reals = 0.0
    private var hasReals = false

    @inline(__always)
    mutating func add(_ integer: Int64) { integers += Int128(integer) }

    mutating func add(_ real: Double) {
        reals += real
        hasReals = true
    }

    mutating func add(wide integer: Int128) {
        let (sum, overflow) = integers.addingReportingOverflow(integer)
        if overflow { add(Double(integer)) } else { integers = sum }
    }

    mutating func add(integersOf rows: UnsafeBufferPointer<UInt32>, in numbers: NumberView) -> Int {
        let values = numbers.integers
        var (sum, count) = (Int64(0), 0)
        for (place, row) in rows.enumerated() {
            numbers.prefetch(values, rows, place)
            guard numbers.isPresent(row) else { continue }
            let (next, overflow) = sum.addingReportingOverflow(values[Int(row)])
            if overflow {
                add(sum)
                sum = values[Int(row)]
            } else {
                sum = next
            }
            count += 1
        }
        add(sum)
        return count
    }

    /// An integer if all numbers were integers and the sum fits 64 bits, else a real.
    var sum: PropertyListValue {
        if !hasReals, let sum = Int64(exactly: integers) { return .integer(sum) }
        return .real(real)
    }

    var real: Double { reals + Double(integers) }
}

extension NumberSample: NumberReceiver {}

extension Variance: NumberReceiver {
    mutating func add(_ integer: Int64) { add(Double(integer)) }
}

// MARK: Extremes

/// The least or the greatest of a key's values so far, for each kind of values.
struct Extreme {
    /// The best value of a kind so far.
    private struct Best {
        var count = 0
        var cell: Cell?
        var value: PropertyListValue?
    }

    /// By the bit of their kind.
    private var bests = [Best](repeating: Best(), count: 5)
    private var heap = CellHeap()
    private let wanted: Int

    /// - Parameter wanted: the order of a better value and the best so far: -1 for the least one, 1 for the greatest.
    init(wanted: Int) { self.wanted = wanted }

    /// Passes the rows that are in the store.
    mutating func add(_ rows: UnsafeBufferPointer<UInt32>, _ key: VectorKey, _ store: ColumnStore) throws {
        try store.forEachLiveBatch(rows) { batch in
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
            for box in boxes { add(boxed: key.value(box, store, scratch)) }
        }
    }

    private mutating func add(boxed value: PropertyListValue) {
        guard case .wideInteger(let integer) = value else {
            if bests[3].count == 0 { bests[3].value = value }
            bests[3].count += 1
            return
        }
        // An integer beyond 64 bits is before or after all other numbers.
        bests[0].count += 1
        if let best = bests[0].value, let first = PredicateNumber(value), let second = PredicateNumber(best),
            PredicateNumber.order(first, second) ?? 0 != wanted
        {
            return
        }
        (bests[0].value, bests[0].cell) = (value, .real(Double(integer)))
    }

    private var winner: Int { bests.indices.max { (bests[$0].count, -$0) < (bests[$1].count, -$1) } ?? 0 }

    /// The value in the sort order, of the most frequent kind; nil if no row has one.
    var value: PropertyListValue? { bests[winner].value }

    /// The other kinds, whose values were not compared, and how many there are.
    var otherKinds: [(kind: String, count: Int)] {
        let winner = winner
        return bests.indices.filter { $0 != winner && bests[$0].count > 0 }.map {
            (kind: KindSet(rawValue: 1 << $0).named, count: bests[$0].count)
        }
    }
}
