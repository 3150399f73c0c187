/// A column's state when a snapshot was taken.
struct SharedColumn<Element: BitwiseCopyable>: @unchecked Sendable {
    // Guard: the column does not change these elements while the buffer has two owners.
    private let buffer: ColumnBuffer
    private let memory: UnsafePointer<Element>
    private let presentRows: [UInt64]
    private let mappedCount: UInt32

    init(
        _ buffer: ColumnBuffer, _ memory: UnsafeMutablePointer<Element>, presentRows: [UInt64], mappedCount: UInt32
    ) {
        self.buffer = buffer
        self.memory = UnsafePointer(memory)
        self.presentRows = presentRows
        self.mappedCount = mappedCount
    }

    /// The row's element; nil if it is only in the archive.
    @inline(__always)
    subscript(row: UInt32) -> Element? {
        if row < mappedCount, presentRows[Int(row >> 6)] & 1 << UInt64(row & 63) == 0 { return nil }
        return memory[Int(row)]
    }

    /// The row's element, read from the archive if necessary.
    @inline(__always)
    func element(_ row: UInt32, _ column: MappedColumn, _ source: (any RowSource)?, _ empty: Element) -> Element {
        if let element = self[row] { return element }
        var element = empty
        source?.load(column, row, to: &element)
        return element
    }
}
