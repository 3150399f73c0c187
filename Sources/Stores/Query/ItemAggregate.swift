import CPlatform
import PropertyList

/// The sum and number of a field's numbers.
struct ItemAggregate {
    private(set) var count = 0
    private var integers: Int64 = 0
    /// What is no integer, and integers that no longer fit.
    private var reals = 0.0
    private var hasReals = false

    /// How many rows ahead a value is fetched.
    private static let lookahead = 32

    /// Adds the values in dollars of those rows that are in the store.
    mutating func addValues(_ store: ItemStore, _ rows: ArraySlice<UInt32>) {
        // Of a large group's rows the values are all over the column.
        let values = rows.count > store.count / 64 ? store.table.allValues : nil
        let areAllLive = store.count == store.table.rowCount
        var (sum, number) = (Int64(0), 0)
        rows.withUnsafeBufferPointer { rows in
            for (place, row) in rows.enumerated() where areAllLive || store.table.state(row) == .live {
                let value: Int64
                if let values {
                    cubby_prefetch(values + Int(rows[min(place &+ Self.lookahead, rows.count &- 1)]))
                    value = values[Int(row)]
                } else {
                    value = store.table.values[row]
                }
                let (next, overflow) = sum.addingReportingOverflow(value)
                if overflow {
                    add(sum)
                    sum = value
                } else {
                    sum = next
                }
                number += 1
            }
        }
        add(sum)
        count += number
    }

    private mutating func add(_ integer: Int64) {
        let (sum, overflow) = integers.addingReportingOverflow(integer)
        if overflow {
            reals += Double(integers) + Double(integer)
            integers = 0
            hasReals = true
        } else {
            integers = sum
        }
    }

    mutating func add(_ store: ItemStore, _ row: UInt32, _ field: ItemField) throws(StoreError) {
        let cell = store.table.cell(row, field)
        switch cell.kind {
        case .absent where field != .itemKey: return
        case .integer:
            add(cell.integerValue)
        case .real, .single:
            reals += CellOrder.number(cell)
            hasReals = true
        default:
            let name = store.name(of: field)
            let value = FieldValidation.describe(store.value(row, field))
            throw StoreError(
                .invalidValue(field: name),
                "\(name) cannot be added up: \(value) of item \(store.table.keyString(row)) is no number")
        }
        count += 1
    }

    var sum: PropertyListValue { hasReals ? .real(reals + Double(integers)) : .integer(integers) }

    var average: Double? { count == 0 ? nil : (reals + Double(integers)) / Double(count) }

    static func extreme(
        _ store: ItemStore, _ rows: ArraySlice<UInt32>, _ field: ItemField, wanted: Int
    ) -> PropertyListValue? {
        if field == .itemKey {
            let keys = rows.map { store.table.keyString($0) }
            let key = wanted < 0 ? keys.min { Self.isBefore($0, $1) } : keys.max { Self.isBefore($0, $1) }
            return key.map(PropertyListValue.string)
        }
        var best: Cell?
        for row in rows {
            let cell = store.table.cell(row, field)
            if cell.isAbsent { continue }
            if let current = best, CellOrder.compare(cell, current).signum() != wanted { continue }
            best = cell
        }
        return best.flatMap { store.heap.value($0) }
    }

    private static func isBefore(_ first: String, _ second: String) -> Bool {
        first.utf8.lexicographicallyPrecedes(second.utf8)
    }
}
