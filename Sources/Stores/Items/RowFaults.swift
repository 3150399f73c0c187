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

    /// Reads a row's element from the archive.
    @inline(never)
    func load(_ row: UInt32, to element: UnsafeMutableRawPointer) {
        source.load(column, row, to: element)
        markPresent(row)
    }
}
