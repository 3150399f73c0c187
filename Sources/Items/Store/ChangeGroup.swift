import ColumnEngine

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
