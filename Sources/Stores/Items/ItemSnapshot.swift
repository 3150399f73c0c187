import Glibc
import PropertyList

/// The items at one moment, for another thread to write: a copy of the columns, sharing the texts.
public final class ItemSnapshot: @unchecked Sendable {  // Guard: immutable after `init`; texts are append-only.
    public let count: Int
    let names: [Cell]
    let serials: [Cell]
    let values: [Int64]
    let dates: [Double]
    let keys: [PackedKey]
    let textKeys: [Bool]
    /// The custom fields of item i are those from `customStarts[i]` to `customStarts[i + 1]`; empty when no item has any.
    let customStarts: [Int]
    let customFields: [UInt32]
    let customCells: [Cell]
    let fieldNames: [String]
    private let heap: CellHeap

    init(_ store: borrowing ItemStore) {
        let count = store.order.count
        self.count = count
        heap = store.heap
        fieldNames = store.fields.names
        let rows = store.order.slots
        let table = TableView(store)
        func gather<Element: BitwiseCopyable>(_ base: UnsafeMutablePointer<Element>) -> [Element] {
            [Element](unsafeUninitializedCapacity: count) { buffer, filled in
                for row in rows where row != ItemOrder.hole {
                    buffer[filled] = base[Int(row)]
                    filled += 1
                }
            }
        }
        names = gather(table.names)
        serials = gather(table.serials)
        values = gather(table.values)
        dates = gather(table.dates)
        keys = gather(table.keys)
        textKeys = gather(table.textKeys)
        var starts: [Int] = []
        var fields: [UInt32] = []
        var cells: [Cell] = []
        if fieldNames.count > ItemField.domain.count {
            starts.reserveCapacity(count + 1)
            for row in rows where row != ItemOrder.hole {
                starts.append(cells.count)
                let custom = table.custom[Int(row)]
                fields.append(contentsOf: custom.numbers)
                cells.append(contentsOf: custom.cells)
            }
            starts.append(cells.count)
        }
        customStarts = starts
        customFields = fields
        customCells = cells
    }

    /// The columns' addresses.
    private struct TableView {
        let names: UnsafeMutablePointer<Cell>
        let serials: UnsafeMutablePointer<Cell>
        let values: UnsafeMutablePointer<Int64>
        let dates: UnsafeMutablePointer<Double>
        let keys: UnsafeMutablePointer<PackedKey>
        let textKeys: UnsafeMutablePointer<Bool>
        let custom: UnsafeMutablePointer<CustomFields>

        init(_ store: borrowing ItemStore) {
            names = store.table.names.base
            serials = store.table.serials.base
            values = store.table.values.base
            dates = store.table.dates.base
            keys = store.table.keys.base
            textKeys = store.table.textKeys.base
            custom = store.table.custom.base
        }
    }

    func value(_ cell: Cell) -> PropertyListValue? { heap.value(cell) }

    /// The key's text of an item.
    func keyString(_ position: Int) -> String {
        textKeys[position] ? CellHeap.string(keys[position].cell) : keys[position].uuidString
    }

    /// Calls `body` with the bytes of an item's key.
    func withKey<Result, Failure: Error>(
        _ position: Int, _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try ItemTable.withKey(keys[position], isText: textKeys[position], body)
    }

    /// The items' fields, for a persistence that keeps whole records.
    public func fields(at position: Int) -> ItemFields {
        let serial = serials[position]
        var result = ItemFields(
            name: CellHeap.string(names[position]), serialNumber: serial.isAbsent ? nil : CellHeap.string(serial),
            valueInDollars: values[position],
            dateCreated: PropertyListDate(secondsSinceReferenceDate: dates[position]), itemKey: keyString(position))
        if !customStarts.isEmpty {
            for index in customStarts[position]..<customStarts[position + 1] {
                result.custom[fieldNames[Int(customFields[index])]] = heap.value(customCells[index])
            }
        }
        return result
    }
}
