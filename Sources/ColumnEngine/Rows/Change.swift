/// One change in the history: the data to undo it, in 32 bytes.
package struct Change: BitwiseCopyable {
    package enum Kind: UInt8, BitwiseCopyable {
        /// `count` rows from `row` on were appended, the first at `position`.
        case append
        /// `row` was inserted at `position`.
        case insert
        /// `row` was removed from `position`.
        case remove
        /// `field` of `row` had the value `cell`.
        case set
        /// `row` was moved from `position` to the position `field`.
        case move
    }

    package var kind: Kind
    package var row: UInt32
    package var field: UInt32
    package var position: UInt32
    package var cell: Cell

    package init(kind: Kind, row: UInt32, field: UInt32 = 0, position: UInt32 = 0, cell: Cell = .absent) {
        (self.kind, self.row, self.field, self.position, self.cell) = (kind, row, field, position, cell)
    }

    /// The number of rows of an `append`.
    package var count: Int {
        get { Int(cell.tail) }
        set { cell.tail = UInt64(newValue) }
    }
}
