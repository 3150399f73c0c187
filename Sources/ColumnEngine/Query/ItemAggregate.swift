import CPlatform
import PropertyList

/// The sum and the count of a key's numbers.
struct ItemAggregate {
    private(set) var count = 0
    /// Wide enough for the sum of any number of 64-bit integers.
    private var integers: Int128 = 0
    private var reals = 0.0
    private var hasReals = false

    private static let batch = 1024
    /// Prefetch distance in rows.
    private static let lookahead = 32

    /// Adds the numbers of the rows that are in the store.
    ///
    /// - Throws: ``StoreError`` for a value that is not a number.
    mutating func add(_ rows: UnsafeBufferPointer<UInt32>, _ key: VectorKey, _ name: String, _ store: ColumnStore)
        throws
    {
        try Self.forEachLiveBatch(rows, store) { batch in
            switch key {
            case .view(.integers(let values, let presence), _): addIntegers(batch, values, presence)
            case .view(.reals(let values, let presence, let integral), _):
                addReals(batch, values, presence, integral)
            default:
                var heap = CellHeap()
                try key.withCells(batch, store, &heap) { cells in
                    for (place, cell) in cells.enumerated() { try add(cell, batch[place], name, store) }
                }
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

    private mutating func addIntegers(
        _ rows: UnsafeBufferPointer<UInt32>, _ values: UnsafePointer<Int64>, _ presence: UnsafePointer<UInt64>?
    ) {
        var (sum, number) = (Int64(0), 0)
        for (place, row) in rows.enumerated() {
            // The values of a group's rows are scattered over the column.
            cubby_prefetch(values + Int(rows[min(place &+ Self.lookahead, rows.count &- 1)]))
            guard ColumnView.isPresent(row, presence) else { continue }
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

    private mutating func addReals(
        _ rows: UnsafeBufferPointer<UInt32>, _ values: UnsafePointer<Double>, _ presence: UnsafePointer<UInt64>,
        _ integral: UnsafePointer<UInt64>
    ) {
        for (place, row) in rows.enumerated() {
            cubby_prefetch(values + Int(rows[min(place &+ Self.lookahead, rows.count &- 1)]))
            guard ColumnView.isPresent(row, presence) else { continue }
            if ColumnView.isPresent(row, integral) {
                add(Int64(values[Int(row)]))
            } else {
                reals += values[Int(row)]
                hasReals = true
            }
            count += 1
        }
    }

    private mutating func add(_ integer: Int64) { integers += Int128(integer) }

    private mutating func add(_ cell: Cell, _ row: UInt32, _ name: String, _ store: ColumnStore) throws(StoreError) {
        switch cell.kind {
        case .absent: return
        case .integer: add(cell.integerValue)
        case .real, .single:
            reals += CellOrder.number(cell)
            hasReals = true
        default:
            let value = FieldValidation.describe(store.fields.existing(name).map { store.value(row, $0) } ?? nil)
            throw StoreError(
                .invalidValue(field: name),
                "\(name) cannot be added up: \(value) of item \(store.table.keyString(row)) is no number")
        }
        count += 1
    }

    var sum: PropertyListValue {
        if !hasReals, let sum = Int64(exactly: integers) { return .integer(sum) }
        return .real(reals + Double(integers))
    }

    var average: Double? { count == 0 ? nil : (reals + Double(integers)) / Double(count) }

    /// The least or the greatest of a key's values, in the sort order; nil if no row has one.
    static func extreme(
        _ rows: UnsafeBufferPointer<UInt32>, _ key: VectorKey, _ store: ColumnStore, wanted: Int
    ) throws -> PropertyListValue? {
        var best: Cell?
        var heap = CellHeap()
        var bestValue: PropertyListValue?
        try forEachLiveBatch(rows, store) { batch in
            var scratch = CellHeap()
            var found: Cell?
            try key.withCells(batch, store, &scratch) { cells in
                for cell in cells where !cell.isAbsent {
                    if let current = found ?? best, CellOrder.compare(cell, current).signum() != wanted { continue }
                    found = cell
                }
            }
            guard let found else { return }
            // The batch's computed values are freed with it: a text is copied, and of a box only the kind is compared.
            let isStores = if case .view(.cells, _) = key { found.kind == .box } else { false }
            bestValue = isStores ? store.heap.value(found) : scratch.value(found)
            best = found.isText ? found.withText { heap.text($0) } : found
        }
        return bestValue
    }
}
