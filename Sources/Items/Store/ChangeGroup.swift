import ColumnEngine

/// The changes of one commit, oldest first: one step of `undo`.
struct ChangeGroup {
    var changes: [Change]
    /// The changes of attachments, oldest first.
    var attachments: [AttachmentChange] = []
    /// The bytes of the files kept for these changes.
    var keptBytes = 0
    /// The epoch of ``ForeignChanges`` at which it was made.
    var epoch: UInt64 = 0

    var byteCount: Int { changes.count * MemoryLayout<Change>.stride + keptBytes }
}
