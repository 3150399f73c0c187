/// What a scan asks for before it looks: many items' elements at once, in memory or in the archive.
extension ItemTable {
    /// Where the numbers of all items are, row by row, until the table is changed: who is going to look at nearly all of
    /// them has those of a mapped archive brought in at once.
    var allValues: UnsafePointer<Int64> { UnsafePointer(values.base) }

    /// Has a field of numbers or dates here for all items, for who is going to look at nearly all of them.
    func materialiseNumbers(of field: ItemField) {
        switch field {
        case .valueInDollars: values.materialise()
        case .dateCreated: dates.materialise()
        default: break
        }
    }

    /// Asks for a field of an item that is looked at soon.
    @inline(__always)
    func prefetch(_ row: UInt32, _ field: ItemField) {
        switch field {
        case .name: names.prefetch(row)
        case .serialNumber: serials.prefetch(row)
        case .valueInDollars: values.prefetch(row)
        case .dateCreated: dates.prefetch(row)
        case .itemKey: keys.prefetch(row)
        default: custom.prefetch(row)
        }
    }

    /// Asks for what is looked at when a script asks for a field of an item.
    @inline(__always)
    func prefetchRead(_ row: UInt32, _ field: ItemField) {
        states.prefetch(row)
        if field == .itemKey { textKeys.prefetch(row) }
        prefetch(row, field)
    }

    /// Asks for the bytes of a name or serial number whose cell has come, when it does not hold them itself. Of a row that
    /// may still be in the archive, only after asking `hasText`.
    @inline(__always)
    func prefetchText(_ row: UInt32, _ field: ItemField) {
        switch field {
        case .name: names.peek(row).prefetchText()
        case .serialNumber: serials.peek(row).prefetchText()
        default: break
        }
    }

    /// Whether a name or serial number is here and not only in the archive.
    @inline(__always)
    func hasText(_ row: UInt32, _ field: ItemField) -> Bool {
        switch field {
        case .name: names.isPresent(row)
        case .serialNumber: serials.isPresent(row)
        default: false
        }
    }

    /// Notes that somebody goes through the names or serial numbers.
    ///
    /// - Returns: whether it is for the first time since they were mapped.
    func beginScan(of field: ItemField) -> Bool {
        switch field {
        case .name: names.beginScan()
        case .serialNumber: serials.beginScan()
        default: false
        }
    }

    /// The names or serial numbers of some rows, which stay in the archive when they are there.
    func peek(at rows: UnsafeMutableBufferPointer<UInt32>, _ field: ItemField, _ cells: UnsafeMutablePointer<Cell>) {
        switch field {
        case .name: names.peek(at: rows, cells)
        case .serialNumber: serials.peek(at: rows, cells)
        default: preconditionFailure("a field of texts")
        }
    }

    /// Reads the names or serial numbers of some rows, as far as they are still in the archive, together.
    func materialiseTexts(_ rows: UnsafeMutableBufferPointer<UInt32>, _ field: ItemField) {
        switch field {
        case .name: names.materialiseTexts(rows)
        case .serialNumber: serials.materialiseTexts(rows)
        default: break
        }
    }
}
