/// Batched access for scans: elements of many items are prefetched, peeked at or materialised together.
extension ItemTable {
    /// The address of the values of all rows, materialised; valid until the table is changed. For a full scan.
    var allValues: UnsafePointer<Int64> { UnsafePointer(values.base) }

    /// Materialises a column of numbers or dates for a full scan.
    func materialiseNumbers(of field: ItemField) {
        switch field {
        case .valueInDollars: values.materialise()
        case .dateCreated: dates.materialise()
        default: break
        }
    }

    /// Prefetches the element of an item's field.
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

    /// Prefetches the elements that a script's access to an item's field reads.
    @inline(__always)
    func prefetchRead(_ row: UInt32, _ field: ItemField) {
        states.prefetch(row)
        if field == .itemKey { textKeys.prefetch(row) }
        prefetch(row, field)
    }

    /// Prefetches the bytes of a name or serial number that lie outside its cell, which must be in the processor's cache. A row
    /// of a mapped archive must be present: see `hasText`.
    @inline(__always)
    func prefetchText(_ row: UInt32, _ field: ItemField) {
        switch field {
        case .name: names.peek(row).prefetchText()
        case .serialNumber: serials.peek(row).prefetchText()
        default: break
        }
    }

    /// Whether a name or serial number is present, and not only in the archive.
    @inline(__always)
    func hasText(_ row: UInt32, _ field: ItemField) -> Bool {
        switch field {
        case .name: names.isPresent(row)
        case .serialNumber: serials.isPresent(row)
        default: false
        }
    }

    /// Notes a scan of the names or serial numbers.
    ///
    /// - Returns: whether it is the first since they were mapped.
    func beginScan(of field: ItemField) -> Bool {
        switch field {
        case .name: names.beginScan()
        case .serialNumber: serials.beginScan()
        default: false
        }
    }

    /// Peeks at the names or serial numbers of some rows: those in the archive are not kept.
    func peek(at rows: UnsafeMutableBufferPointer<UInt32>, _ field: ItemField, _ cells: UnsafeMutablePointer<Cell>) {
        switch field {
        case .name: names.peek(at: rows, cells)
        case .serialNumber: serials.peek(at: rows, cells)
        default: preconditionFailure("a field of texts")
        }
    }

    /// Materialises the names or serial numbers of some rows together.
    func materialiseTexts(_ rows: UnsafeMutableBufferPointer<UInt32>, _ field: ItemField) {
        switch field {
        case .name: names.materialiseTexts(rows)
        case .serialNumber: serials.materialiseTexts(rows)
        default: break
        }
    }
}
