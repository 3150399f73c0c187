/// The content of a column of mapped items.
package enum MappedColumn {
    case field(ItemField), key, keyKind, custom
}

/// Rows of a declared field that may still be in a mapped archive.
extension FieldColumn {
    /// Maps `number` rows of an archive into the empty column.
    func map(_ number: Int, _ field: ItemField, _ source: any RowSource) {
        count = number
        if encoding == .cells {
            cells.map(number, .field(field), source)
        } else {
            numbers.words.map(number, .field(field), source, isDense: encoding == .integers)
        }
    }

    /// Whether the row's value is only in the archive.
    func isArchived(_ row: UInt32) -> Bool { !cells.isPresent(row) || !numbers.words.isPresent(row) }

    /// Resets a mapped row to the archive's value.
    func resetToArchived(_ row: UInt32) {
        forgetMisfit(row)
        cells.forget(row)
        numbers.words.forget(row)
    }

    /// Materialises numbers and dates for a full scan; texts are read in batches.
    func materialiseNumbers() { numbers.words.materialise() }

    /// Prefetches a row's element.
    @inline(__always)
    func prefetch(_ row: UInt32) {
        switch encoding {
        case .numbers: numbers.words.prefetch(row)
        case .codes: coded.prefetch(row)
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

/// The validity bitmap of a mapped column: records the rows in memory, and reads the others from the archive.
final class ValidityBitmap {
    private let column: MappedColumn
    private let source: any RowSource
    private let count: Int
    private let memory: ColumnBuffer
    private let words: UnsafeMutablePointer<UInt64>
    private let wordCount: Int
    /// The number of rows that are only in the archive.
    private(set) var missing: Int
    private var wasScanned = false

    init(_ count: Int, _ column: MappedColumn, _ source: any RowSource) {
        self.count = count
        self.column = column
        self.source = source
        wordCount = (count + 63) / 64
        memory = ColumnBuffer(zeros: wordCount * MemoryLayout<UInt64>.stride)
        words = memory.base.assumingMemoryBound(to: UInt64.self)
        missing = count
    }

    @inline(__always)
    func isPresent(_ row: UInt32) -> Bool {
        words[Int(row >> 6)] & 1 << UInt64(row & 63) != 0
    }

    @inline(__always)
    func markPresent(_ row: UInt32) {
        let bit: UInt64 = 1 << UInt64(row & 63)
        if words[Int(row >> 6)] & bit != 0 { return }
        words[Int(row >> 6)] |= bit
        missing -= 1
    }

    func markMissing(_ row: UInt32) {
        let bit: UInt64 = 1 << UInt64(row & 63)
        if words[Int(row >> 6)] & bit == 0 { return }
        words[Int(row >> 6)] &= ~bit
        missing += 1
    }

    /// The bits, for a snapshot to keep.
    var presentRows: [UInt64] { Array(UnsafeBufferPointer(start: words, count: wordCount)) }

    /// Materialises all elements of a column of numbers.
    func loadAll(to elements: UnsafeMutableRawPointer, stride: Int) {
        for word in 0..<wordCount where missing > 0 {
            let rows = word * 64..<min(word * 64 + 64, count)
            let absent = ~words[word] & .max >> UInt64(64 - rows.count)
            if absent == 0 { continue }
            if source.load(column, absent, from: rows.lowerBound, to: elements + rows.lowerBound * stride) {
                words[word] |= absent
                missing -= absent.nonzeroBitCount
                continue
            }
            for row in rows where !isPresent(UInt32(row)) { load(UInt32(row), to: elements + row * stride) }
        }
    }

    // MARK: Texts

    /// Records a scan of the texts.
    ///
    /// - Returns: whether it is the first, and some texts are only in the archive.
    func beginScan() -> Bool {
        defer { wasScanned = true }
        return !wasScanned && missing > 0
    }

    /// The texts of some rows; missing ones are read from the archive, in a batch if possible, and not cached.
    func peek(
        at rows: UnsafeMutableBufferPointer<UInt32>, in elements: UnsafeMutablePointer<Cell>,
        _ cells: UnsafeMutablePointer<Cell>
    ) {
        withAbsent(rows) { absent in
            source.texts(column, UnsafeBufferPointer(absent), into: cells)
            // From last to first, so that no cell overwrites one that has not been moved.
            var left = absent.count
            for place in rows.indices.reversed() {
                let row = rows[place]
                if left > 0, absent[left - 1] == row {
                    left -= 1
                    if cells[left] != .archived {
                        cells[place] = cells[left]
                        continue
                    }
                    if !isPresent(row) { load(row, to: elements + Int(row)) }
                }
                cells[place] = elements[Int(row)]
            }
        }
    }

    /// Materialises the texts of some rows in a batch; those that cannot be read so are left for `load`.
    func loadTexts(_ rows: UnsafeMutableBufferPointer<UInt32>, to elements: UnsafeMutablePointer<Cell>) {
        withAbsent(rows) { absent in
            if absent.count < 2 { return }
            withUnsafeTemporaryAllocation(of: Cell.self, capacity: absent.count) { cells in
                guard let start = cells.baseAddress else { return }
                source.texts(column, UnsafeBufferPointer(absent), into: start)
                for (place, row) in absent.enumerated() where cells[place] != .archived {
                    elements[Int(row)] = cells[place]
                    markPresent(row)
                }
            }
        }
    }

    private func withAbsent(
        _ rows: UnsafeMutableBufferPointer<UInt32>, _ body: (UnsafeMutableBufferPointer<UInt32>) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: rows.count) { absent in
            var number = 0
            for row in rows where row < count && !isPresent(row) {
                absent[number] = row
                number += 1
            }
            body(UnsafeMutableBufferPointer(rebasing: absent[..<number]))
        }
    }

    // MARK: One row

    /// Reads a row's element from the archive.
    @inline(never)
    func load(_ row: UInt32, to element: UnsafeMutableRawPointer) {
        source.load(column, row, to: element)
        markPresent(row)
    }
}
