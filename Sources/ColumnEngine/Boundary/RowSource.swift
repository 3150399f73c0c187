/// The source of the elements of a mapped document's columns, which are read at the first access.
///
/// Unreadable elements, since bytes on a disk can change, read as empty fields; the source's owner reports them.
package protocol RowSource: AnyObject {
    /// The values of its cells that neither fit into a cell nor lie in the document.
    var values: FaultedValues { get }
    /// Whether something was unreadable.
    var isDamaged: Bool { get }

    /// The same rows for another thread, with the current values of the store's cells.
    func copy() -> any RowSource

    /// Reads one element of a column into its place.
    func load(_ column: MappedColumn, _ row: UInt32, to element: UnsafeMutableRawPointer)

    /// A declared field's cell of a row; equal to the element read by ``load(_:_:to:)``.
    func cell(_ row: UInt32, of field: ItemField) -> Cell

    /// Reads elements of a column of numbers for some rows of 64, if that is cheaper than row by row.
    ///
    /// - Parameters:
    ///   - column: the column.
    ///   - absent: the rows, a bit each.
    ///   - first: the first bit's row, a multiple of 64.
    ///   - elements: the address of the first element.
    /// - Returns: whether it read them.
    func load(_ column: MappedColumn, _ absent: UInt64, from first: Int, to elements: UnsafeMutableRawPointer) -> Bool

    /// Reads the elements of some rows of a text column in a batch. Those that cannot be read in this way are left
    /// ``Cell/archived``; nothing is cached or reported.
    func texts(_ column: MappedColumn, _ rows: UnsafeBufferPointer<UInt32>, into cells: UnsafeMutablePointer<Cell>)

    /// Prepares to read a field beyond the domain's row by row with ``cell(_:)``.
    func beginColumn(_ field: UInt32)

    /// The field's cell of a row; absent if it is unreadable.
    func cell(_ row: UInt32) -> Cell

    func endColumn()

    /// The row's key, read from the document, if it is a readable UUID; nothing is cached or reported.
    func uuid(_ row: UInt32) -> PackedKey?
}
