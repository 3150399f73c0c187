/// One change in the history: what it takes to undo it, in 32 bytes.
struct Change: BitwiseCopyable {
    enum Kind: UInt8 {
        /// `count` rows from `row` on were appended, the first at `position`.
        case append
        /// `row` was put at `position`.
        case insert
        /// `row` was taken from `position`.
        case remove
        /// `field` of `row` had the value `cell`.
        case set
        /// `row` went from `position` to `field`, a position too.
        case move
    }

    var kind: Kind
    var row: UInt32
    var field: UInt32 = 0
    var position: UInt32 = 0
    var cell: Cell = .absent

    /// The number of rows of an `append`.
    var count: Int {
        get { Int(cell.tail) }
        set { cell.tail = UInt64(newValue) }
    }
}

/// The changes of one commit, oldest first: what `undo` takes back as one.
struct ChangeGroup {
    var changes: [Change]
    /// The numbers of the participant's changes, oldest first.
    var participantChanges: [UInt32] = []
    /// The bytes that the participant keeps for them.
    var keptBytes = 0
    /// The moment at which it was made, by ``ForeignChanges``.
    var epoch: UInt64 = 0

    var byteCount: Int { changes.count * MemoryLayout<Change>.stride + keptBytes }
}
