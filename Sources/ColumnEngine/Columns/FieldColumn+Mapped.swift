/// Rows of a declared field that may still be in a mapped archive.
extension FieldColumn {
    /// Maps `number` rows of an archive into the empty column.
    func map(_ number: Int, _ field: ItemField, _ source: any RowSource) {
        count = number
        if encoding == .cells {
            cells.map(number, .field(field), source)
        } else {
            words.map(number, .field(field), source, isDense: encoding == .integers)
        }
    }

    /// Whether the row's value is only in the archive.
    func isArchived(_ row: UInt32) -> Bool { !cells.isPresent(row) || !words.isPresent(row) }

    /// Resets a mapped row to the archive's value.
    func resetToArchived(_ row: UInt32) {
        forgetMisfit(row)
        cells.forget(row)
        words.forget(row)
    }

    /// Materialises numbers and dates for a full scan; texts are read in batches.
    func materialiseNumbers() { words.materialise() }

    /// Prefetches a row's element.
    @inline(__always)
    func prefetch(_ row: UInt32) {
        switch encoding {
        case .integers, .reals, .dates: words.prefetch(row)
        case .codes: codes.prefetch(row)
        case .cells: cells.prefetch(row)
        case .sparse: break
        }
    }

    /// Prefetches a text outside its cell, unless it is in the archive. The cell must be in the processor's cache.
    @inline(__always)
    func prefetchText(_ row: UInt32) {
        if encoding == .cells, Int(row) < count, cells.isPresent(row) { cells.peek(row).prefetchText() }
    }
}
