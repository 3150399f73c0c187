/// Where the columns of a mapped document have their elements from, when they are first touched.
///
/// What cannot be read, since bytes on a disk can change, reads as an empty field, and is told of by the source's owner.
package protocol RowSource: AnyObject {
    /// What its cells hold that fits neither a cell nor points into the document.
    var values: FaultedValues { get }
    /// Whether something could not be read.
    var isDamaged: Bool { get }

    /// The same rows for another thread, with what the store's cells hold now.
    func copy() -> any RowSource

    /// Reads one element of a column into its place.
    func load(_ column: MappedColumn, _ row: UInt32, to element: UnsafeMutableRawPointer)

    /// A declared field's cell of a row; the same as ``load(_:_:to:)`` reads.
    func cell(_ row: UInt32, of field: ItemField) -> Cell

    /// Reads elements of a column of numbers for some rows of 64, if that is less work than row by row.
    ///
    /// - Parameters:
    ///   - column: what of them it has.
    ///   - absent: which rows, a bit a row.
    ///   - first: the first bit's row, a multiple of 64.
    ///   - elements: the place of the first one.
    /// - Returns: whether it did.
    func load(_ column: MappedColumn, _ absent: UInt64, from first: Int, to elements: UnsafeMutableRawPointer) -> Bool

    /// Reads the elements of some rows of a column of texts together, and leaves those that cannot be read in this way
    /// ``Cell/archived``; nothing is kept or reported.
    func texts(_ column: MappedColumn, _ rows: UnsafeBufferPointer<UInt32>, into cells: UnsafeMutablePointer<Cell>)

    /// Prepares to read a field beyond the domain's, row after row, by ``cell(_:)``.
    func beginColumn(_ field: UInt32)

    /// The field's cell of a row; absent where it cannot be read.
    func cell(_ row: UInt32) -> Cell

    func endColumn()

    /// The row's key where it lies, when it is a UUID that can be read; nothing is kept or reported.
    func uuid(_ row: UInt32) -> PackedKey?
}
