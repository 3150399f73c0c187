/// Rows of a declared field that may still be in a mapped archive.
extension FieldColumn {
    /// Makes the empty column one of so many rows that are all still in an archive.
    func map(_ number: Int, _ field: ItemField, _ source: any RowSource) {
        count = number
        if encoding == .cells {
            cells.map(number, .field(field), source)
        } else {
            words.map(number, .field(field), source, isDense: encoding == .integers)
        }
    }

    /// Whether the row's value is in the archive alone.
    func isArchived(_ row: UInt32) -> Bool { !cells.isPresent(row) || !words.isPresent(row) }

    /// Gives a mapped row the value that the archive has.
    func resetToArchived(_ row: UInt32) {
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

    /// Prefetches the bytes of a text outside its cell, which must be in the processor's cache, unless it is in the archive.
    @inline(__always)
    func prefetchText(_ row: UInt32) {
        if encoding == .cells, Int(row) < count, cells.isPresent(row) { cells.peek(row).prefetchText() }
    }
}
