/// Which of a column's rows are here, and how the others come.
final class RowFaults {
    private let column: MappedColumn
    private let source: RowSource
    private let count: Int
    private let memory: ColumnBuffer
    private let words: UnsafeMutablePointer<UInt64>
    private let wordCount: Int
    /// The rows that are still only in the archive.
    private(set) var missing: Int

    init(_ count: Int, _ column: MappedColumn, _ source: RowSource) {
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

    /// A bit a row, for a snapshot to keep.
    var presentRows: [UInt64] { Array(UnsafeBufferPointer(start: words, count: wordCount)) }

    /// Reads all elements that are not here yet.
    func loadAll(to elements: UnsafeMutableRawPointer, stride: Int) {
        for word in 0..<wordCount where missing > 0 {
            let rows = word * 64..<min(word * 64 + 64, count)
            if words[word] == 0, source.load(column, rows, to: elements + rows.lowerBound * stride) {
                words[word] = .max >> UInt64(64 - rows.count)
                missing -= rows.count
                continue
            }
            for row in rows where !isPresent(UInt32(row)) { load(UInt32(row), to: elements + row * stride) }
        }
    }

    /// Reads what of some rows is not here yet, in a column of texts; a row may be left, to be read by itself. Neighbours
    /// are: what lies side by side the processor fetches ahead without being told.
    func loadTexts(_ rows: UnsafeMutableBufferPointer<UInt32>, to elements: UnsafeMutablePointer<Cell>) {
        guard let first = rows.first, let last = rows.last, last > first, Int(last - first) > rows.count * 4 else {
            return
        }
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: rows.count) { absent in
            var number = 0
            for row in rows where row < count && !isPresent(row) {
                absent[number] = row
                number += 1
            }
            guard number > 1 else { return }
            source.loadTexts(column, UnsafeBufferPointer(rebasing: absent[..<number])) { row, cell in
                elements[Int(row)] = cell
                markPresent(row)
            }
        }
    }

    /// Reads a row's element from the archive.
    @inline(never)
    func load(_ row: UInt32, to element: UnsafeMutableRawPointer) {
        source.load(column, row, to: element)
        markPresent(row)
    }
}
